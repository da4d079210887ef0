"""Where things are in a machine: cores on chips, chips in nodes, memory beside either.

Index arithmetic on a frozen scenario, as the engine has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from homenode.model.spec import MachineSpec, PartitionSpec, chips_of


@dataclass(frozen=True)
class Tree:
    """The machine of a frozen scenario."""

    machine: MachineSpec

    @property
    def nodes(self) -> range:
        """Indices of the machine's nodes."""
        return range(int(self.machine["nodes"]))

    @cached_property
    def chips(self) -> range:
        """All chips, counted over the whole machine."""
        return range(len(self.nodes) * self.chips_per_node)

    @property
    def chips_per_node(self) -> int:
        """Chips in a node."""
        return int(self.machine["chips_per_node"])

    @property
    def is_beside_nodes(self) -> bool:
        """Whether memory hangs beside nodes in place of chips."""
        return bool(self.machine["memory_beside"] == "node")

    def chip_of(self, core: int) -> int:
        """Chip of a core."""
        return core // int(self.machine["cores_per_chip"])

    def node_of(self, chip: int) -> int:
        """Node of a chip."""
        return chip // self.chips_per_node

    def chips_of(self, node: int) -> range:
        """Chips of a node."""
        return range(node * self.chips_per_node, (node + 1) * self.chips_per_node)

    def cores_of(self, node: int) -> range:
        """Activated cores of a node."""
        per_node = self.chips_per_node * int(self.machine["cores_per_chip"])
        first = node * per_node
        return range(first, max(first, min(first + per_node, int(self.machine["active_cores"]))))

    def domain_of(self, chip: int) -> int:
        """Memory domain beside a chip."""
        return self.node_of(chip) if self.is_beside_nodes else chip

    def node_of_domain(self, domain: int) -> int:
        """Node of a memory domain."""
        return domain if self.is_beside_nodes else self.node_of(domain)

    def seats(self, partition: PartitionSpec) -> Counter[int]:
        """Processors of a partition by the chip on which they have their place: the cores of a
        dedicated one, the homes of a shared one's virtual processors.
        """
        return Counter(chips_of(partition, int(self.machine["cores_per_chip"])))

    def memory_by_node(self, partition: PartitionSpec) -> dict[int, float]:
        """Share of a partition's memory on each node that has some [0..1]."""
        found: dict[int, float] = {}
        for domain, share in self.memory_by_domain(partition).items():
            node = self.node_of_domain(domain)
            found[node] = found.get(node, 0.0) + share
        return found

    def memory_by_domain(self, partition: PartitionSpec) -> dict[int, float]:
        """Share of a partition's memory in each domain that has some [0..1]; interleaved memory is
        evenly in all its domains.
        """
        total = sum(part["bytes"] for part in partition["memory"])
        found: dict[int, float] = {}
        for part in partition["memory"]:
            for domain in part["domains"]:
                share = part["bytes"] / total / len(part["domains"])
                found[domain] = found.get(domain, 0.0) + share
        return found

    def by_node(self, seats: Mapping[int, float]) -> dict[int, float]:
        """Chips' amounts added up by node."""
        found: dict[int, float] = {}
        for chip, amount in seats.items():
            node = self.node_of(chip)
            found[node] = found.get(node, 0.0) + amount
        return found


def even(amount: float, chips: Iterable[int]) -> dict[int, float]:
    """An amount spread evenly over chips; the same chip may be there several times."""
    counts = Counter(chips)
    total = sum(counts.values())
    return {chip: amount * count / total for chip, count in counts.items()}
