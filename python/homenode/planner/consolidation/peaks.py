"""Peaks: of each partition, of their sum, and when they are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from homenode.planner.consolidation.demand import Numbers
from homenode.planner.consolidation.grid import Flags, Grid, date_text, day_text


def peak(values: Numbers, percentile: float) -> float:
    """The least of the values that `percentile` per cent of them do not exceed (nearest rank).

    All count alike, however long ago: a month end is not forgotten.
    """
    return float(np.partition(values, rank := rank_of(len(values), percentile))[rank])


def rank_of(count: int, percentile: float) -> int:
    """Place of that percentile among so many values in ascending order, from 0."""
    return min(count - 1, max(0, math.ceil(percentile / 100 * count - 1e-9) - 1))


_MOST_BEYOND = 3


@dataclass(frozen=True)
class Hour:
    """An hour of a day."""

    day: str
    hour: int
    cores: float
    """Mean of all partitions together in it, in cores of the target."""


@dataclass(frozen=True)
class Peaks:
    """When and how much all partitions together use, in cores of the target."""

    percentile: float
    mean: float
    of_sums: float
    """Percentile of what they use at the same time: what they need together."""
    sum_of: float
    """Sum of the percentiles of each: what they would need on machines of their own."""
    largest: float
    """The most of all steps."""
    hours: tuple[Hour, ...]
    """The busiest hours, the busiest first."""
    by_hour: tuple[float | None, ...]
    """Percentile by hour of the day [0..23]; None where no step counts."""
    by_weekday: tuple[float | None, ...]
    """Percentile by day of the week, Monday first."""
    by_day: tuple[tuple[str, float], ...]
    """Date and percentile of each day that was recorded."""
    beyond: tuple[str, ...]
    """Days of the steps that use more than the percentile, the most steps first."""
    beyond_share: float
    """Share of those steps that are on these days."""


def peaks_of(grid: Grid, filled: Numbers, wanted: Flags, percentile: float, most: int = 5) -> Peaks:
    """Peaks of what is `wanted` of the steps; `filled` is the use of each with its gaps filled."""
    inside = filled[:, wanted]
    sums = inside.sum(axis=0)
    hours, days = grid.hours()[wanted], grid.weekdays()[wanted]
    high = peak(sums, percentile)
    days_beyond, share = _beyond(grid.dates()[wanted][sums > high])
    return Peaks(
        percentile=percentile,
        mean=float(sums.mean()),
        of_sums=high,
        sum_of=sum(peak(row, percentile) for row in inside),
        largest=float(sums.max()),
        hours=_busiest(grid, wanted, sums, most),
        by_day=_by_day(grid.dates()[wanted], sums, percentile),
        beyond=days_beyond,
        beyond_share=share,
        by_hour=tuple(_peak_where(sums, hours == hour, percentile) for hour in range(24)),
        by_weekday=tuple(_peak_where(sums, days == day, percentile) for day in range(7)),
    )


def _peak_where(sums: Numbers, where: Flags, percentile: float) -> float | None:
    return peak(sums[where], percentile) if where.any() else None


def _by_day(
    dates: NDArray[np.int64], sums: Numbers, percentile: float
) -> tuple[tuple[str, float], ...]:
    found, starts = np.unique(dates, return_index=True)
    days = zip(found, np.split(sums, starts[1:]), strict=True)
    return tuple((date_text(day), peak(steps, percentile)) for day, steps in days)


def _beyond(days: NDArray[np.int64]) -> tuple[tuple[str, ...], float]:
    """The days that most of these steps are on, and the share of them that is."""
    if not len(days):
        return (), 0.0
    found, counts = np.unique(days, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_MOST_BEYOND]
    return tuple(day_text(found[at]) for at in order), float(counts[order].sum() / len(days))


def _busiest(grid: Grid, wanted: Flags, sums: Numbers, most: int) -> tuple[Hour, ...]:
    """Hours by the mean of their steps."""
    local = grid.local()[wanted] // 3600
    hours, places = np.unique(local, return_inverse=True)
    means = np.bincount(places, sums) / np.bincount(places)
    order = np.argsort(-means, kind="stable")[:most]
    return tuple(
        Hour(day_text(int(hours[at]) // 24), int(hours[at]) % 24, float(means[at])) for at in order
    )
