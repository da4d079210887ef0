"""Peaks: of each partition, of their sum, and when they are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from homenode.planner.consolidation.demand import Numbers
from homenode.planner.consolidation.grid import Flags, Grid, day_text


def peak(values: Numbers, percentile: float) -> float:
    """The least of the values that `percentile` per cent of them do not exceed (nearest rank).

    All count alike, however long ago: a month end is not forgotten.
    """
    return float(np.partition(values, rank := rank_of(len(values), percentile))[rank])


def rank_of(count: int, percentile: float) -> int:
    """Place of that percentile among so many values in ascending order, from 0."""
    return min(count - 1, max(0, math.ceil(percentile / 100 * count - 1e-9) - 1))


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

    @property
    def sharing(self) -> float:
        """Cores that are saved since not all peak at once."""
        return self.sum_of - self.of_sums


def peaks_of(grid: Grid, filled: Numbers, wanted: Flags, percentile: float, most: int = 5) -> Peaks:
    """Peaks of what is `wanted` of the steps; `filled` is the use of each with its gaps filled."""
    inside = filled[:, wanted]
    sums = inside.sum(axis=0)
    hours, days = grid.hours()[wanted], grid.weekdays()[wanted]
    return Peaks(
        percentile=percentile,
        mean=float(sums.mean()),
        of_sums=peak(sums, percentile),
        sum_of=sum(peak(row, percentile) for row in inside),
        largest=float(sums.max()),
        hours=_busiest(grid, wanted, sums, most),
        by_hour=tuple(_peak_where(sums, hours == hour, percentile) for hour in range(24)),
        by_weekday=tuple(_peak_where(sums, days == day, percentile) for day in range(7)),
    )


def _peak_where(sums: Numbers, where: Flags, percentile: float) -> float | None:
    return peak(sums[where], percentile) if where.any() else None


def _busiest(grid: Grid, wanted: Flags, sums: Numbers, most: int) -> tuple[Hour, ...]:
    """Hours by the mean of their steps."""
    local = grid.local()[wanted] // 3600
    hours, places = np.unique(local, return_inverse=True)
    means = np.bincount(places, sums) / np.bincount(places)
    order = np.argsort(-means, kind="stable")[:most]
    return tuple(
        Hour(day_text(int(hours[at]) // 24), int(hours[at]) % 24, float(means[at])) for at in order
    )
