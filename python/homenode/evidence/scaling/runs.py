"""Several scenarios side by side in threads, with one progress and one Ctrl-C.

The engine lets go of Python while it computes; a scenario with as many replications as there are
threads is simulated alone, its replications side by side.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Generic, TypeVar

from homenode.simulate.run import Run
from homenode.simulate.runner import FrozenScenario, InterruptedRun, ProgressFn
from homenode.simulate.runner.simulate import wait_out

Key = TypeVar("Key")
_LOOK_EVERY_S = 0.1


Simulate = Callable[..., Run]
"""`run_scenario`, or what stands in for it."""


def run_all(
    scenarios: Mapping[Key, FrozenScenario],
    simulate: Simulate,
    *,
    replications: int | None,
    jobs: int | None,
    out: str | Path,
    progress: ProgressFn | None = None,
) -> dict[Key, Run]:
    """The run of each scenario. Ctrl-C raises `InterruptedRun`, which names what was complete."""
    threads = jobs or os.cpu_count() or 1
    most = max((replications or one.replications for one in scenarios.values()), default=1)
    options = {"replications": replications, "out": out}
    if threads // most > 1 and len(scenarios) > 1:
        return _Together(scenarios, simulate, options, progress).run(threads // most, jobs=most)
    return _one_by_one(scenarios, simulate, {**options, "jobs": jobs}, progress)


def _one_by_one(
    scenarios: Mapping[Key, FrozenScenario],
    simulate: Simulate,
    options: Mapping[str, object],
    progress: ProgressFn | None,
) -> dict[Key, Run]:
    runs: dict[Key, Run] = {}
    for number, (key, scenario) in enumerate(scenarios.items()):
        share = _part_of(progress, number, len(scenarios))
        try:
            runs[key] = simulate(scenario, progress=share, **options)
        except InterruptedRun as stopped:
            stopped.earlier = tuple(run.id for run in runs.values())
            raise
    return runs


class _Together(Generic[Key]):
    """Runs side by side; the calling thread looks on."""

    def __init__(
        self,
        scenarios: Mapping[Key, FrozenScenario],
        simulate: Simulate,
        options: Mapping[str, object],
        progress: ProgressFn | None,
    ) -> None:
        self._scenarios = scenarios
        self._simulate = simulate
        self._options = options
        self._progress = progress
        self._shares = dict.fromkeys(scenarios, 0.0)
        self._stop = threading.Event()

    def run(self, side_by_side: int, jobs: int) -> dict[Key, Run]:
        """All of them; the last, which are the largest of a set, begin first."""
        with ThreadPoolExecutor(side_by_side, thread_name_prefix="run") as pool:
            futures: dict[Key, Future[Run]] = {}
            interrupted = False
            try:
                for key in reversed(list(self._scenarios)):
                    futures[key] = pool.submit(self._one, key, jobs)
                self._look_on(list(futures.values()))
            except KeyboardInterrupt:
                interrupted = True
            finally:
                # Those that still run after Ctrl-C or an error need not go on to their end.
                if interrupted or not all(future.done() for future in futures.values()):
                    self._stop.set()
                wait_out(futures.values())
        if interrupted:
            raise _interrupted(futures)
        return {key: futures[key].result() for key in self._scenarios}

    def _one(self, key: Key, jobs: int) -> Run:
        def share(done: float, _left: float | None) -> None:
            self._shares[key] = done

        if self._stop.is_set():
            raise InterruptedRun(None, 0, 1)
        scenario = self._scenarios[key]
        run = self._simulate(scenario, progress=share, jobs=jobs, stop=self._stop, **self._options)
        self._shares[key] = 1.0
        return run

    def _look_on(self, futures: list[Future[Run]]) -> None:
        """Report progress until all have ended or one has failed."""
        started = time.monotonic()
        while True:
            done, pending = wait(futures, timeout=_LOOK_EVERY_S, return_when=FIRST_EXCEPTION)
            if self._progress is not None:
                share = sum(self._shares.values()) / len(self._shares)
                elapsed = time.monotonic() - started
                self._progress(share, elapsed * (1.0 - share) / share if share > 0.0 else None)
            for future in done:
                future.result()
            if not pending:
                return


def _interrupted(futures: Mapping[Key, Future[Run]]) -> InterruptedRun:
    """What is told after Ctrl-C: the runs that were complete."""
    complete = [f.result().id for f in futures.values() if f.exception() is None]
    stopped = InterruptedRun(None, 0, len(futures) - len(complete))
    stopped.earlier = tuple(complete)
    return stopped


def _part_of(progress: ProgressFn | None, number: int, count: int) -> ProgressFn | None:
    """Progress of one run as part of several of equal length; the time left is extrapolated from
    the whole.
    """
    if progress is None:
        return None
    started = time.monotonic()

    def report(share: float, seconds_left: float | None) -> None:
        rest = None
        if seconds_left is not None:
            rest = seconds_left + (time.monotonic() - started + seconds_left) * (count - number - 1)
        progress((number + share) / count, rest)

    return report
