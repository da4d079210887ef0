"""The work that takes so many cores: corrected until it does.

Use rises with work, but not in proportion: threads that share a core slow each other, partitions
that share the machine too. So all partitions are played together, step by step, and each one's work
is changed by how much its use is off, along the slope (of logarithms) that its last two tries had.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev

from homenode.model.spec import PartitionSpec, Spec, machines_of
from homenode.simulate.settle.probe import Probe, Used

STEP_NS = 10_000_000_000
"""Simulated time for which a step is played in one try, at least."""
_LONGEST_NS = 30_000_000_000
_EDGE = 0.01
"""Of what is wanted, transactions that begin or end beyond a step may be so much."""
_EDGE_CORES = 0.2
"""Fewer cores than these are not looked at as closely."""
_TRIES = 9
_NEAR = 0.004
"""Deviation that is let be, as a share of the cores asked for."""
_NEAR_CORES = 0.002
_HELD = 0.02
"""Deviation beyond which the work was not found, unless chance makes as much."""
_HELD_CORES = 0.01
_CAUTION = 0.5
"""Share of the first guess that is tried first: too much work would pile up and be done in later
steps.
"""
_SLOPES = (0.3, 1.5)
_REACH = (0.4, 2.5)
"""Least and most by which work is multiplied between two tries."""
_MOVED = 0.1
"""Change of work below which its slope may be chance."""
_NEIGHBOURS = (0.05, 0.15)
"""If the last try is as near to what is wanted as the second, its word counts, and that of earlier
ones as near as the first: their mean has less chance in it.
"""
_RECENT = 5
"""Tries that are looked at: what neighbours did in older ones was something else."""
_ALIKE = 0.03
"""Tries of work so near to each other are repetitions."""
_SEVERAL = 4
"""Repetitions whose mean says more than the last one."""
_LATE = 0.02
"""Share of a step's transactions that are left at its end where work piles up."""
Cores = Mapping[str, Sequence[float]]
ProgressFn = Callable[[float], None]


@dataclass(frozen=True)
class Found:
    """Work, and what it took when it was played."""

    rates: dict[str, tuple[float, ...]]
    """By partition, step by step [instructions/s]."""
    used: dict[str, tuple[float, ...]]
    """Cores, in the mean of the tries of about this work."""
    off: dict[str, tuple[bool, ...]]
    """Whether that is something else than what was wanted, beyond chance."""

    def missed(self) -> dict[str, int]:
        """By partition, the first step that is off."""
        return {name: off.index(True) for name, off in self.off.items() if True in off}


def solve(spec: Spec, wanted: Cores, tell: ProgressFn) -> Found:
    """The work with which the partitions of a frozen scenario take the cores that are wanted.

    `wanted` has as many steps for each. It is found jointly: all steps that differ are played one
    after the other, those with less use first.
    """
    columns = list(zip(*wanted.values(), strict=True))
    steps = sorted(set(columns), key=lambda column: (sum(column), column))
    place = {column: number for number, column in enumerate(steps)}
    distinct = {name: tuple(step[row] for step in steps) for row, name in enumerate(wanted)}
    searches = _searched(spec, distinct, tell)
    order = [place[column] for column in columns]
    return Found(
        {name: tuple(found[at].rate for at in order) for name, found in searches.items()},
        {name: tuple(found[at].mean for at in order) for name, found in searches.items()},
        {name: tuple(found[at].is_off for at in order) for name, found in searches.items()},
    )


@dataclass
class _Search:
    """The work of one step of a partition, as far as it is known."""

    wanted: float
    """Cores, those that the guest takes for itself among them."""
    rate: float
    """Work that is tried next [instructions/s]."""
    idle: float = 0.0
    """Cores that the guest takes for itself."""
    slope: float = 1.0
    """Of use over work, in logarithms."""
    tries: list[tuple[float, float]] = field(default_factory=list)
    """Work and the cores that it took beyond the guest's own."""

    @property
    def more(self) -> float:
        """What the work is to take [cores]."""
        return max(0.0, self.wanted - self.idle)

    @property
    def is_near(self) -> bool:
        """Whether the last try took what is wanted, or several did in the mean, as far as work
        decides it.
        """
        near, alike = max(_NEAR_CORES, _NEAR * self.wanted), self._alike
        told = [self.tries[-1][1], *([fmean(alike)] if len(alike) >= _SEVERAL else [])]
        return self.more == 0.0 or any(abs(used - self.more) <= near for used in told)

    @property
    def _alike(self) -> list[float]:
        """Cores taken in tries of about the last one's work."""
        last = self.tries[-1][0]
        return [used for rate, used in self.tries if abs(rate - last) <= _ALIKE * last]

    @property
    def mean(self) -> float:
        """Cores taken by about this work."""
        return self.idle + fmean(self._alike)

    @property
    def is_off(self) -> bool:
        """Whether that is not what is wanted, beyond chance."""
        alike = self._alike
        chance = 3 * stdev(alike) / math.sqrt(len(alike)) if len(alike) > 1 else 0.0
        miss = abs(fmean(alike) - self.more)
        return self.more > 0.0 and miss > max(_HELD_CORES, _HELD * self.wanted, chance)

    def correct(self, *, late: bool) -> None:
        """Choose what is tried next; `late`: the last try left work at its end."""
        if self.more == 0.0:
            self.rate = 0.0
            return
        rate, used = self.tries[-1]
        self._learn_slope()
        narrow, wide = _NEIGHBOURS
        if abs(used / self.more - 1) <= wide and not late:
            before = self.tries[-_RECENT:-1]
            near = [one for one in before if abs(one[1] / self.more - 1) <= narrow]
            self.rate = math.exp(fmean(map(self._estimate, [*near, self.tries[-1]])))
            return
        low, high = _REACH
        ratio = math.exp(self._estimate((rate, max(used, 1e-6)))) / rate
        self.rate = rate * min(1.0 if late else high, max(low, ratio))

    def _estimate(self, tried: tuple[float, float]) -> float:
        """Logarithm of the work that would take what is wanted, by one try."""
        rate, used = tried
        return math.log(rate) + math.log(self.more / used) / self.slope

    def _learn_slope(self) -> None:
        """From the last two tries, if they are far enough from each other."""
        if len(self.tries) < 2:
            return
        (before, had), (now, has) = self.tries[-2:]
        moved = math.log(now / before)
        if abs(moved) > _MOVED and had > 0.0 and has > 0.0:
            self.slope = min(_SLOPES[1], max(_SLOPES[0], math.log(has / had) / moved))


def _searched(spec: Spec, wanted: Cores, tell: ProgressFn) -> dict[str, list[_Search]]:
    """The work of steps that all differ."""
    probe, guess, unit = Probe(spec, {}), _guesses(spec), _units(spec)
    step_ns = _step_ns(wanted, {name: unit[name] / guess[name] for name in wanted})
    searches = {
        name: [_Search(one, _CAUTION * guess[name] * one) for one in cores]
        for name, cores in wanted.items()
    }

    def play(attempt: int, before: Sequence[float]) -> dict[str, Used]:
        rates = {name: [*before, *(one.rate for one in found)] for name, found in searches.items()}
        return probe(rates, step_ns, attempt, lambda share: tell((attempt + share) / _TRIES))

    for attempt in range(_TRIES):
        got = play(attempt, [] if attempt else [0.0])  # the first with a step without work
        for name, found in searches.items():
            used, waiting = got[name].cores, got[name].waiting
            for one, cores in zip(found, used[-len(found) :], strict=True):
                one.idle = one.idle if attempt else used[0]
                one.tries.append((one.rate, max(0.0, cores - one.idle)))
            if attempt == _TRIES - 1:
                continue
            for one, left in zip(found, waiting[-len(found) :], strict=True):
                arrived = one.rate * step_ns / 1e9 / unit[name]
                if not one.is_near:
                    one.correct(late=left > max(20.0, _LATE * arrived))
        if all(one.is_near for found in searches.values() for one in found):
            break
    tell(1.0)
    return searches


def _step_ns(wanted: Cores, transaction_s: Mapping[str, float]) -> int:
    """For how long a step is played: what is done of transactions that begin before it or end after
    it must be little beside what is wanted. Raises `LongTransactionError` where that is too long.
    """
    longest = float(STEP_NS)
    for name, cores in wanted.items():
        for one in cores:
            edge_s = transaction_s[name] * math.sqrt(one + 1.0)
            step_ns = 1e9 * edge_s / (_EDGE * max(one, _EDGE_CORES))
            if one > 0.0 and step_ns > _LONGEST_NS:
                raise LongTransactionError(name, transaction_s[name])
            longest = max(longest, step_ns if one > 0.0 else 0.0)
    return math.ceil(longest)


class LongTransactionError(Exception):
    """Transactions so long that a day would have to be played to tell the cores they take."""

    def __init__(self, key: str, seconds: float) -> None:
        self.key = key
        self.seconds = seconds
        super().__init__(f"a transaction of {key} takes {seconds:.2g} s")


def _guesses(spec: Spec) -> dict[str, float]:
    """Work of a core, by who has it, as if its caches missed nothing [instructions/s]."""
    clock = spec["machine"]["clock_hz"]
    return {key: clock / one["profile"]["eicpi"] for key, one, _ in _all(spec)}


def _units(spec: Spec) -> dict[str, float]:
    """Instructions of a transaction, by whose it is."""
    return {key: instructions for key, _, instructions in _all(spec)}


def _all(spec: Spec) -> Iterator[tuple[str, PartitionSpec, float]]:
    """Partitions and virtual machines by their keys, with the instructions of a transaction."""
    for one in spec["partitions"]:
        name = one["name"]
        yield name, one, one["profile"]["instructions_per_unit"]
        for machine in machines_of(one):
            if "work" in machine:
                yield f"{name}/{machine['name']}", one, machine["work"]["instructions"]
