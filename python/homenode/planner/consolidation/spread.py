"""Which partition goes to which machine, so that the fullest machine is as little full as it can
be.

The placement core minds sums at moments, a machine's peak is a percentile over thousands of them.
So it is asked with a few moments, the machines of its answer are looked at over all of them, and
where one peaks elsewhere that moment is added and it is asked again. It cannot know which steps a
percentile forgives; so each answer is bettered by exchanges that are looked at over all moments.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from homenode.planner.consolidation.demand import Numbers
from homenode.planner.consolidation.peaks import peak, rank_of
from homenode.simulate.engine import load_engine

_ROUNDS = 8
_MOVES = 60_000
"""Of a search: what forty partitions on a few machines need many times over."""
_SEARCHES = 2
_UNIT = 1000
"""Thousandths of a core, and of a GiB: the core counts in integers."""
_MEMORY_WEIGHT = 1_000
"""Memory that is not there weighs more than cores that are not: cores are waited for."""
_NEAR = 1e-3
_SHAKES = 3
_SHAKEN = 3
_LOOKED_AT = 30_000_000
"""Partitions times steps that exchanges of one search may look at: a second or two."""


@dataclass(frozen=True)
class Loads:
    """What is to be placed, in cores of the first target."""

    use: Numbers
    """A row a partition, a column a step that counts; gaps are filled."""
    memory: Numbers
    """Of each partition [bytes]; 0 where it is not known."""
    apart: tuple[tuple[int, ...], ...] = ()
    """Partitions that must be on machines of their own."""
    percentile: float = 97.0


@dataclass(frozen=True)
class Room:
    """What machines give."""

    cores: Numbers
    """Of each that may be used, in cores of the first target."""
    memory: Numbers
    """Of each [bytes]."""

    def largest(self, count: int) -> Room:
        """So many machines, those of the most cores first, and after all of them the last that was
        named as often as it takes.
        """
        places = np.argsort(-self.cores, kind="stable")[:count]
        places = np.append(places, np.full(count - len(places), len(self.cores) - 1))
        return Room(self.cores[places], self.memory[places])


@dataclass(frozen=True)
class Placing:
    """Where each partition is, and how full that makes each machine."""

    at: NDArray[np.int64]
    peaks: Numbers
    """Percentile of what those on each machine use together, in cores of the first target."""
    level: float
    """The same as a share of the cores of the fullest machine."""
    memory_level: float
    """Share of the memory of the machine whose memory is fullest."""

    @property
    def fits(self) -> bool:
        """Whether no machine needs more than it has."""
        return self.level <= 1 + 1e-9 and self.memory_level <= 1 + 1e-9


@dataclass
class _Budget:
    """How many exchanges may still be looked at."""

    left: int


def placed(loads: Loads, room: Room, at: NDArray[np.int64]) -> Placing:
    """What comes of a placement."""
    count = len(room.cores)
    peaks = np.array([machine_peak(loads, at == number) for number in range(count)])
    memory = np.bincount(at, loads.memory, minlength=count)
    return Placing(
        at, peaks, float((peaks / room.cores).max()), float((memory / room.memory).max())
    )


def machine_peak(loads: Loads, mine: NDArray[np.bool_]) -> float:
    """Percentile of what these use together."""
    return peak(loads.use[mine].sum(axis=0), loads.percentile) if mine.any() else 0.0


def spread(loads: Loads, room: Room, seed: int) -> Placing:
    """The best placement found; the same for the same seed, however many threads there are."""
    best = placed(loads, room, _greedy(loads, room))
    if len(room.cores) == 1:
        return best
    rank = rank_of(loads.use.shape[1], loads.percentile)
    total = loads.use.sum(axis=0)
    moments = {int(np.argpartition(row, rank)[rank]) for row in (total, *loads.use)}
    least = peak(total, loads.percentile) / float(room.cores.sum())
    chance, budget = np.random.default_rng(seed), _Budget(_LOOKED_AT // loads.use.shape[1])
    for turn in range(_ROUNDS):
        if best.fits and best.level <= least + _NEAR:
            break
        aim = least if turn == 0 else (least + best.level) / 2
        found = placed(loads, room, _asked(loads, room, best.at, sorted(moments), aim, seed + turn))
        moments |= _more(loads, room, found, rank, aim)
        shaken = (_shaken(loads, room, best.at, chance) for _ in range(_SHAKES))
        others = (found, *(placed(loads, room, at) for at in shaken))
        best = min(best, *(_bettered(loads, room, one, budget) for one in others), key=_key)
    return best


def _key(one: Placing) -> tuple[float, float]:
    """Memory must fit first; then the fullest machine counts."""
    return (max(1.0, one.memory_level), one.level)


def _more(loads: Loads, room: Room, found: Placing, rank: int, aim: float) -> set[int]:
    """Moments at which machines peak that are fuller than aimed at."""
    over = np.flatnonzero(found.peaks / room.cores > aim + _NEAR)
    sums = (loads.use[found.at == number].sum(axis=0) for number in over)
    return {int(np.argpartition(row, rank)[rank]) for row in sums}


def _bettered(loads: Loads, room: Room, now: Placing, budget: _Budget) -> Placing:
    """The same, after exchanges that relieve the fullest machine for as long as there are any."""
    while budget.left > 0:
        order = np.argsort(now.peaks / room.cores, kind="stable")
        mine = np.flatnonzero(now.at == order[-1])
        for to, one in itertools.product(order[:-1], mine):
            partners = np.append(-1, np.flatnonzero(now.at == to))
            budget.left -= len(partners)
            at = _exchanged(loads, room, now, (int(one), int(to)), partners)
            if at is not None:
                now = placed(loads, room, at)
                break
            if budget.left <= 0:
                return now
        else:
            return now
    return now


def _shaken(
    loads: Loads, room: Room, at: NDArray[np.int64], chance: np.random.Generator
) -> NDArray[np.int64]:
    """A few partitions elsewhere, so that exchanges begin from another place."""
    shaken = at.copy()
    bound = {one for group in loads.apart for one in group}
    free = [one for one in range(len(at)) if one not in bound]
    for one in chance.permutation(free)[:_SHAKEN]:
        shaken[one] = chance.integers(len(room.cores))
    return shaken


def _exchanged(
    loads: Loads, room: Room, now: Placing, move: tuple[int, int], partners: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Where all are when one partition goes to a machine, and the partner comes back who makes most
    of it (-1 is nobody); None if that does not help.
    """
    one, to = move
    own = now.at[one]
    rank = rank_of(loads.use.shape[1], loads.percentile)
    given = loads.use[one] - np.where(partners[:, None] < 0, 0.0, loads.use[partners])
    heavier = loads.memory[one] - np.where(partners < 0, 0.0, loads.memory[partners])
    level, memory = np.zeros(len(partners)), np.zeros(len(partners))
    for machine, sign in ((own, -1), (to, 1)):
        there = now.at == machine
        sums = loads.use[there].sum(axis=0) + sign * given
        level = np.maximum(level, np.partition(sums, rank)[:, rank] / room.cores[machine])
        more = loads.memory[there].sum() + sign * heavier
        memory = np.maximum(memory, more / room.memory[machine])
    level[memory > max(1.0, now.memory_level)] = np.inf
    for place in np.argsort(level, kind="stable"):
        if level[place] >= now.level * (1 - 1e-6):
            break
        at = now.at.copy()
        if partners[place] >= 0:
            at[partners[place]] = own
        at[one] = to
        if all(len(set(at[list(group)])) == len(group) for group in loads.apart):
            return at
    return None


def _greedy(loads: Loads, room: Room) -> NDArray[np.int64]:
    """The largest first, each to the machine that it leaves least full."""
    at = np.full(len(loads.use), -1, dtype=np.int64)
    own = np.array([peak(row, loads.percentile) for row in loads.use])
    taken = np.zeros(len(room.cores))
    memory = np.zeros(len(room.cores))
    for one in np.lexsort((np.arange(len(own)), -own)):
        level = (taken + own[one]) / room.cores
        short = np.maximum(0.0, (memory + loads.memory[one]) / room.memory - 1)
        for group in loads.apart:
            if one in group:
                level[[at[other] for other in group if at[other] >= 0]] = np.inf
        best = int(np.lexsort((level, np.isinf(level), short))[0])
        if np.isinf(level[best]):
            best = int(np.argmin(level))
        at[one] = best
        taken[best] += own[one]
        memory[best] += loads.memory[one]
    return at


def _asked(
    loads: Loads,
    room: Room,
    start: NDArray[np.int64],
    moments: Sequence[int],
    aim: float,
    seed: int,
) -> NDArray[np.int64]:
    """What the placement core finds when each machine should be no fuller than `aim` at these
    moments.
    """
    partitions, machines = len(loads.use), len(room.cores)
    cores = np.rint(loads.use[:, moments] * _UNIT)
    memory = np.ceil(loads.memory / 2**30 * _UNIT)
    safety = np.column_stack(
        (np.repeat(room.cores[:, None] * aim * _UNIT, len(moments), axis=1),
         room.memory / 2**30 * _UNIT)
    )  # fmt: skip
    # What is too much costs, and is allowed: the answer then says how much is short.
    plenty = np.column_stack((cores, memory)).sum(axis=0) + safety.max(axis=0) + 1
    service = np.arange(partitions)
    for group in loads.apart:
        service[list(group)] = group[0]
    _, service = np.unique(service, return_inverse=True)
    numbers = np.arange(machines)
    columns = {
        "transient": np.zeros(len(moments) + 1),
        "load_weight": np.append(np.ones(len(moments)), _MEMORY_WEIGHT),
        "neighbourhood": np.zeros(machines),
        "location": numbers,
        "capacity": np.tile(plenty, machines),
        "safety": safety,
        "way": np.zeros(machines * machines),
        "spread": np.ones(int(service.max()) + 1),
        "service": service,
        "requirement": np.column_stack((cores, memory)),
        "move_cost": np.zeros(partitions),
        "weights": np.zeros(3),
        "start": start,
    }
    given = {
        name: np.ascontiguousarray(each, dtype=np.int64).ravel() for name, each in columns.items()
    }
    answer = load_engine().place(
        {**given, "needs": [], "balances": []},
        lambda _moves, _cost: 0.0,
        seed=seed,
        searches=_SEARCHES,
        threads=_SEARCHES,
        moves=_MOVES,
    )
    return np.array(answer["at"], dtype=np.int64)


def fewest(loads: Loads, room: Room, seed: int, most: int) -> int | None:
    """The least number of machines, the largest first and after all the last as often as it takes,
    that hold all; None if not even `most` do.
    """
    each = [peak(row, loads.percentile) for row in loads.use]
    if max(each) > room.cores.max() * (1 + 1e-9) or loads.memory.max() > room.memory.max():
        return None
    together = max((len(group) for group in loads.apart), default=1)
    need = peak(loads.use.sum(axis=0), loads.percentile)
    for count in range(together, most + 1):
        some = room.largest(count)
        if need > some.cores.sum() or loads.memory.sum() > some.memory.sum():
            continue
        if spread(loads, some, seed).fits:
            return count
    return None
