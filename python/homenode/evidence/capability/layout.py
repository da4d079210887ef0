"""Where a machine puts the processors of one partition that is alone on it, and its memory.

PR/SM fills a node before it enters the next, and inside a node a group of chips before the next; in
a group it takes the chip that has the fewest, so that caches are shared late. How many processors a
node has for customers, what a group is and where memory lies say the table `[placement]` of its
description, every figure with its origin; without one all active cores count, evenly, the chips of
a node as one group, and under PowerVM, which aims at one chip before it enters another
(docs/background/dispatcher.md), each chip as one. Documented in docs/background/capability.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import Field

from homenode.errors import CapabilityError, HomenodeError
from homenode.model.catalog import MachineDescription
from homenode.model.catalog.figure import CatalogName
from homenode.model.catalog.placement import MemoryRule, Placement
from homenode.model.document import read_document, validate


class _LayoutFile(Placement):
    """A file that says it in place of a machine's description."""

    machine: CatalogName = Field(description="name of the machine's description")


@dataclass(frozen=True)
class Layout:
    """Where processors and memory of a partition go, by the shape of the machine."""

    nodes: int
    chips_per_node: int
    cores_per_chip: int
    processors: int
    """Those for customers; what a partition has beyond them goes on evenly over the nodes."""
    group_chips: int
    memory: MemoryRule = "beside"
    filled_nodes: int | None = None
    """Nodes that this model has, over which its processors are spread; all if not given."""
    speed: float = 1.0
    """Speed of one processor alone, as a share of full speed."""
    burst_ns: float | None = None
    """How long a slowed processor works at a time [ns]."""
    drawer_nodes: int = 1
    """Nodes over which memory of a drawer is striped."""
    change: Mapping[str, object] = field(default_factory=dict)
    """Numbers of the machine that differ from its description, as a scenario states them."""

    @property
    def most(self) -> int:
        """Cores that the machine has."""
        return self.nodes * self.chips_per_node * self.cores_per_chip

    def busy(self, processors: int) -> list[int]:
        """Processors of the partition on each chip, counted over the whole machine."""
        if not 1 <= processors <= self.most:
            raise HomenodeError(
                f"a partition of {processors} processors cannot be placed",
                there=f"the machine has {self.most} cores",
                next_step=f"ask for 1 to {self.most}",
            )
        found = [0] * (self.nodes * self.chips_per_node)
        for chip, _ in zip(self._chips(), range(processors), strict=False):
            found[chip] += 1
        return found

    def _chips(self) -> Iterator[int]:
        """The chip of every processor, in the order in which they are taken."""
        taken = [0] * (self.nodes * self.chips_per_node)
        for node, of_node in enumerate(shares(self.processors, self.filled_nodes or self.nodes)):
            first = node * self.chips_per_node
            groups = -(-self.chips_per_node // self.group_chips)
            for group, of_group in enumerate(shares(of_node, groups)):
                start = first + group * self.group_chips
                end = min(start + self.group_chips, first + self.chips_per_node)
                yield from self._least(taken, range(start, end), of_group)
        for number in range(self.most * self.nodes):
            first = number % self.nodes * self.chips_per_node
            yield from self._least(taken, range(first, first + self.chips_per_node), 1)

    def _least(self, taken: list[int], chips: range, count: int) -> Iterator[int]:
        """So many times the chip that has the fewest, the first of equals."""
        for _ in range(count):
            chip = min(chips, key=lambda chip: taken[chip])
            if taken[chip] == self.cores_per_chip:
                return
            taken[chip] += 1
            yield chip


def shares(total: int, parts: int) -> list[int]:
    """A number in as equal whole parts as can be, the larger ones first."""
    return [total // parts + (part < total % parts) for part in range(parts)]


def layout_of(machine: MachineDescription, file: str | Path | None = None) -> Layout:
    """The layout of a machine: from the given file, else as its description has it."""
    told = machine.placement if file is None else _read(Path(file), machine.name)
    found = Layout(
        machine.nodes,
        machine.chips_per_node,
        machine.cores_per_chip,
        processors=machine.active_cores,
        group_chips=1 if machine.hypervisor.policy == "phyp" else machine.chips_per_node,
    )
    if told is None:
        return found
    group, count, drawer, filled = (
        told.group_chips,
        told.processors,
        told.drawer_nodes,
        told.nodes,
    )
    return replace(
        found,
        processors=found.processors if count is None else count.value,
        group_chips=found.group_chips if group is None else min(group.value, found.chips_per_node),
        memory=told.memory.value,
        drawer_nodes=1 if drawer is None else drawer.value,
        filled_nodes=None if filled is None else min(filled.value, found.nodes),
        speed=1.0 if told.speed is None else told.speed.value,
        burst_ns=None if told.burst is None else told.burst.value,
        change=told.change,
    )


def _read(file: Path, name: str) -> Placement:
    """A layout of one's own; `CapabilityError` if it is of another machine."""
    told = validate(_LayoutFile, read_document(file, CapabilityError), CapabilityError)
    if told.machine != name:
        raise CapabilityError(
            f"{file} is the layout of {told.machine}, not of {name}",
            next_step="name a layout of this machine, or leave it out",
        )
    return told
