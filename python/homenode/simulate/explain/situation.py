"""The circumstances of a partition in its machine: what its home offers, who shares it, how it was
dispatched.

Read from the frozen scenario and the figures of a run; it is what the advice in an explanation is
computed from. The home of a shared partition is where its virtual processors are homed, that of a
dedicated one where its cores are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from homenode.model.spec import MachineSpec, PartitionSpec
from homenode.simulate.explain.places import Tree
from homenode.simulate.kept.kept_run import KeptRun
from homenode.simulate.kept.totals import Shape, shape_during
from homenode.simulate.kept.vocabulary import Vocabulary

_NOT_HARDWARE = ("active_cores", "hypervisor")


@dataclass(frozen=True)
class Situation:
    """A partition of a run, with the questions an explanation asks."""

    run: KeptRun
    partition: str

    @cached_property
    def spec(self) -> PartitionSpec:
        """Its part of the frozen scenario."""
        return self.run.partition_spec(self.partition)

    @cached_property
    def index(self) -> int:
        """Its place among the partitions."""
        return self.run.partitions.index(self.partition)

    @cached_property
    def shape(self) -> Shape:
        """Its entitlement and processors."""
        return shape_during(self.run.spec, self.index)

    @property
    def is_dedicated(self) -> bool:
        """Whether it has cores of its own."""
        return not self.shape.is_shared

    @property
    def runs_guests(self) -> bool:
        """Whether it runs z/VM."""
        return self.shape.runs_guests

    @property
    def machine(self) -> MachineSpec:
        """The machine as the engine saw it."""
        return self.run.spec["machine"]

    @property
    def hardware(self) -> dict[str, object]:
        """What of the machine costs time: all but which cores are active and who hands them out."""
        return {name: v for name, v in self.machine.items() if name not in _NOT_HARDWARE}

    @cached_property
    def tree(self) -> Tree:
        """Where things are in the machine."""
        return Tree(self.machine)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What the machine's users call things."""
        return Vocabulary.of_spec(self.machine, self.run.node_name)

    def metric(self, name: str) -> float:
        """Mean of one of its metrics; 0 where there is none."""
        return self.run.metric(self.partition, name).mean or 0.0

    @cached_property
    def seats_by_node(self) -> dict[int, float]:
        """Its cores, or its virtual processors by their home, on each node."""
        return self.tree.by_node(self.tree.seats(self.spec))

    @property
    def home_node(self) -> int:
        """The node on which most of its processors have their place."""
        seats = self.seats_by_node
        return max(seats, key=lambda node: seats[node], default=0)

    @property
    def home_chips_cores(self) -> int:
        """Active cores of the chips it is homed on."""
        chips = set(self.spec["home"])
        active = range(self.machine["active_cores"])
        return sum(1 for core in active if self.tree.chip_of(core) in chips)

    @property
    def home_chips(self) -> int:
        """How many chips it is homed on."""
        return len(set(self.spec["home"]))

    @property
    def remote_cores(self) -> float:
        """Cores it spends on lines from other nodes and on cache reload."""
        return math.fsum(
            self.metric(f"cores_{cause}") for cause in ("cache_far", "memory_far", "reload")
        )

    @property
    def memory_away_share(self) -> float:
        """Share of its memory that is not on its home node [0..1]."""
        return 1.0 - self.tree.memory_by_node(self.spec).get(self.home_node, 0.0)

    @property
    def slice_ms(self) -> float:
        """Entitled time of a virtual processor in each dispatch window [ms]."""
        window_ms = self.machine["hypervisor"]["window_ns"] / 1e6
        return min(self.shape.entitlement / self.shape.processors, 1.0) * float(window_ms)

    def node_cores(self, node: int) -> int:
        """Active cores of a node that shared partitions can be put on."""
        taken = {
            core
            for partition in self.run.spec["partitions"]
            if partition["processors"]["mode"] == "dedicated"
            and not partition["processors"]["donating"]
            for core in partition["processors"]["cores"]
        }
        return sum(1 for core in self.tree.cores_of(node) if core not in taken)

    def homed_on(self, node: int) -> dict[str, float]:
        """Cores that the shared partitions homed on a node use, there and elsewhere."""
        found = {}
        for partition in self.run.spec["partitions"]:
            seats = self.tree.by_node(self.tree.seats(partition))
            if partition["processors"]["mode"] == "shared" and seats.get(node):
                used = self.run.metric(partition["name"], "physc").mean or 0.0
                found[str(partition["name"])] = used * seats[node] / math.fsum(seats.values())
        return found

    def free_cores(self, node: int) -> float:
        """Cores of a node that the partitions homed there leave over."""
        return max(self.node_cores(node) - math.fsum(self.homed_on(node).values()), 0.0)

    def emptiest_node(self) -> int | None:
        """The node other than home with most cores left over; None if there is no other."""
        others = [node for node in self.tree.nodes if node != self.home_node]
        return max(others, key=self.free_cores, default=None)

    def node_label(self, node: int) -> str:
        """How the machine's users call a node, such as `book 5`."""
        return f"{self.vocabulary.node} {node}"
