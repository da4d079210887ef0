"""Which partition goes to which machine, so that the fullest machine is as little full as it can
be.

The placement core minds sums at moments, a machine's peak is a percentile over thousands of them.
So it is asked with a few moments, the machines of its answer are looked at over all of them, and
where one peaks elsewhere that moment is added and it is asked again.
"""

from __future__ import annotations

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

    def first(self, count: int) -> Room:
        """So many machines, the last one as often as it takes."""
        places = [min(at, len(self.cores) - 1) for at in range(count)]
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
    for turn in range(_ROUNDS):
        aim = least if turn == 0 else (least + best.level) / 2
        found = placed(loads, room, _asked(loads, room, best.at, sorted(moments), aim, seed + turn))
        if _key(found) < _key(best):
            best = found
        moments |= _more(loads, room, found, rank, aim)
        if best.fits and best.level <= least + _NEAR:
            break
    return best


def _key(one: Placing) -> tuple[float, float]:
    """Memory must fit first; then the fullest machine counts."""
    return (max(1.0, one.memory_level), one.level)


def _more(loads: Loads, room: Room, found: Placing, rank: int, aim: float) -> set[int]:
    """Moments at which machines peak that are fuller than aimed at."""
    over = np.flatnonzero(found.peaks / room.cores > aim + _NEAR)
    sums = (loads.use[found.at == number].sum(axis=0) for number in over)
    return {int(np.argpartition(row, rank)[rank]) for row in sums}


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
    """The least number of machines, the last of them as often as it takes, that hold all; None if
    not even `most` do.
    """
    together = max((len(group) for group in loads.apart), default=1)
    need = peak(loads.use.sum(axis=0), loads.percentile)
    for count in range(together, most + 1):
        some = room.first(count)
        if need > some.cores.sum() or loads.memory.sum() > some.memory.sum():
            continue
        if spread(loads, some, seed).fits:
            return count
    return None
