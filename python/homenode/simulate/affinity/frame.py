"""The affinity of a frame, now and after a run of the Dynamic Platform Optimizer."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from homenode.errors import ScenarioError
from homenode.model.catalog import MachineDescription
from homenode.model.catalog.hypervisor import PowerVm
from homenode.model.numbers import NOTHING, number
from homenode.model.scenario import PlacedPartition, Resolved, Scenario
from homenode.model.scenario.flatten import flatten
from homenode.model.scenario.placement import Wish, place
from homenode.model.spec import PartitionSpec, Spec
from homenode.simulate.affinity.optimised import optimised
from homenode.simulate.affinity.score import (
    HOW,
    Distances,
    distances,
    frame_score,
    locality,
    score,
)
from homenode.simulate.answers import PriceAnswer
from homenode.simulate.engine import load_engine
from homenode.simulate.explain.places import Tree, even
from homenode.simulate.kept.grid import Grid

_GIB = 1 << 30


@dataclass(frozen=True)
class Affinity:
    """Of one partition in one layout."""

    score: int
    """0 to 100."""
    apart: Distances
    """How far its entitled cores and its memory are apart."""
    ns: float | None
    """Time of an instruction with its entitled capacity busy where it is at home [ns]; None where
    there is no price."""


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
        """What an instruction takes longer after the run [percent]."""
        if not self.now.ns or self.then.ns is None:
            return None
        return 100.0 * (self.then.ns / self.now.ns - 1.0)


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
        """Cores that the entitled capacity of all needs less after the run for the same work."""
        changes = [(row.entitlement, row.change_pct) for row in self.rows]
        told = [-cores * change / 100.0 for cores, change in changes if change is not None]
        return math.fsum(told) if told else None

    def grid(self) -> Grid:
        """A row a partition: entitled cores, memory, scores, what an instruction would cost."""
        heads = ("partition", "entitled", "memory GiB", "score", "after a run", "instruction")
        rows = [
            (
                row.partition,
                number(row.entitlement, 2),
                number(row.memory_bytes / _GIB, 2),
                str(row.now.score),
                str(row.then.score),
                NOTHING if row.change_pct is None else f"{row.change_pct:+.1f} %",
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
            "partitions": [_row_json(row) for row in self.rows],
        }


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
    }


def _affinity_json(told: Affinity) -> dict[str, object]:
    apart = {"local": told.apart.local, "near": told.apart.near, "far": told.apart.far}
    return {"score": told.score, **apart, "instruction_ns": told.ns}


def affinity(scenario: Scenario, protect: Collection[str] = ()) -> FrameAffinity:
    """The affinity scores of a scenario on a PowerVM server, and those that a run of the Dynamic
    Platform Optimizer would bring if it left the partitions of `protect` alone.

    Nothing is simulated: what an instruction costs is priced with the entitled capacity of every
    partition busy where it is at home.
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


def has_score(machine: MachineDescription) -> bool:
    """Whether a machine has affinity scores at all."""
    return isinstance(machine.hypervisor, PowerVm)


@dataclass(frozen=True)
class Layout:
    """A frame with everything placed."""

    resolved: Resolved
    spec: Spec

    @classmethod
    def of(cls, scenario: Scenario) -> Layout:
        """The layout of a scenario; `ScenarioError` where no such scores are known."""
        if not has_score(scenario.machine):
            raise ScenarioError(
                f"{scenario.machine.title} has no affinity score",
                there="it is the HMC's, for servers with PowerVM",
                next_step="homenode check shows who lies where on any machine",
            )
        return cls(scenario.resolved, scenario.spec())

    @cached_property
    def tree(self) -> Tree:
        """Where things are in the machine."""
        return Tree(self.spec["machine"])

    def size(self, partition: PlacedPartition) -> float:
        """Entitled capacity plus memory, each as a share of the frame."""
        machine = self.resolved.machine
        memory = partition.memory_bytes / machine.memory.maximum.value
        return partition.entitlement / machine.active_cores + memory

    def affinities(self, *, priced: bool) -> list[Affinity]:
        """Of each partition, with its price if that is asked for."""
        prices = self._prices() if priced else None
        ns: Sequence[float | None] = prices or [None] * len(self.resolved.partitions)
        pairs = zip(self.resolved.partitions, self.spec["partitions"], ns, strict=True)
        return [self._affinity(placed, told, price) for placed, told, price in pairs]

    @cached_property
    def scores(self) -> list[int]:
        """Of each partition."""
        return [one.score for one in self.affinities(priced=False)]

    @property
    def score(self) -> int:
        """Of the frame."""
        sizes = [self.size(one) for one in self.resolved.partitions]
        return frame_score(zip(self.scores, sizes, strict=True))

    def _affinity(
        self, placed: PlacedPartition, told: PartitionSpec, price: float | None
    ) -> Affinity:
        apart = distances(self.tree, told)
        here = locality(self.spec["machine"], apart)
        return Affinity(score(here, self._alone(placed, told)), apart, price)

    def _alone(self, placed: PlacedPartition, told: PartitionSpec) -> float:
        """Its locality alone on the empty frame."""
        wish = Wish(
            placed.entitlement,
            placed.memory_bytes,
            dedicated=placed.cores is not None,
            chips=None,
            virtual=placed.virtual,
        )
        return locality(self.spec["machine"], self._best(wish, told))

    def _best(self, wish: Wish, told: PartitionSpec) -> Distances:
        seat = place(self.resolved.machine, [wish])[0]
        alone: PartitionSpec = {
            **told,
            "home": list(seat.chips),
            "memory": [{"domains": [d], "bytes": size} for d, size in seat.memory.items()],
        }
        if alone["processors"]["mode"] == "dedicated":
            alone["processors"] = {**alone["processors"], "cores": list(seat.cores or ())}
        return distances(self.tree, alone)

    def _prices(self) -> list[float] | None:
        """Time of an instruction of each partition [ns]; None where there is no price."""
        try:
            answer = load_engine().price(json.dumps(self.spec), json.dumps(self._busy()))
        except ValueError:
            return None
        told: PriceAnswer = json.loads(answer)
        return [float(partition["ns"] or 0.0) for partition in told["partitions"]]

    def _busy(self) -> list[list[float]]:
        """Entitled cores of each partition on each chip; where more are at home on a chip than it
        has, all of them get less.
        """
        rows = [
            even(placed.entitlement, self.tree.seats(told).elements())
            for placed, told in zip(self.resolved.partitions, self.spec["partitions"], strict=True)
        ]
        most = self.spec["machine"]["cores_per_chip"]
        over = {
            c: max(math.fsum(row.get(c, 0.0) for row in rows) / most, 1.0) for c in self.tree.chips
        }
        return [[row.get(c, 0.0) / over[c] for c in self.tree.chips] for row in rows]


def _moved(placed: PlacedPartition, new: PlacedPartition) -> int:
    """Memory that lies elsewhere afterwards [bytes]."""
    before, after = ({p.domains: p.bytes for p in one.memory} for one in (placed, new))
    return sum(max(size - before.get(place, 0), 0) for place, size in after.items())


__all__: Sequence[str] = ["Affinity", "FrameAffinity", "Layout", "affinity", "has_score"]
