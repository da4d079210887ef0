"""Where partitions without a stated home are put, and which cores dedicated partitions get.

The rule is the published one of PowerVM (P. Heyrman, "How does Affinity affect Server
Performance"): partitions are taken in order of entitled capacity plus memory, the number of virtual
processors does not matter; the aim is one chip, then one node, then several nodes. What is not
published is which of several fitting places is taken: here the one with the most capacity left, the
first of equals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from homenode.model.catalog import MachineDescription


@dataclass(frozen=True)
class Wish:
    """What one partition needs: capacity, memory, and the chips it must be on, if stated."""

    cores: float
    memory_bytes: int
    dedicated: bool
    chips: tuple[int, ...] | None


@dataclass(frozen=True)
class Seat:
    """Where one partition is put: its home chips and, if dedicated, its cores; None for cores that
    are not to be had.
    """

    chips: tuple[int, ...]
    cores: tuple[int, ...] | None


class _Board:
    """What is left on every chip."""

    def __init__(self, machine: MachineDescription) -> None:
        self.machine = machine
        self.free_cores = [list(machine.active_cores_of(chip)) for chip in range(machine.chips)]
        self.capacity = [float(len(cores)) for cores in self.free_cores]
        each = machine.memory.maximum.value / machine.chips
        self.memory = [each] * machine.chips

    def take(self, wish: Wish, chips: Sequence[int]) -> None:
        """Book a partition's capacity and memory, evenly over its chips."""
        for chip in chips:
            self.capacity[chip] -= wish.cores / len(chips)
            self.memory[chip] -= wish.memory_bytes / len(chips)

    def take_cores(self, count: int, chips: Sequence[int]) -> tuple[int, ...] | None:
        """Whole cores of the given chips, in order; None if there are not enough."""
        found = [core for chip in chips for core in self.free_cores[chip]][:count]
        if len(found) < count:
            return None
        for core in found:
            self.free_cores[core // self.machine.cores_per_chip].remove(core)
        return tuple(found)

    def fits(self, wish: Wish, chips: Sequence[int]) -> bool:
        """Whether the chips together have room, and memory at all."""
        room = sum(self.capacity[chip] for chip in chips)
        memory = sum(self.memory[chip] for chip in chips)
        cores = sum(len(self.free_cores[chip]) for chip in chips)
        return (
            room >= wish.cores - 1e-9
            and memory >= wish.memory_bytes
            and (not wish.dedicated or cores >= wish.cores)
        )


def place(machine: MachineDescription, wishes: Sequence[Wish]) -> list[Seat]:
    """A seat for every wish, in the order of the wishes."""
    board = _Board(machine)
    seats: dict[int, Seat] = {}
    for index in sorted(range(len(wishes)), key=_order(machine, wishes)):
        wish = wishes[index]
        chips = wish.chips if wish.chips is not None else _choose(board, wish)
        cores = board.take_cores(round(wish.cores), chips) if wish.dedicated else None
        if cores is not None:
            chips = tuple(dict.fromkeys(core // machine.cores_per_chip for core in cores))
        board.take(wish, chips)
        seats[index] = Seat(tuple(chips), cores)
    return [seats[index] for index in range(len(wishes))]


def _order(
    machine: MachineDescription, wishes: Sequence[Wish]
) -> Callable[[int], tuple[bool, bool, float, int]]:
    """Stated places first, dedicated before shared, then by entitled capacity plus memory, each as
    a share of the machine.
    """

    def key(index: int) -> tuple[bool, bool, float, int]:
        wish = wishes[index]
        size = wish.cores / machine.active_cores + wish.memory_bytes / machine.memory.maximum.value
        return (wish.chips is None, not wish.dedicated, -size, index)

    return key


def _choose(board: _Board, wish: Wish) -> tuple[int, ...]:
    """One chip, else one node, else every chip, of those that have active cores."""
    machine = board.machine
    active = [chip for chip in range(machine.chips) if machine.active_cores_of(chip)]
    nodes: dict[int, list[int]] = {}
    for chip in active:
        nodes.setdefault(chip // machine.chips_per_node, []).append(chip)
    for groups in ([[chip] for chip in active], list(nodes.values())):
        fitting = [group for group in groups if board.fits(wish, group)]
        if fitting:
            return tuple(
                max(fitting, key=lambda group: sum(board.capacity[chip] for chip in group))
            )
    return tuple(active)
