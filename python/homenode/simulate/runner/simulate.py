"""Replications side by side in threads, with a way to stop them; knows the engine's calls, not what
the numbers mean.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pydantic_core import from_json

from homenode.simulate.answers import Answer, Batch
from homenode.simulate.engine import Engine
from homenode.simulate.runner.job import Job

ProgressFn = Callable[[float, float | None], None]
"""Called from the calling thread with the share done [0..1] and the seconds left, if they can be
told.
"""

LookFn = Callable[[int, Mapping[str, Mapping[str, bytes]]], None]
"""Called from a replication's thread with its number and the rows of intervals that ended since it
was last called; what is kept may differ from them by nanoseconds.
"""
_LOOK_EVERY_S = 0.1
Some = TypeVar("Some")
Work = Callable[[], Answer | None]
"""A replication to be run; None if it was stopped."""


class Writer(Protocol):
    """Where the interval tables of a replication go."""

    def add(self, tables: Mapping[str, Mapping[str, bytes]]) -> None:
        """Take one batch of the engine. Raises `OSError` where it cannot be kept."""
        ...

    def close(self) -> None:
        """All has come."""
        ...

    def abandon(self) -> None:
        """Drop a replication that did not finish."""
        ...


@dataclass
class Watch:
    """What the calling thread and the replications tell each other."""

    shares: list[float]
    stop: threading.Event = field(default_factory=threading.Event)
    look: LookFn | None = None

    @property
    def done(self) -> float:
        """Share of all simulated time that is done [0..1]."""
        return sum(self.shares) / len(self.shares)


@dataclass(frozen=True)
class Outcome:
    """Summaries of the replications that finished, by index, and whether someone stopped the
    others.
    """

    summaries: dict[int, Answer]
    interrupted: bool


def simulate_all(
    engine: Engine,
    job: Job,
    writer: Callable[[int], Writer],
    jobs: int | None,
    progress: ProgressFn | None,
    stop: threading.Event | None,
    look: LookFn | None = None,
) -> Outcome:
    """Run all replications, each with a writer of its own; Ctrl-C or `stop` ends them at the next
    batch and keeps those that are complete.
    """
    watch = Watch(shares=[0.0] * len(job.replications), stop=stop or threading.Event(), look=look)
    threads = max(1, min(jobs or os.cpu_count() or 1, len(job.replications)))
    works = _works(engine, job, writer, watch)
    interrupted = False
    with ThreadPoolExecutor(threads, thread_name_prefix="replication") as pool:
        futures: list[Future[Answer | None]] = []
        try:
            futures.extend(pool.submit(work) for work in works)
            _look_on(futures, watch, progress)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            # Some still run after Ctrl-C and after an error in one of them; they need not go on to
            # their end.
            if interrupted or not all(future.done() for future in futures):
                watch.stop.set()
            wait_out(futures)
    return _outcome(job, [future.result() for future in futures], interrupted)


def simulate_each(
    engine: Engine, job: Job, writer: Callable[[int], Writer], stop: threading.Event
) -> Outcome:
    """The same one by one in the calling thread, for replications as small as a thread's start;
    Ctrl-C drops the one at work.
    """
    watch = Watch(shares=[0.0] * len(job.replications), stop=stop)
    results: list[Answer | None] = []
    try:
        results.extend(work() for work in _works(engine, job, writer, watch))
    except KeyboardInterrupt:
        return _outcome(job, results, interrupted=True)
    return _outcome(job, results, interrupted=False)


def _works(
    engine: Engine, job: Job, writer: Callable[[int], Writer], watch: Watch
) -> Sequence[Work]:
    return [
        functools.partial(_replicate, engine, job.spec_text, index, slot, writer, watch)
        for slot, index in enumerate(job.replications)
    ]


def _outcome(job: Job, results: Sequence[Answer | None], interrupted: bool) -> Outcome:
    # Fewer where Ctrl-C came before all had begun.
    told = zip(job.replications, results, strict=False)
    summaries = {index: summary for index, summary in told if summary is not None}
    return Outcome(summaries, interrupted or len(summaries) < len(job.replications))


def _look_on(futures: Sequence[Future[Some]], watch: Watch, progress: ProgressFn | None) -> None:
    """Report progress until all replications have ended or one has failed."""
    started = time.monotonic()
    while True:
        finished, pending = wait(futures, timeout=_LOOK_EVERY_S, return_when=FIRST_EXCEPTION)
        if progress is not None:
            share = watch.done
            elapsed = time.monotonic() - started
            progress(share, elapsed * (1.0 - share) / share if share > 0.0 else None)
        if not pending or any(future.exception() for future in finished):
            return


def wait_out(futures: Iterable[Future[Some]]) -> None:
    """Until all have ended, which takes a batch; someone who presses Ctrl-C again loses nothing."""
    while True:
        try:
            wait(futures)
        except KeyboardInterrupt:
            continue
        return


def _replicate(
    engine: Engine,
    spec_text: str,
    index: int,
    slot: int,
    writer_of: Callable[[int], Writer],
    watch: Watch,
) -> Answer | None:
    """One replication in its own thread; None if it was stopped."""
    if watch.stop.is_set():
        return None
    writer = writer_of(index)
    failure: list[OSError] = []

    def observe(batch: Batch) -> bool:
        watch.shares[slot] = batch["now_ns"] / max(batch["end_ns"], 1)
        if watch.look is not None:
            watch.look(index, batch.get("latest", {}))
        try:
            writer.add(batch["tables"])
        except OSError as error:
            # Kept aside so that it is told whatever the engine makes of an observer that raises.
            failure.append(error)
            return False
        return not watch.stop.is_set()

    complete = False
    try:
        summary: Answer = from_json(
            engine.simulate(spec_text, index, observe, watch.look is not None)
        )
        writer.close()
        complete = True
    except engine.Stopped:
        if failure:
            raise failure[0] from None
        return None
    finally:
        if not complete:
            writer.abandon()
    watch.shares[slot] = 1.0
    return summary
