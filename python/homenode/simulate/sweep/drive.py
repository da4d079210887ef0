"""`run_sweep`: batches of points to workers, results to the store, and at the end two tables."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol

from homenode.errors import HomenodeError
from homenode.model.scenario import Scenario
from homenode.simulate.kept.points import point_in_words
from homenode.simulate.kept.store import runs_folder
from homenode.simulate.runner.job import folder_name, refuse_replications, refuse_seed, whole
from homenode.simulate.sweep.crew import Alone, Crew
from homenode.simulate.sweep.crews import crew_of
from homenode.simulate.sweep.order import AnyOrder, Batch, Done, Reply, order_of
from homenode.simulate.sweep.results import SweepResults, publish
from homenode.simulate.sweep.store import Store

ProgressFn = Callable[[float, float | None], None]
_BATCH_S = 2.0
"""Work that a batch is to hold: what a batch costs beside it is some milliseconds."""
_WORTH_S = 2.0
"""Work for whose sake other processes are started."""
_MOST_LOST = 3
"""Times that a point may be lost with its worker."""
_DRAIN_S = 20.0
"""How long those who were asked to stop are waited for."""


class InterruptedSweep(KeyboardInterrupt):
    """Ctrl-C during a sweep: what is committed stays, and the same call goes on from there."""

    def __init__(self, folder: Path, committed: int, points: int, what: str = "points") -> None:
        self.folder, self.committed, self.points, self.what = folder, committed, points, what
        super().__init__()

    def __str__(self) -> str:
        """What is kept."""
        kept = f"{self.committed:,} of {self.points:,} {self.what} are kept in {self.folder}"
        return f"interrupted: {kept}; the same command goes on from there"


def run_sweep(
    scenario: Scenario | str | Path,
    *,
    on: str | None = None,
    jobs: int | None = None,
    replications: int | None = None,
    seed: int | None = None,
    out: str | Path = "sweeps",
    progress: ProgressFn | None = None,
) -> SweepResults:
    """Simulate every point of a scenario's sweep and keep the metrics of each in a folder of `out`.

    `jobs` processes of this machine do it (default: as many as it has cores), or the workers of a
    cluster: `on` is `"ray"` or `"ray://HOST:PORT"`. The same scenario, seed, replications and
    engine give the same bytes, whoever does it; what was begun and not ended goes on where it was.

    Raises `HomenodeError`: a point that cannot be, a folder that another process works on, workers
    of another engine, a cluster that is not there. Raises `InterruptedSweep` at Ctrl-C.
    """
    base = Scenario.load(scenario) if isinstance(scenario, str | Path) else scenario
    if base.looks_for:
        raise HomenodeError(
            f"{base.source}: a sweep does not look for anything",
            next_step="take its table [find] away, or use `homenode run`",
        )
    if jobs is not None and whole("jobs", jobs) < 1:
        raise HomenodeError(f"jobs = {jobs}: a sweep takes a process at least")
    refuse_seed(seed)
    order = order_of(base, replications, seed)
    refuse_replications(order.replications)
    folder = runs_folder(out) / f"{folder_name(base.name)}-{order.id[:8]}"
    if SweepResults.is_complete(folder):
        return SweepResults.at(folder)
    with Store(folder, base.points) as store:
        _check(base)
        Drive(order, store, progress, partial(_point_in_words, base)).work_off(on, jobs)
        publish(store, base, order)
        store.forget()
    return SweepResults.at(folder)


def _check(base: Scenario) -> None:
    """Refuse a value that no point can have, before anything is simulated. What is wrong only
    together with other values is told of its points.
    """
    step = base.points
    for values in base.axes.values():
        step //= len(values)
        for at in range(len(values)):
            base.nth(at * step)


def _point_in_words(base: Scenario, number: int) -> str:
    """The point of a number, for messages."""
    point = point_in_words(base.nth(number).point) if base.axes else "the run"
    return f"point {number} ({point})"


class Kept(Protocol):
    """Where results are committed, each number once: a `Store`, or several as one."""

    folder: Path
    what: str
    """What the numbers are of, in the plural."""

    @property
    def count(self) -> int:
        """How many are committed."""
        ...

    def __len__(self) -> int:
        """How many there are."""
        ...

    def missing(self) -> Iterator[int]:
        """Those that are not committed, the first first."""
        ...

    def commit(self, results: Sequence[Done]) -> None:
        """Keep results."""
        ...


@dataclass
class Drive:
    """One order being worked off: batches to a crew, what comes back to the store."""

    order: AnyOrder
    store: Kept
    progress: ProgressFn | None
    words: Callable[[int], str]
    """What a number is, for messages."""
    stop: threading.Event | None = None
    """Once it is set, the same happens as at Ctrl-C."""
    again: deque[Batch] = field(default_factory=deque)
    """Batches that were lost."""
    lost: dict[int, int] = field(default_factory=dict)
    """How often, by point."""
    out: int = 0
    """Batches at work."""
    done: int = 0
    busy_s: float = 0.0
    """Of all that came in: how many points, and how long workers took."""

    def work_off(self, on: str | None, jobs: int | None) -> None:
        """Until nothing is missing. Raises `InterruptedSweep`."""
        left = len(self.store) - self.store.count
        if not left:
            return
        # The first shows whether there is work enough for other processes, which take a second
        # to start.
        crew = crew_of(self.order, on, 1 if on is None else jobs, left, self.stop)
        began, before = time.monotonic(), self.store.count
        try:
            numbers = self.store.missing()
            while self._give(crew, numbers):
                self._take(crew)
                self._tell(began, before)
                if self.stop is not None and self.stop.is_set():
                    raise KeyboardInterrupt
                if isinstance(crew, Alone) and jobs != 1 and self._left_s() > _WORTH_S:
                    crew = crew_of(self.order, on, jobs, len(self.store) - self.store.count)
        except KeyboardInterrupt as interruption:
            self._drain(crew)
            store = self.store
            told = (store.folder, store.count, len(store), store.what)
            raise InterruptedSweep(*told) from interruption
        finally:
            crew.close()

    def _left_s(self) -> float:
        """Work that is left, by what is done."""
        left = len(self.store) - self.store.count
        return left * self.busy_s / self.done if self.done and left > 1 else 0.0

    def _give(self, crew: Crew, numbers: Iterator[int]) -> bool:
        """Give out what there is for idle workers; whether anything is at work."""
        while self.out < crew.size:
            batch = self.again.popleft() if self.again else tuple(islice(numbers, self._size(crew)))
            if not batch:
                break
            crew.send(batch)
            self.out += 1
        return self.out > 0

    def _size(self, crew: Crew) -> int:
        """Points of the next batch: so many as hold the work that one is to hold, one at first,
        and near the end no more than leaves something for all.
        """
        if not self.done:
            return 1
        fair = math.ceil((len(self.store) - self.store.count) / (2 * crew.size))
        return max(1, min(int(_BATCH_S * self.done / max(self.busy_s, 1e-9)), fair))

    def _take(self, crew: Crew) -> None:
        for batch, reply in crew.replies():
            self.out -= 1
            if reply is None:
                self._note_loss(batch)
                continue
            self._keep(reply)
            rest = batch[len(reply.done) :]
            if rest:
                self.again.append(rest)

    def _keep(self, reply: Reply) -> None:
        if reply.error or reply.build != self.order.build:
            raise HomenodeError(
                f"the worker on {reply.worker} {reply.error or 'has another engine'}",
                next_step=f"{reply.next_step}; what is committed stays",
            )
        self.store.commit(reply.done)
        self.done += len(reply.done)
        self.busy_s += reply.busy_s

    def _note_loss(self, batch: Batch) -> None:
        """A batch went with its worker. Halves tell in the end which point takes workers along."""
        if len(batch) > 1:
            half = len(batch) // 2
            self.again += [batch[:half], batch[half:]]
            return
        (number,) = batch
        self.lost[number] = self.lost.get(number, 0) + 1
        if self.lost[number] >= _MOST_LOST:
            raise HomenodeError(
                f"{_MOST_LOST} workers died at {self.words(number)}",
                there="someone killed them, or their memory was not enough",
                next_step="try it alone by `homenode run`; what is committed stays",
            )
        self.again.append(batch)

    def _drain(self, crew: Crew) -> None:
        """What workers had done when Ctrl-C came; another one ends this."""
        crew.stop()
        until = time.monotonic() + _DRAIN_S
        with contextlib.suppress(KeyboardInterrupt):
            while self.out > 0 and time.monotonic() < until:
                self._take(crew)

    def _tell(self, began: float, before: int) -> None:
        if self.progress is None:
            return
        share, new = self.store.count / len(self.store), self.store.count - before
        rate = new / max(time.monotonic() - began, 1e-9)
        self.progress(share, (len(self.store) - self.store.count) / rate if new else None)
