"""The place of one partition: contained in a chip if it can be, then in a node, then on as few
nodes as can be, nearest to each other; its memory beside its processors.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from homenode.model.scenario.placement.board import EPSILON, HALF_A_BYTE, Amounts, Board, Wish
from homenode.model.scenario.placement.pour import add, pour

_MOST_SETS = 1_000
"""Sets of nodes that are looked at; where there are more, nodes are taken by their room."""
_DIGITS = 9
"""Of equal rooms one may have other last digits: they are booked in another order."""


def fit(board: Board, wish: Wish) -> Amounts | None:
    """What the partition takes of chips and memory domains; None if cores of its own are not to be
    had.

    What exceeds the whole machine is spread over all of it: the sums are refused elsewhere.
    """
    for among in _neighbourhoods(board, wish):
        chip = _chip(board, wish, among)
        if chip is not None:
            domain = board.machine.domain_of(chip)
            return Amounts({chip: wish.cores}, {domain: float(wish.memory_bytes)})
        nodes = _nodes(board, wish, among)
        if nodes is not None:
            return _filled(board, wish, nodes)
    everything = range(board.machine.nodes)
    if wish.dedicated and board.room(wish, range(board.machine.chips))[0] < wish.cores:
        return None
    return _filled(board, wish, everything)


def _neighbourhoods(board: Board, wish: Wish) -> Iterator[Sequence[int]]:
    """Nodes among which a place is looked for, one after the other: first where its memory is
    stated to lie, most of it first.
    """
    if wish.lies:
        by_node: dict[int, int] = {}
        for domain, size in wish.lies.items():
            node = _node_of(board, domain)
            by_node[node] = by_node.get(node, 0) + size
        yield from ([node] for node in sorted(by_node, key=lambda node: (-by_node[node], node)))
        yield sorted(by_node)
    yield range(board.machine.nodes)


def _node_of(board: Board, domain: int) -> int:
    beside_nodes = board.machine.memory.beside == "node"
    return domain if beside_nodes else domain // board.machine.chips_per_node


def _chip(board: Board, wish: Wish, nodes: Sequence[int]) -> int | None:
    """The chip that holds all of it: where most of its stated memory is, then the fullest, then the
    one of the fullest node.
    """
    lies = wish.lies or {}
    active = (c for node in nodes for c in board.chips_of(node) if board.built[c])
    rooms = {
        chip: (-lies.get(board.domains[chip], 0), _whole(board, wish, [chip]))
        for chip in active
        if board.fits(wish, [chip])
    }
    best = min(rooms.values(), default=None)
    alike = [chip for chip, room in rooms.items() if room == best]
    if len(alike) < 2:
        return alike[0] if alike else None
    each = board.machine.chips_per_node
    of_node = {n: _whole(board, wish, board.chips_of(n)) for n in {chip // each for chip in alike}}
    return min(alike, key=lambda chip: (of_node[chip // each], chip))


def _whole(board: Board, wish: Wish, chips: Sequence[int]) -> float:
    """Which part of what chips have nobody has: of cores and of memory, together 2 if untouched.

    Not what would be left over: where a machine's active cores end, a chip or a node is smaller
    without being any fuller.
    """
    cores, memory = board.room(wish, chips)
    built = sum(board.built[chip] for chip in chips)
    of_cores = cores / built if built else 0.0
    return round(of_cores + memory / (board.each_domain * len(board.domains_of(chips))), _DIGITS)


def _nodes(board: Board, wish: Wish, among: Sequence[int]) -> tuple[int, ...] | None:
    """As few nodes as hold it together: the nearest to each other, then the fullest."""
    rooms = {node: board.room(wish, board.chips_of(node)) for node in among}
    most = [sorted((room[kind] for room in rooms.values()), reverse=True) for kind in (0, 1)]

    def fits(nodes: Sequence[int]) -> bool:
        return wish.is_held(*(math.fsum(rooms[node][kind] for node in nodes) for kind in (0, 1)))

    def key(nodes: tuple[int, ...]) -> tuple[float, float, tuple[int, ...]]:
        chips = [chip for node in nodes for chip in board.chips_of(node)]
        return (_apart(board, nodes), _whole(board, wish, chips), nodes)

    for count in range(1, len(among) + 1):
        if not wish.is_held(math.fsum(most[0][:count]), math.fsum(most[1][:count])):
            continue
        if math.comb(len(among), count) > _MOST_SETS:
            return _by_room(wish, rooms)
        found = min(filter(fits, itertools.combinations(among, count)), key=key, default=None)
        if found is not None:
            return found
    return None


def _by_room(wish: Wish, rooms: dict[int, tuple[float, float]]) -> tuple[int, ...]:
    """Nodes by their room until they hold it: those that hold most of what it needs first."""

    def share(node: int) -> float:
        cores, memory = rooms[node]
        of_cores = cores / wish.cores if wish.cores else 1.0
        return min(of_cores, memory / wish.memory_bytes if wish.memory_bytes else 1.0)

    taken: list[int] = []
    for node in sorted(rooms, key=lambda node: (-share(node), node)):
        taken.append(node)
        cores, memory = (math.fsum(rooms[one][kind] for one in taken) for kind in (0, 1))
        if wish.is_held(cores, memory):
            break
    return tuple(sorted(taken))


def _apart(board: Board, nodes: Sequence[int]) -> float:
    """How far nodes are from each other, all pairs together."""
    told = board.machine.node_distance
    if told is None:
        return 0.0
    pairs = itertools.combinations(nodes, 2)
    return round(math.fsum(told.value[one][other] for one, other in pairs), _DIGITS)


def _filled(board: Board, wish: Wish, nodes: Sequence[int]) -> Amounts:
    """Processors and memory together as far as both are there, on few nodes and few chips of these;
    then what is left of either.
    """
    amounts = Amounts({}, {})
    _pour_cores(board, wish, nodes, amounts.cores, together=True)
    for chip, cores in amounts.cores.items():
        beside = wish.memory_bytes * cores / wish.cores
        add(amounts.memory, {board.machine.domain_of(chip): beside})
    for among in (nodes, range(board.machine.nodes)):
        _pour_cores(board, wish, among, amounts.cores, together=False)
    _overbook(board, wish, amounts.cores)
    own = sorted({chip // board.machine.chips_per_node for chip in amounts.cores})
    for among in (own, nodes, range(board.machine.nodes)):
        _pour_memory(board, wish, among, amounts.memory)
    _overfill(board, wish, amounts)
    return amounts


def _pour_cores(
    board: Board, wish: Wish, nodes: Sequence[int], taken: dict[int, float], *, together: bool
) -> None:
    """What is missing of the cores, over nodes and in each over its chips; `together`: as far as
    their part of the memory is beside them.
    """
    missing = wish.cores - math.fsum(taken.values())
    if missing <= EPSILON:
        return
    rooms = {
        chip: board.cores_left(chip, wish) - taken.get(chip, 0.0)
        for node in nodes
        for chip in board.chips_of(node)
    }
    at_most = dict.fromkeys(nodes, missing)
    if together and wish.memory_bytes:
        each = wish.memory_bytes / wish.cores
        if board.machine.memory.beside == "node":
            at_most = {node: _cores_of(board.memory_left(node) / each, wish) for node in nodes}
        else:
            for chip, room in rooms.items():
                rooms[chip] = min(room, _cores_of(board.memory_left(chip) / each, wish))
    of_node = {node: {chip: rooms[chip] for chip in board.chips_of(node)} for node in nodes}
    by_node = {node: min(at_most[node], math.fsum(of_node[node].values())) for node in nodes}
    for node, amount in pour(missing, by_node, EPSILON).items():
        add(taken, pour(amount, of_node[node], EPSILON))


def _cores_of(cores: float, wish: Wish) -> float:
    return float(math.floor(cores + EPSILON)) if wish.dedicated else cores


def _overbook(board: Board, wish: Wish, taken: dict[int, float]) -> None:
    """Cores that are nowhere left, evenly over all; a partition that has none gets a home where
    most memory is left.
    """
    missing = wish.cores - math.fsum(taken.values())
    if missing > EPSILON:
        active = {chip: len(board.machine.active_cores_of(chip)) for chip in board.active_chips}
        total = sum(active.values())
        add(taken, {chip: missing * cores / total for chip, cores in active.items()})
    elif not taken:
        add(taken, {max(board.active_chips, key=lambda chip: _memory_beside(board, chip)): 0.0})


def _memory_beside(board: Board, chip: int) -> tuple[float, int]:
    return board.memory_left(board.machine.domain_of(chip)), -chip


def _pour_memory(board: Board, wish: Wish, nodes: Sequence[int], taken: dict[int, float]) -> None:
    """Memory that did not find room beside its processors."""
    missing = wish.memory_bytes - math.fsum(taken.values())
    if missing > HALF_A_BYTE:
        domains = board.domains_of(chip for node in nodes for chip in board.chips_of(node))
        left = {domain: board.memory_left(domain) - taken.get(domain, 0.0) for domain in domains}
        add(taken, pour(missing, left, HALF_A_BYTE))


def _overfill(board: Board, wish: Wish, amounts: Amounts) -> None:
    """Memory that is nowhere left, beside the processors."""
    missing = wish.memory_bytes - math.fsum(amounts.memory.values())
    if missing > HALF_A_BYTE:
        domains = board.domains_of(amounts.cores)
        add(amounts.memory, {domain: missing / len(domains) for domain in domains})
