"""The circumstances of a partition in its machine: what its home offers, who shares it, how it was
dispatched.

Read from the frozen scenario and the figures of a run; it is what the advice in an explanation is
computed from.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from homenode.errors import HomenodeError
from homenode.results.run import Run
from homenode.results.totals import Shape, shape_of


@dataclass(frozen=True)
class Situation:
    """A partition of a run, with the questions an explanation asks."""

    run: Run
    partition: str

    @cached_property
    def spec(self) -> dict[str, Any]:
        """Its part of the frozen scenario."""
        return self.run.partition_spec(self.partition)

    @cached_property
    def shape(self) -> Shape:
        """Its entitlement and processors."""
        return shape_of(self.spec)

    @property
    def machine(self) -> Mapping[str, Any]:
        """The hardware."""
        machine: Mapping[str, Any] = self.run.spec["machine"]
        return machine

    def metric(self, name: str) -> float:
        """Mean of one of its metrics; 0 where there is none."""
        return self.run.metrics[self.partition][name].mean or 0.0

    @property
    def home_node(self) -> int:
        """The node on which most of its virtual processors are homed."""
        return Counter(self._home_nodes(self.spec)).most_common(1)[0][0]

    @property
    def home_chips_cores(self) -> int:
        """Active cores of the chips it is homed on."""
        per_chip = self.machine["cores_per_chip"]
        chips = set(self.spec["home"])
        return sum(1 for core in range(self.machine["active_cores"]) if core // per_chip in chips)

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
        chips = self.machine["chips_per_node"]
        return math.fsum(
            piece["share"]
            for piece in self.spec["memory"]
            if piece["chip"] // chips != self.home_node
        )

    @property
    def slice_ms(self) -> float:
        """Entitled time of a virtual processor in each dispatch window [ms]."""
        window_ms = self.machine["hypervisor"]["window_ns"] / 1e6
        return min(self.shape.capacity / self.shape.processors, 1.0) * float(window_ms)

    def node_cores(self, node: int) -> int:
        """Active cores of a node that shared partitions can be put on."""
        per_node = self.machine["chips_per_node"] * self.machine["cores_per_chip"]
        taken = {
            core
            for partition in self.run.spec["partitions"]
            if partition["processors"]["mode"] == "dedicated"
            and not partition["processors"]["donating"]
            for core in partition["processors"]["cores"]
        }
        first = node * per_node
        last = min(first + per_node, self.machine["active_cores"])
        return sum(1 for core in range(first, last) if core not in taken)

    def homed_on(self, node: int) -> dict[str, float]:
        """Cores that the shared partitions homed on a node use, there and elsewhere."""
        found = {}
        for partition in self.run.spec["partitions"]:
            nodes = self._home_nodes(partition)
            here = nodes.count(node) / len(nodes) if nodes else 0.0
            if here > 0 and partition["processors"]["mode"] == "shared":
                used = self.run.metrics[partition["name"]]["physc"].mean or 0.0
                found[str(partition["name"])] = used * here
        return found

    def free_cores(self, node: int) -> float:
        """Cores of a node that the partitions homed there leave over."""
        return max(self.node_cores(node) - math.fsum(self.homed_on(node).values()), 0.0)

    def emptiest_node(self) -> int | None:
        """The node other than home with most cores left over; None if there is no other."""
        others = [node for node in range(self.machine["nodes"]) if node != self.home_node]
        return max(others, key=self.free_cores, default=None)

    def node_label(self, node: int) -> str:
        """How the machine's users call a node, such as `book 5`."""
        return f"{self._node_name} {node}"

    @cached_property
    def _node_name(self) -> str:
        """From the shipped description; machines of one's own have nodes."""
        from homenode import catalog

        try:
            return catalog.machine(str(self.machine["name"])).node_name
        except HomenodeError:
            return "node"

    def _home_nodes(self, partition: Mapping[str, Any]) -> list[int]:
        return [chip // self.machine["chips_per_node"] for chip in partition["home"]]
