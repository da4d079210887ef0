"""All partitions of a machine, each at its place."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from homenode.model.catalog import MachineDescription
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.scenario.placement.board import Amounts, Board, Wish
from homenode.model.scenario.placement.fit import fit
from homenode.model.scenario.placement.homes import homes_in_turn
from homenode.model.scenario.placement.pour import LOGICAL_BLOCK, add, in_blocks

Key = tuple[float, ...]
_LATEST: deque[tuple[MachineDescription, tuple[object, ...], list[Seat]]] = deque(maxlen=4)
"""What was placed last: points of a sweep wish the same again and again."""


@dataclass(frozen=True)
class Seat:
    """Where one partition is put."""

    chips: tuple[int, ...]
    """Its home: chips of its virtual processors in turn, or of its cores."""
    cores: tuple[int, ...] | None
    """Its own cores if it is dedicated; None for cores that are not to be had."""
    memory: dict[int, int]
    """Its memory that has no stated place, by domain [bytes]."""


def place(
    machine: MachineDescription, wishes: Sequence[Wish], *, largest_first: bool = True
) -> list[Seat]:
    """A seat for every wish, in the order of the wishes.

    Stated places are taken first. The others follow in order of entitled capacity plus memory, each
    as a share of the machine; or one after the other as they are listed, as partitions come that
    are activated while others run.
    """
    key = (*map(_key_of, wishes), largest_first)
    for known, wished, seats in _LATEST:
        if known is machine and wished == key:
            return seats
    seats = _placed(machine, wishes, largest_first=largest_first)
    _LATEST.append((machine, key, seats))
    return seats


def _key_of(wish: Wish) -> tuple[object, ...]:
    told = vars(wish).values()
    return tuple(tuple(one.items()) if isinstance(one, Mapping) else one for one in told)


def _placed(
    machine: MachineDescription, wishes: Sequence[Wish], *, largest_first: bool
) -> list[Seat]:
    in_order = _by_size(machine, wishes) if largest_first else _as_listed(wishes)
    if machine.hypervisor.policy in HOST_POLICIES:
        return _seats(Board(machine), wishes, in_order, _roomiest)
    seats = _seats(Board(machine), wishes, in_order, fit)
    if all(_has_cores(*pair) for pair in zip(wishes, seats, strict=True)):
        return seats
    # Parts of cores are everywhere and whole ones are missing: these first.
    return _seats(Board(machine, robs=True), wishes, _whole_first(wishes, in_order), fit)


def _has_cores(wish: Wish, seat: Seat) -> bool:
    return seat.cores is not None or not wish.dedicated or wish.chips is not None


def _by_size(machine: MachineDescription, wishes: Sequence[Wish]) -> Callable[[int], Key]:
    """Equal ones by what else tells them apart, and only then as they are listed."""

    def key(index: int) -> Key:
        wish = wishes[index]
        memory = wish.all_memory / machine.memory.maximum.value
        size = wish.cores / machine.active_cores + memory
        stated = wish.chips is None
        return (stated, -size, -wish.cores, not wish.dedicated, -wish.processors, index)

    return key


def _as_listed(wishes: Sequence[Wish]) -> Callable[[int], Key]:
    return lambda index: (wishes[index].chips is None, index)


def _whole_first(wishes: Sequence[Wish], in_order: Callable[[int], Key]) -> Callable[[int], Key]:
    def key(index: int) -> Key:
        stated, *rest = in_order(index)
        return (stated, not wishes[index].dedicated, *rest)

    return key


def _seats(
    board: Board,
    wishes: Sequence[Wish],
    in_order: Callable[[int], Key],
    choose: Callable[[Board, Wish], Amounts | None],
) -> list[Seat]:
    for wish in wishes:
        board.take(Amounts({}, dict(wish.lies or {})))
        board.take_these(wish.own or ())
    seats: dict[int, Seat] = {}
    for index in sorted(range(len(wishes)), key=in_order):
        wish = wishes[index]
        seats[index] = (
            _stated(board, wish) if wish.chips is not None else _chosen(board, wish, choose)
        )
    return [seats[index] for index in range(len(wishes))]


def _stated(board: Board, wish: Wish) -> Seat:
    """A home that the scenario states: its virtual processors and its memory evenly over its chips,
    its own cores from the first chip on.
    """
    chips = wish.chips or ()
    amounts = _even(board, wish, chips)
    cores = wish.own
    if wish.dedicated and cores is None:
        cores = board.take_cores(round(wish.cores), chips)
    if cores is not None:
        on_chips = Counter(core // board.machine.cores_per_chip for core in cores)
        amounts.cores = {chip: float(count) for chip, count in on_chips.items()}
    board.take(amounts)
    return Seat(tuple(amounts.cores), cores, in_blocks(amounts.memory, wish.memory_bytes, 1))


def _chosen(board: Board, wish: Wish, choose: Callable[[Board, Wish], Amounts | None]) -> Seat:
    amounts = choose(board, wish)
    if amounts is None:
        return Seat(tuple(board.active_chips), None, {})
    cores, chips = None, homes_in_turn(wish.processors, amounts.cores)
    if wish.dedicated:
        cores = _take(board, amounts)
        chips = chips if cores is None else _chips_of(cores, board.machine)
    board.take(amounts)
    block = 1 if choose is _roomiest else LOGICAL_BLOCK
    return Seat(chips, cores, in_blocks(amounts.memory, wish.memory_bytes, block))


def _take(board: Board, amounts: Amounts) -> tuple[int, ...] | None:
    """So many cores of each chip; None if a chip has not so many."""
    found: list[int] = []
    for chip, count in sorted(amounts.cores.items()):
        cores = board.take_cores(round(count), [chip])
        if cores is None:
            return None
        found += cores
    return tuple(found)


def _chips_of(cores: Sequence[int], machine: MachineDescription) -> tuple[int, ...]:
    return tuple(dict.fromkeys(core // machine.cores_per_chip for core in cores))


def _even(board: Board, wish: Wish, chips: Sequence[int]) -> Amounts:
    """Evenly over the entries of a list of chips, in which one may stand several times."""
    amounts = Amounts({}, {})
    for chip in chips:
        add(amounts.cores, {chip: wish.cores / len(chips)})
        add(amounts.memory, {board.machine.domain_of(chip): wish.memory_bytes / len(chips)})
    return amounts


def _roomiest(board: Board, wish: Wish) -> Amounts:
    """On a host: one chip, else one node, else every chip; of several the one with most capacity
    left, the first of equals. Its kernel balances: threads go where most is free.
    """
    active = board.active_chips
    nodes: dict[int, list[int]] = {}
    for chip in active:
        nodes.setdefault(chip // board.machine.chips_per_node, []).append(chip)
    for groups in ([[chip] for chip in active], list(nodes.values())):
        fitting = [group for group in groups if board.fits(wish, group)]
        if fitting:
            return _even(board, wish, max(fitting, key=lambda group: board.room(wish, group)[0]))
    return _even(board, wish, active)
