"""The affinity of a frame, now and after a run of the Dynamic Platform Optimizer."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from homenode.model.numbers import NOTHING, number
from homenode.model.scenario import PlacedPartition, Scenario
from homenode.model.scenario.flatten import flatten
from homenode.model.spec import Spec
from homenode.simulate.affinity.layout import Affinity, Layout
from homenode.simulate.affinity.optimised import optimised
from homenode.simulate.affinity.score import HOW, frame_score
from homenode.simulate.kept.grid import Grid

_GIB = 1 << 30
_LEAST_PCT = 0.05


@dataclass(frozen=True)
class PartitionAffinity:
    """Of one partition, now and after the run."""

    partition: str
    number: int
    """Its id."""
    entitlement: float
    """Entitled capacity, or cores of its own."""
    memory_bytes: int
    size: float
    """Entitled capacity plus memory, each as a share of the frame."""
    now: Affinity
    then: Affinity
    moved_bytes: int
    """Memory that the run moves to another place."""

    @property
    def change_pct(self) -> float | None:
        """What an instruction takes longer after the run, one thread of each core busy
        [percent].
        """
        return _change(self.now.ns, self.then.ns)

    @property
    def change_all_pct(self) -> float | None:
        """The same with all threads of the cores busy [percent]."""
        return _change(self.now.ns_all, self.then.ns_all)


@dataclass(frozen=True)
class FrameAffinity:
    """Of a frame and each of its partitions, now and after the run."""

    scenario: str
    title: str
    """The machine."""
    rows: tuple[PartitionAffinity, ...]
    """In the order of the scenario."""
    now: int
    """Score of the frame."""
    then: int
    """The score it would have after the run."""
    spec: Spec
    """The frozen scenario as it is."""
    spec_then: Spec
    """The same in the layout after the run."""

    @property
    def moved_bytes(self) -> int:
        """Memory that the run moves."""
        return sum(row.moved_bytes for row in self.rows)

    @property
    def saved_cores(self) -> float | None:
        """Cores that the entitled capacity of all needs less after the run for the same work, one
        thread of each busy.
        """
        return _saved((row.entitlement, row.change_pct) for row in self.rows)

    @property
    def saved_cores_all(self) -> float | None:
        """The same with all threads of the cores busy."""
        return _saved((row.entitlement, row.change_all_pct) for row in self.rows)

    def grid(self) -> Grid:
        """A row a partition: entitled cores, memory, scores, what an instruction would cost."""
        heads = ("partition", "entitled", "memory GiB", "score", "after a run", "an instruction")
        rows = [
            (
                row.partition,
                number(row.entitlement, 2),
                number(row.memory_bytes / _GIB, 2),
                str(row.now.score),
                str(row.then.score),
                in_words(row),
            )
            for row in self.rows
        ]
        total = ("", "", str(self.now), str(self.then), "")
        return Grid(f"Affinity of {self.scenario}", heads, rows, ("frame", *total), (HOW,))

    def __str__(self) -> str:
        """The table."""
        return self.grid().text()

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return self.grid().html()

    def as_json(self) -> dict[str, object]:
        """What `homenode affinity --json` prints."""
        return {
            "scenario": self.scenario,
            "machine": self.title,
            "score": {"now": self.now, "then": self.then, "how": HOW},
            "moved_bytes": self.moved_bytes,
            "saved_cores": self.saved_cores,
            "saved_cores_all_threads": self.saved_cores_all,
            "partitions": [_row_json(row) for row in self.rows],
        }


def _change(now: float | None, then: float | None) -> float | None:
    return 100.0 * (then / now - 1.0) if now and then is not None else None


def _saved(changes: Iterable[tuple[float, float | None]]) -> float | None:
    told = [-cores * change / 100.0 for cores, change in changes if change is not None]
    return math.fsum(told) if told else None


def in_words(row: PartitionAffinity) -> str:
    """How the price of an instruction changes: with one thread of each core busy to all of them,
    or once where both are alike.
    """
    both = [row.change_pct, row.change_all_pct]
    told = ["same" if abs(c) < _LEAST_PCT else f"{c:+.1f} %" for c in both if c is not None]
    return " to ".join(dict.fromkeys(told)) or NOTHING


def _row_json(row: PartitionAffinity) -> dict[str, object]:
    return {
        "partition": row.partition,
        "number": row.number,
        "entitlement": row.entitlement,
        "memory_bytes": row.memory_bytes,
        "now": _affinity_json(row.now),
        "then": _affinity_json(row.then),
        "moved_bytes": row.moved_bytes,
        "instruction_change_pct": row.change_pct,
        "instruction_change_all_threads_pct": row.change_all_pct,
    }


def _affinity_json(told: Affinity) -> dict[str, object]:
    apart = {"local": told.apart.local, "near": told.apart.near, "far": told.apart.far}
    prices = {"instruction_ns": told.ns, "instruction_all_threads_ns": told.ns_all}
    return {"score": told.score, **apart, **prices}


def affinity(scenario: Scenario, protect: Collection[str] = ()) -> FrameAffinity:
    """The affinity scores of a scenario on a PowerVM server, and those that a run of the Dynamic
    Platform Optimizer would bring if it left the partitions of `protect` alone.

    Nothing is simulated: what an instruction costs is priced with the entitled capacity of every
    partition busy where it is at home, once with one thread of each core and once with all.
    """
    found = Layout.of(scenario)
    after = optimised(scenario.resolved, protect)
    then = Layout(after, flatten(scenario.name, scenario.timing, after))
    before_after = zip(found.affinities(priced=True), then.affinities(priced=True), strict=True)
    rows = tuple(
        PartitionAffinity(
            placed.name,
            placed.number,
            placed.entitlement,
            placed.memory_bytes,
            found.size(placed),
            *both,
            _moved(placed, new),
        )
        for placed, new, both in zip(
            found.resolved.partitions, after.partitions, before_after, strict=True
        )
    )
    return FrameAffinity(
        scenario.name,
        scenario.machine.title,
        rows,
        frame_score((row.now.score, row.size) for row in rows),
        frame_score((row.then.score, row.size) for row in rows),
        found.spec,
        then.spec,
    )


def _moved(placed: PlacedPartition, new: PlacedPartition) -> int:
    """Memory that lies elsewhere afterwards [bytes]."""
    before, after = ({p.domains: p.bytes for p in one.memory} for one in (placed, new))
    return sum(max(size - before.get(place, 0), 0) for place, size in after.items())
