"""What is left of a machine while partitions are placed on it, and what one of them wishes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from homenode.model.catalog import MachineDescription

EPSILON = 1e-9
"""Cores are added and taken away as floats: less than this is nothing."""
HALF_A_BYTE = 0.5
"""The same of memory, which is divided in floats too."""


@dataclass(frozen=True)
class Wish:
    """What one partition needs, and the places that the scenario states for it."""

    cores: float
    """Entitled capacity, or cores of its own."""
    memory_bytes: int
    """Memory that has no stated place."""
    dedicated: bool
    chips: tuple[int, ...] | None
    """Its home, if stated."""
    virtual: int = 0
    """Virtual processors; 0 is one for each begun core."""
    own: tuple[int, ...] | None = None
    """Its own cores, where they are not to be chosen; `chips` are theirs then."""
    lies: Mapping[int, int] | None = None
    """Bytes of its other memory by the domain where the scenario puts it."""

    @property
    def processors(self) -> int:
        """Processors that get a home."""
        return self.virtual or max(1, math.ceil(self.cores - EPSILON))

    @property
    def all_memory(self) -> int:
        """Its memory, wherever it lies [bytes]."""
        return self.memory_bytes + sum((self.lies or {}).values())

    def is_held(self, cores: float, memory: float) -> bool:
        """Whether so many cores and bytes are enough."""
        return cores >= self.cores - EPSILON and memory >= self.memory_bytes - HALF_A_BYTE


@dataclass
class Amounts:
    """What a partition takes of each chip and of each memory domain."""

    cores: dict[int, float]
    memory: dict[int, float]


class Board:
    """What is left on every chip and in every memory domain.

    `robs`: whether cores of one's own may be taken that the entitled capacity of others counts on.
    """

    def __init__(self, machine: MachineDescription, *, robs: bool = False) -> None:
        self.machine = machine
        self.robs = robs
        self.free_cores = [list(machine.active_cores_of(chip)) for chip in range(machine.chips)]
        self.built = [len(cores) for cores in self.free_cores]
        """Active cores of each chip."""
        self.capacity = [float(count) for count in self.built]
        self.domains = [machine.domain_of(chip) for chip in range(machine.chips)]
        """The memory domain beside each chip."""
        self.each_domain = machine.memory.maximum.value / machine.domains
        self.memory = [self.each_domain] * machine.domains

    @property
    def active_chips(self) -> list[int]:
        """Chips that have active cores."""
        return [chip for chip, cores in enumerate(self.built) if cores]

    def chips_of(self, node: int) -> range:
        """Chips of a node."""
        each = self.machine.chips_per_node
        return range(node * each, (node + 1) * each)

    def cores_left(self, chip: int, wish: Wish) -> float:
        """Capacity that a partition could have of a chip; whole cores if they are its own."""
        if not wish.dedicated:
            return max(self.capacity[chip], 0.0)
        free = len(self.free_cores[chip])
        return float(free if self.robs else max(min(free, _whole(self.capacity[chip])), 0))

    def memory_left(self, domain: int) -> float:
        """Bytes nobody has."""
        return max(self.memory[domain], 0.0)

    def domains_of(self, chips: Iterable[int]) -> list[int]:
        """The memory domains beside chips, each once."""
        return list(dict.fromkeys(self.domains[chip] for chip in chips))

    def room(self, wish: Wish, chips: Sequence[int]) -> tuple[float, float]:
        """Cores and bytes left on chips together."""
        cores = math.fsum(self.cores_left(chip, wish) for chip in chips)
        return cores, math.fsum(map(self.memory_left, self.domains_of(chips)))

    def fits(self, wish: Wish, chips: Sequence[int]) -> bool:
        """Whether chips together have room, and memory at all."""
        return wish.is_held(*self.room(wish, chips))

    def take(self, amounts: Amounts) -> None:
        """Book what a partition gets."""
        for chip, cores in amounts.cores.items():
            self.capacity[chip] -= cores
        for domain, size in amounts.memory.items():
            self.memory[domain] -= size

    def take_cores(self, count: int, chips: Sequence[int]) -> tuple[int, ...] | None:
        """Whole cores of the given chips, in order; None if there are not enough."""
        found = [core for chip in chips for core in self.free_cores[chip]][:count]
        if len(found) < count:
            return None
        self.take_these(found)
        return tuple(found)

    def take_these(self, cores: Iterable[int]) -> None:
        """Cores that are free."""
        for core in cores:
            self.free_cores[core // self.machine.cores_per_chip].remove(core)


def _whole(cores: float) -> int:
    return math.floor(cores + EPSILON)
