"""What else a placement holds: a machine or a node lost, and more partitions of the same kind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from homenode.planner.consolidation.peaks import peak
from homenode.planner.consolidation.spread import Loads, Placing, Room

MOST_COPIES = 10_000
"""Beyond so many more of a partition none are counted."""


@dataclass(frozen=True)
class Lost:
    """A machine that is lost, or a node of it."""

    machine: int
    left: float
    """Cores that are left on the machine which is then fullest, in cores of the first target; below
    0, how many are short.
    """
    fits: bool
    """Whether cores and memory are enough."""
    moves: dict[int, int]
    """Where the lost machine's partitions go: machine by partition."""


def machine_lost(loads: Loads, room: Room, now: Placing) -> Lost | None:
    """The machine whose loss hurts most: its partitions start again on the others, the largest
    first, each where most is left; the others stay where they are. None with one machine.
    """
    count = len(room.cores)
    if count < 2:
        return None
    every = [_without(loads, room, now, number) for number in range(count)]
    return min(every, key=lambda one: (one.fits, one.left))


def _without(loads: Loads, room: Room, now: Placing, lost: int) -> Lost:
    others = [number for number in range(len(room.cores)) if number != lost]
    at = now.at.copy()
    orphans = np.flatnonzero(at == lost)
    own = [peak(loads.use[one], loads.percentile) for one in orphans]
    sums = {number: loads.use[at == number].sum(axis=0) for number in others}
    memory = {number: float(loads.memory[at == number].sum()) for number in others}
    moves: dict[int, int] = {}
    for one in (int(orphans[place]) for place in np.argsort(-np.array(own), kind="stable")):
        free = [number for number in others if not _is_apart(loads, at, one, number)] or others
        short = {
            number: max(0.0, memory[number] + loads.memory[one] - room.memory[number])
            for number in free
        }
        left = {
            number: room.cores[number] - peak(sums[number] + loads.use[one], loads.percentile)
            for number in free
        }
        best = min(free, key=lambda number: (short[number], -left[number], number))
        moves[one], at[one] = best, best
        sums[best] = sums[best] + loads.use[one]
        memory[best] += loads.memory[one]
    left_over = [room.cores[one] - peak(sums[one], loads.percentile) for one in others]
    short_of = any(memory[one] > room.memory[one] for one in others)
    least = float(min(left_over))
    return Lost(lost, least, least >= -1e-9 and not short_of, moves)


def _is_apart(loads: Loads, at: NDArray[np.int64], one: int, machine: int) -> bool:
    """Whether a partition that must be elsewhere is there."""
    return any(
        one in group and any(other != one and at[other] == machine for other in group)
        for group in loads.apart
    )


def node_lost(room: Room, now: Placing, nodes: NDArray[np.int64]) -> Lost | None:
    """The machine that the loss of one of its `nodes` hurts most; nobody moves. None where no
    machine has several.
    """
    left = {
        number: float(room.cores[number] * (1 - 1 / of) - now.peaks[number])
        for number, of in enumerate(nodes)
        if of > 1
    }
    if not left:
        return None
    worst = min(left, key=lambda number: left[number])
    return Lost(worst, left[worst], left[worst] >= -1e-9, {})


def how_many_more(loads: Loads, room: Room, now: Placing, one: int) -> int:
    """How many more partitions such as that one fit on what is left, the placement as it is."""
    every = (_copies(loads, room, now, one, number) for number in range(len(room.cores)))
    return min(MOST_COPIES, sum(every))


def _copies(loads: Loads, room: Room, now: Placing, one: int, machine: int) -> int:
    mine = now.at == machine
    sums, own = loads.use[mine].sum(axis=0), loads.use[one]
    free = room.memory[machine] - loads.memory[mine].sum()
    most = MOST_COPIES
    if loads.memory[one] > 0:
        most = max(0, min(most, int(free / loads.memory[one] + 1e-9)))
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if peak(sums + middle * own, loads.percentile) <= room.cores[machine] + 1e-9:
            low = middle
        else:
            high = middle - 1
    return low
