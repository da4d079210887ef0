"""Partitions held against each other by what their processors bring: larger against smaller, and
one large one against several small ones of as many processors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from homenode.errors import HomenodeError, listed
from homenode.model.catalog.capability_table import MOST_PROCESSORS, CapabilityTable, Factor

_MOST_COLUMNS = 12
_USUAL_PARTS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Size:
    """A partition of so many processors."""

    factor: Factor
    ratio: float
    """Its capability by that of the smallest in the comparison."""


@dataclass(frozen=True)
class Split:
    """So many partitions of equal size."""

    factor: Factor
    parts: int
    base: float
    """Capability of the fewest partitions in the comparison."""

    @property
    def capability(self) -> float:
        """Of all of them together [processors that are alone]."""
        return self.parts * self.factor.capability

    @property
    def advantage_pct(self) -> float:
        """Over the fewest partitions [percent]."""
        return 100.0 * (self.capability / self.base - 1.0)


def default_sizes(table: CapabilityTable) -> list[int]:
    """The points of a short table; powers of two as far as a long one goes."""
    points = [processors for processors in table.factors if processors > 1]
    if len(points) <= _MOST_COLUMNS:
        return points or [1]
    powers = [1 << power for power in range(table.largest.bit_length())]
    return [processors for processors in powers if processors in table.factors]


def default_parts(table: CapabilityTable, total: int, *, interpolate: bool = False) -> list[int]:
    """Of 1, 2, 4 and 8 partitions those that divide the processors and have a factor; 1 if none
    has.
    """
    there = range(1, table.largest + 1) if interpolate else table.factors
    return [n for n in _USUAL_PARTS if total % n == 0 and total // n in there] or [1]


def sizes(
    table: CapabilityTable, processors: Sequence[int], *, interpolate: bool = False
) -> list[Size]:
    """Partitions of these sizes, in rising order, against the smallest of them."""
    _some(processors, "sizes")
    found = [table.factor(n, interpolate=interpolate) for n in sorted(set(processors))]
    return [Size(factor, factor.capability / found[0].capability) for factor in found]


def splits(
    table: CapabilityTable, total: int, parts: Sequence[int], *, interpolate: bool = False
) -> list[Split]:
    """`total` processors as so many equal partitions each, against the fewest of them."""
    _some(parts, "parts")
    if not 1 <= total <= MOST_PROCESSORS:
        raise HomenodeError(
            f"{counted(total)} cannot be divided into partitions",
            next_step=f"ask for 1 to {MOST_PROCESSORS} processors",
        )
    for count in parts:
        if count < 1 or total % count:
            able = [str(n) for n in range(1, total + 1) if total % n == 0]
            raise HomenodeError(
                f"{counted(total)} cannot be made into {count} equal partitions",
                there=f"possible are {listed(able)}",
                next_step="leave it out of --parts, or name another --total",
            )
    found = [
        (count, table.factor(total // count, interpolate=interpolate))
        for count in sorted(set(parts))
    ]
    base = found[0][0] * found[0][1].capability
    return [Split(factor, count, base) for count, factor in found]


def counted(processors: int) -> str:
    """`1 processor`, `80 processors`."""
    return f"{processors} processor{'' if processors == 1 else 's'}"


def _some(numbers: Sequence[int], what: str) -> None:
    if not numbers:
        raise HomenodeError(f"no {what} are named", next_step=f"name {what}, such as 1,2,4")
