"""What else a placement holds: a machine or a node lost, and more partitions of the same kind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from homenode.planner.consolidation.peaks import peak, rank_of
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
    at, peaks = now.at.copy(), now.peaks.copy()
    memory = np.bincount(at, loads.memory, minlength=len(peaks))
    orphans = np.flatnonzero(at == lost)
    own = np.array([peak(loads.use[one], loads.percentile) for one in orphans])
    moves: dict[int, int] = {}
    for one in (int(orphans[place]) for place in np.argsort(-own, kind="stable")):
        others = _distinct(room, at, lost)
        free = [number for number in others if not _is_apart(loads, at, one, number)] or others
        then = {number: _peak_with(loads, at, one, number) for number in free}
        short = {
            number: max(0.0, memory[number] + loads.memory[one] - room.memory[number])
            for number in free
        }
        best = min(
            free, key=lambda number: (short[number], then[number] - room.cores[number], number)
        )
        moves[one], at[one], peaks[best] = best, best, then[best]
        memory[best] += loads.memory[one]
    others = [number for number in range(len(peaks)) if number != lost]
    least = float((room.cores - peaks)[others].min())
    enough = bool((memory <= room.memory)[others].all())
    return Lost(lost, least, least >= -1e-9 and enough, moves)


def _distinct(room: Room, at: NDArray[np.int64], lost: int) -> list[int]:
    """The machines but the lost one; of empty ones of a kind only the first."""
    used = set(at.tolist())
    found: dict[tuple[float, float] | int, int] = {}
    for number, kind in enumerate(zip(room.cores.tolist(), room.memory.tolist(), strict=True)):
        if number != lost:
            found.setdefault(number if number in used else kind, number)
    return list(found.values())


def _peak_with(loads: Loads, at: NDArray[np.int64], one: int, machine: int) -> float:
    sums = loads.use[at == machine].sum(axis=0) + loads.use[one]
    return peak(sums, loads.percentile)


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
    kinds = zip(room.cores.tolist(), room.memory.tolist(), strict=True)
    used, fit = set(now.at.tolist()), 0
    empty: dict[tuple[float, float], int] = {}
    for number, kind in enumerate(kinds):
        if number in used:
            fit += _copies(loads, room, now, one, number)
            continue
        if kind not in empty:
            empty[kind] = _copies(loads, room, now, one, number)
        fit += empty[kind]
    return min(MOST_COPIES, fit)


def _copies(loads: Loads, room: Room, now: Placing, one: int, machine: int) -> int:
    """Each step has room for so many; the percentile forgives those that have the least."""
    mine = now.at == machine
    free = room.memory[machine] - loads.memory[mine].sum()
    most = float(MOST_COPIES)
    if loads.memory[one] > 0:
        most = max(0.0, min(most, free / loads.memory[one] + 1e-9))
    own = loads.use[one]
    spare = room.cores[machine] + 1e-9 - loads.use[mine].sum(axis=0)
    fit = np.where(spare < 0, 0.0, most)
    fit[own > 0] = np.clip(spare[own > 0] / own[own > 0], 0.0, most)
    steps = len(own)
    forgiven = steps - 1 - rank_of(steps, loads.percentile)
    return int(np.partition(fit, forgiven)[forgiven])
