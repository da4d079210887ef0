"""One layout of a frame: scores and prices of its partitions."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from homenode.errors import ScenarioError
from homenode.model.catalog import MachineDescription
from homenode.model.catalog.hypervisor import PowerVm
from homenode.model.scenario import PlacedPartition, Resolved, Scenario
from homenode.model.scenario.placement import Wish, place
from homenode.model.spec import PartitionSpec, Spec
from homenode.simulate.affinity.score import (
    Distances,
    distances,
    frame_score,
    locality,
    score,
)
from homenode.simulate.answers import PriceAnswer
from homenode.simulate.engine import load_engine
from homenode.simulate.explain.places import Tree, even


@dataclass(frozen=True)
class Affinity:
    """Of one partition in one layout."""

    score: int
    """0 to 100."""
    apart: Distances
    """How far its entitled cores and its memory are apart."""
    ns: float | None
    """Time of an instruction with its entitled capacity busy at home, one thread of each core [ns];
    None where there is no price.
    """
    ns_all: float | None
    """The same with all threads of the cores busy, which wait for memory in turn."""


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
        return cls(scenario.resolved, scenario.layout_spec())

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
        """Of each partition, with its prices if they are asked for."""
        partitions = self.spec["partitions"]
        none: list[float | None] = [None] * len(partitions)
        one = self._prices([{**told, "smt": 1} for told in partitions]) if priced else none
        every = self._prices(partitions) if priced else none
        rows = zip(self.resolved.partitions, partitions, one, every, strict=True)
        return [self._affinity(placed, told, *prices) for placed, told, *prices in rows]

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
        self, placed: PlacedPartition, told: PartitionSpec, one: float | None, every: float | None
    ) -> Affinity:
        apart = distances(self.tree, told)
        here = locality(self.spec["machine"], apart)
        return Affinity(score(here, self._alone(placed, told)), apart, one, every)

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

    def _prices(self, partitions: Sequence[PartitionSpec]) -> list[float | None]:
        """Time of an instruction of each partition [ns]; None where there is no price."""
        spec = {**self.spec, "partitions": partitions}
        try:
            answer = load_engine().price(json.dumps(spec), json.dumps(self._busy()))
        except ValueError:
            return [None] * len(partitions)
        told: PriceAnswer = json.loads(answer)
        return [partition["ns"] for partition in told["partitions"]]

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
