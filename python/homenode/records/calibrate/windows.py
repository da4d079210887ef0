"""Windows of an imported recording, each with what is known of it, and their groups: what was
recorded under different work or different placement are different conditions.

Windows are put together by what is known beside the cores, never by the cores themselves, so that
chance in these makes no difference between groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from homenode.model.estimate import mean_of
from homenode.records.calibrate.levels import Levels
from homenode.records.calibrate.model import mean_error

_GROUPS = 3
_LEAST = 8
"""Windows of a group, so that there are two stretches and more to see their error."""
_APART = 1.5
"""Upper third over lower third, from which on a figure makes conditions."""
_DIGITS = (0.01, 0.001, 0.0001)
"""Of cores, as tools print them."""
_WHOLE = 1e-6
_LEAST_SHARE = 0.005
"""Of threads, below which a difference is the last digit of what is printed."""


@dataclass(frozen=True)
class Window:
    """A stretch of recorded time."""

    cores: float
    """Used, in the mean."""
    seconds: float
    rate: float
    """Units of work [1/s]."""
    cpi: float | None = None
    levels: Levels | None = None


@dataclass(frozen=True)
class Group:
    """Windows that count as one condition, in the order of time."""

    title: str
    """What they have in common; empty where all are together."""
    windows: tuple[Window, ...]

    @property
    def rate(self) -> float:
        """Units of work [1/s]."""
        return _weighted(self.windows, lambda one: one.rate)

    @property
    def cores(self) -> float:
        """Used, in the mean."""
        return _weighted(self.windows, lambda one: one.cores)


def _weighted(windows: Sequence[Window], of: Callable[[Window], float]) -> float:
    seconds = math.fsum(one.seconds for one in windows)
    return math.fsum(of(one) * one.seconds for one in windows) / seconds


def groups(windows: Sequence[Window]) -> tuple[Group, ...]:
    """By what differs most usefully: threads moved to other cores, threads away from home, work."""
    if len(windows) >= _GROUPS * _LEAST:
        keys: tuple[tuple[str, Callable[[Window], float | None], float], ...] = (
            ("threads moved to other cores", _moved, _LEAST_SHARE),
            ("threads away from home", _away, _LEAST_SHARE),
            ("work", lambda one: one.rate, 0.0),
        )
        for words, key, least in keys:
            found = _split(windows, words, key, least)
            if found:
                return found
    return (Group("", tuple(windows)),)


def _moved(one: Window) -> float | None:
    return None if one.levels is None else one.levels.moved


def _away(one: Window) -> float | None:
    return None if one.levels is None else one.levels.away


def _split(
    windows: Sequence[Window], words: str, key: Callable[[Window], float | None], least: float
) -> tuple[Group, ...]:
    """Thirds by a figure, least first; none where it is not known everywhere or hardly differs."""
    values = [key(one) for one in windows]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return ()
    order = sorted(range(len(known)), key=lambda at: (known[at], at))
    ends = [len(order) * at // _GROUPS for at in range(_GROUPS + 1)]
    parts = [sorted(order[low:high]) for low, high in pairwise(ends)]
    means = [math.fsum(known[at] for at in part) / len(part) for part in parts]
    if means[-1] < _APART * means[0] or means[-1] - means[0] <= least:
        return ()
    names = ("least", "middling", "most")
    return tuple(
        Group(f"{name} {words}", tuple(windows[at] for at in part))
        for name, part in zip(names, parts, strict=True)
    )


def per_unit(windows: Sequence[Window]) -> tuple[float, float]:
    """Core seconds a unit of work, idle windows too, and its standard error as a share of it.

    Windows follow from one another; their error is that of stretches of them, some square root of
    their number. What was printed with few digits is not known better than these.
    """
    work = math.fsum(one.rate * one.seconds for one in windows)
    used = math.fsum(one.cores * one.seconds for one in windows)
    if not (work > 0 and used > 0):
        return 0.0, 0.0
    count = math.isqrt(len(windows))
    ends = [len(windows) * at // count for at in range(count + 1)]
    stretches = [windows[low:high] for low, high in pairwise(ends)]
    each = [
        math.fsum(one.cores * one.seconds for one in part) / done
        for part in stretches
        if (done := math.fsum(one.rate * one.seconds for one in part)) > 0
    ]
    _, error = mean_error(each)
    return used / work, math.hypot(error / (used / work), _rounding([one.cores for one in windows]))


def _rounding(values: Sequence[float]) -> float:
    """Standard error of a mean, as a share of it, for the last digit that is printed: anything in
    half of it to either side is as likely.
    """
    mean = mean_of(values)
    for digit in _DIGITS:
        if all(abs(value / digit - round(value / digit)) < _WHOLE for value in values):
            return digit / math.sqrt(12 * len(values)) / mean
    return 0.0


def mean_cpi(windows: Sequence[Window]) -> tuple[float, float] | None:
    """Cycles per instruction and its standard error as a share of it, every core second alike; None
    where it was not counted.
    """
    told = [(one.cpi, one.cores * one.seconds) for one in windows if one.cpi is not None]
    weight = math.fsum(used for _, used in told)
    if not weight > 0:
        return None
    # Cycles over instructions: instructions are cycles over cpi.
    mean = weight / math.fsum(used / cpi for cpi, used in told)
    count = math.isqrt(len(told))
    ends = [len(told) * at // count for at in range(count + 1)]
    parts = [told[low:high] for low, high in pairwise(ends)]
    each = [
        math.fsum(used for _, used in part) / math.fsum(used / cpi for cpi, used in part)
        for part in parts
        if math.fsum(used for _, used in part) > 0
    ]
    _, error = mean_error(each)
    return mean, error / mean
