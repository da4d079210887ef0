"""How demand grows, and how many days are left: linear and compound, with bands."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from homenode.errors import InputError
from homenode.planner.consolidation.demand import Numbers
from homenode.planner.consolidation.grid import Flags, Grid
from homenode.planner.consolidation.peaks import peak

LEAST_DAYS = 14
"""Fewer days tell no growth: two weeks are needed to tell one from the days of the week."""
HORIZON_DAYS = 365
"""How far ahead is told."""
_LEAST_TOLD = 0.8
"""Share of a usual day's steps without which a day does not count."""
_MONTH = 365.25 / 12
_SAID = re.compile(r"(?P<value>[+-]?\d+(\.\d+)?)\s*(?P<unit>%|cores?)\s*/\s*(?P<per>month|year)")


@dataclass(frozen=True)
class Trend:
    """One way to grow; `low` and `high` bound it with 95 % confidence."""

    kind: str
    """`linear` (cores a month) or `compound` (share a month)."""
    rate: float
    """A month: cores, or a share of what it was."""
    low: float
    high: float

    def days_to(self, now: float, most: float, rate: float | None = None) -> float:
        """Days until what is now `now` cores reaches `most`; infinite if it never does."""
        rate = self.rate if rate is None else rate
        if now >= most:
            return 0.0
        if rate <= 0:
            return math.inf
        months = (most - now) / rate if self.kind == "linear" else _doublings(now, most, rate)
        return months * _MONTH

    def at(self, now: float, days: float) -> float:
        """Cores after so many days."""
        months = days / _MONTH
        return (
            now + self.rate * months if self.kind == "linear" else now * (1 + self.rate) ** months
        )


def _doublings(now: float, most: float, rate: float) -> float:
    return math.log(most / now) / math.log1p(rate) if now > 0 else math.inf


@dataclass(frozen=True)
class Growth:
    """How demand grows, as recorded or as said."""

    trends: tuple[Trend, ...]
    why: str
    """Where it is from; of none, why nothing is told."""


@dataclass(frozen=True)
class DaysLeft:
    """Days until the machines are full by one trend, from the end of the recordings on."""

    trend: Trend
    days: float
    earliest: float
    """By the fast end of its band."""
    latest: float


def said(text: str) -> Growth:
    """A growth that someone says: `2%/month`, `20 %/year`, `0.5 cores/month`."""
    match = _SAID.fullmatch(text.strip().lower())
    if match is None or (match["unit"] == "%" and float(match["value"]) <= -100):
        raise InputError(
            f"--growth {text} is no growth", next_step="write it like 2%/month or 0.5 cores/year"
        )
    months = 1 if match["per"] == "month" else 12
    value = float(match["value"])
    if match["unit"] == "%":
        rate = (1 + value / 100) ** (1 / months) - 1
        trend = Trend("compound", rate, rate, rate)
    else:
        trend = Trend("linear", value / months, value / months, value / months)
    return Growth((trend,), "as said with --growth")


def recorded_growth(grid: Grid, sums: Numbers, wanted: Flags, percentile: float) -> Growth:
    """The trends of the daily peaks, fitted by least squares.

    `sums` is what all use in each step. Days follow each other, so the band of a slope is widened
    by what neighbouring days have in common (first-order autocorrelation: with r of it, n days
    tell as much as n (1 - r) / (1 + r) of them would if they were independent).
    """
    days, peaks = _daily(grid, sums, wanted, percentile)
    span = 0 if not len(days) else int(days[-1] - days[0]) + 1
    if span < LEAST_DAYS or len(days) < LEAST_DAYS / 2:
        count = "1 day counts" if len(days) == 1 else f"{len(days)} days count"
        over = f", over {span}" if len(days) < span < LEAST_DAYS else ""
        why = f"{count}{over}; growth is told from {LEAST_DAYS} days on"
        return Growth((), f"{why} (--growth says one)")
    months = (days - days.mean()) / _MONTH
    slope, half = _slope(months, peaks)
    trends = [Trend("linear", slope, slope - half, slope + half)]
    if (peaks > 0).all():
        slope, half = _slope(months, np.log(peaks))
        rates = (math.expm1(one) for one in (slope, slope - half, slope + half))
        trends.append(Trend("compound", *rates))
    return Growth(tuple(trends), f"from the peaks of {len(days)} days")


def _daily(grid: Grid, sums: Numbers, wanted: Flags, percentile: float) -> tuple[Numbers, Numbers]:
    """Days that are as good as whole, and the peak of each."""
    dates, inside = grid.dates()[wanted], sums[wanted]
    days, starts, counts = np.unique(dates, return_index=True, return_counts=True)
    whole = counts >= _LEAST_TOLD * np.median(counts)
    peaks = [
        peak(inside[start : start + count], percentile)
        for start, count, is_whole in zip(starts, counts, whole, strict=True)
        if is_whole
    ]
    return days[whole].astype(np.float64), np.array(peaks)


def _slope(months: Numbers, values: Numbers) -> tuple[float, float]:
    """Slope of the line through them, and half the width of its 95 % interval."""
    slope, intercept = np.polyfit(months, values, 1)
    left = values - (intercept + slope * months)
    alike = _autocorrelation(left)
    degrees = max(1.0, len(values) * (1 - alike) / (1 + alike) - 2)
    spread = float((left**2).sum()) / degrees / float((months**2).sum())
    return float(slope), float(stdtrit(degrees, 0.975)) * math.sqrt(spread)


def _autocorrelation(left: Numbers) -> float:
    """Of first order, not below 0 and not so near to 1 that nothing is left."""
    sum_of_squares = float((left**2).sum())
    if sum_of_squares <= 0:
        return 0.0
    return min(0.9, max(0.0, float((left[1:] * left[:-1]).sum()) / sum_of_squares))


def days_left(growth: Growth, now: float, most: float) -> tuple[DaysLeft, ...]:
    """By each trend, how long it takes from `now` cores to `most`."""
    return tuple(
        DaysLeft(
            trend,
            trend.days_to(now, most),
            trend.days_to(now, most, trend.high),
            trend.days_to(now, most, trend.low),
        )
        for trend in growth.trends
    )
