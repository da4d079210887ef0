"""Many short simulations side by side in threads, kept nowhere: each leaves its throughput, its
processor time by cause and its cycles.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from homenode.errors import EngineError, HomenodeError
from homenode.evidence.compare.causes import CAUSES, by_cause
from homenode.evidence.compare.scenarios import Point
from homenode.simulate.answers import Answer, Batch, PartitionAnswer
from homenode.simulate.engine import Engine
from homenode.simulate.kept.summarize import steadiness

_BOOKS = tuple(book for books in CAUSES.values() for book in books)


@dataclass(frozen=True)
class Sample:
    """One replication of one guest."""

    units_per_s: float
    cpu_s_per_s: float
    """Processors used."""
    by_cause: Mapping[str, float]
    """The same by cause."""
    cycles: float
    instructions: float
    response_ms: float | None = None
    """Mean response time of a unit; None for work without one."""


@dataclass(frozen=True)
class Simulated:
    """All replications of a point, guest by guest."""

    guests: Mapping[str, tuple[Sample, ...]]
    reason: str | None
    """Why it has no steady state; None if it has one."""

    @property
    def whole(self) -> tuple[Sample, ...]:
        """All guests together, replication by replication."""
        return tuple(map(_together, zip(*self.guests.values(), strict=True)))


class Stopped(Exception):  # noqa: N818 - named as the engine names it
    """Someone asked to stop before it was done."""


class Pool:
    """Threads that simulate; the engine lets go of Python while it computes."""

    def __init__(self, engine: Engine, threads: int) -> None:
        self._engine = engine
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="compare")
        self.stop = threading.Event()

    def submit(self, point: Point, replication: int) -> Future[Answer]:
        """The future of a replication's summary."""
        return self._threads.submit(self._replicate, json.dumps(point.spec), replication)

    def close(self) -> None:
        """End all, what still runs at its next batch."""
        self.stop.set()
        self._threads.shutdown(cancel_futures=True)

    def _replicate(self, spec_text: str, replication: int) -> Answer:
        if self.stop.is_set():
            raise Stopped
        try:
            answer = self._engine.simulate(spec_text, replication, self._go_on)
        except self._engine.Stopped:
            raise Stopped from None
        except self._engine.SpecError as error:
            raise EngineError(f"the engine refuses the case: {error}") from error
        except self._engine.Runaway as error:
            raise HomenodeError(f"a case has no steady state: {error}") from error
        summary: Answer = json.loads(answer)
        return summary

    def _go_on(self, _batch: Batch) -> bool:
        return not self.stop.is_set()


def collect(point: Point, summaries: list[Answer]) -> Simulated:
    """Figures of a point from the engine's summaries of its replications."""
    names = [str(partition["name"]) for partition in point.spec["partitions"]]
    elapsed_ns = float(point.spec["duration_ns"])
    guests = {
        name: tuple(_sample(one["partitions"][index], elapsed_ns) for one in summaries)
        for index, name in enumerate(names)
    }
    verdicts = (steadiness(summaries, index)["reason"] for index in range(len(names)))
    return Simulated(guests, next((reason for reason in verdicts if reason is not None), None))


def _sample(answer: PartitionAnswer, elapsed_ns: float) -> Sample:
    totals, response_ns = answer["totals"], answer["response_ns"]["mean"]
    books = {book: totals.get(f"book_{book}", 0) / elapsed_ns for book in _BOOKS}
    causes = by_cause(books)
    return Sample(
        units_per_s=totals["tx_done"] / elapsed_ns * 1e9,
        cpu_s_per_s=sum(causes.values()),
        by_cause=causes,
        cycles=float(totals["cycles"]),
        instructions=float(totals["instructions"]),
        response_ms=response_ns / 1e6 if response_ns > 0 else None,
    )


def _together(samples: tuple[Sample, ...]) -> Sample:
    causes = [cause for cause in CAUSES if any(cause in sample.by_cause for sample in samples)]
    return Sample(
        units_per_s=sum(s.units_per_s for s in samples),
        cpu_s_per_s=sum(s.cpu_s_per_s for s in samples),
        by_cause={c: sum(s.by_cause.get(c, 0.0) for s in samples) for c in causes},
        cycles=sum(s.cycles for s in samples),
        instructions=sum(s.instructions for s in samples),
        response_ms=mean_response_ms(samples),
    )


def mean_response_ms(samples: Sequence[Sample]) -> float | None:
    """Of all units of several guests, or replications; None if one of them has none."""
    known = [s.response_ms * s.units_per_s for s in samples if s.response_ms is not None]
    units = sum(s.units_per_s for s in samples)
    return sum(known) / units if units and len(known) == len(samples) else None
