"""Demands of all partitions on one grid of steps: what each used at the same time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
from numpy.typing import NDArray

from homenode.errors import listed
from homenode.planner.consolidation.demand import Demand, Numbers
from homenode.records.importing.opening.sources import ListingError, Notice

Flags = NDArray[np.bool_]
LEAST_COVERED = 0.5
"""Share of a step that must be recorded for it to count."""
_DAY_S = 86_400
_MOST_STEPS = 1_000_000
_USUAL_S = (60, 120, 300, 600, 900, 1200, 1800, 3600)
"""Lengths of a step that hours are made of."""
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class Grid:
    """A row a partition, a column a step."""

    begin: float
    """Of the first step [s since 1970 on the common clock]."""
    step_s: float
    cores: Numbers
    """Mean of each partition in each step; NaN where it was not recorded."""
    zone: str = "UTC"
    """In which hours and days are told and chosen."""

    @property
    def steps(self) -> int:
        """How many there are."""
        return int(self.cores.shape[1])

    @property
    def recorded(self) -> Flags:
        """Where a partition was recorded."""
        return ~np.isnan(self.cores)

    @property
    def days(self) -> float:
        """From the first step to the last."""
        return self.steps * self.step_s / _DAY_S

    def local(self) -> NDArray[np.int64]:
        """Start of each step on the clock of the zone [s since 1970 there]."""
        starts = np.rint((self.begin + np.arange(self.steps) * self.step_s) * 1e6)
        moments = pl.Series(starts.astype(np.int64)).cast(pl.Datetime("us", "UTC"))
        there = moments.dt.convert_time_zone(self.zone).dt.replace_time_zone(None)
        return there.dt.epoch("s").to_numpy()

    def moment(self, step: int) -> dt.datetime:
        """When a step begins, on the clock of the zone."""
        at = dt.datetime.fromtimestamp(round(self.begin + step * self.step_s), dt.UTC)
        return at.astimezone(ZoneInfo(self.zone))

    def hours(self) -> NDArray[np.int64]:
        """Hour of the day of each step [0..23]."""
        return self.local() % _DAY_S // 3600

    def weekdays(self) -> NDArray[np.int64]:
        """Day of the week of each step, 0 for Monday."""
        return (self.local() // _DAY_S + 3) % 7

    def dates(self) -> NDArray[np.int64]:
        """Day of each step [days since 1970]."""
        return self.local() // _DAY_S


def weekday(number: int) -> str:
    """What a day of the week is called."""
    return _WEEK[number]


def day_text(number: int) -> str:
    """A day as people write it, such as Wednesday 2026-09-30."""
    return f"{weekday((number + 3) % 7)} {date_text(number)}"


def date_text(number: int) -> str:
    """A day as programs write it, such as 2026-09-30."""
    return (dt.date(1970, 1, 1) + dt.timedelta(days=int(number))).isoformat()


def on_one_grid(
    found: Sequence[Demand], step_s: float | None, zone: str, notices: list[Notice]
) -> Grid:
    """All demands by steps of one length, `step_s` or the usual one of the recordings.

    A sample is spread evenly over the steps that it covers; a step of which less than half was
    recorded is a gap.
    """
    length = float(_usual(found) if step_s is None else step_s)
    first = min(float(one.starts[0]) for one in found)
    last = max(float(one.ends[-1]) for one in found)
    begin = np.floor(first / length) * length
    count = int(np.ceil((last - begin) / length - 1e-6))
    if count > _MOST_STEPS:
        raise ListingError(
            f"the recordings reach over {(last - first) / _DAY_S:,.0f} days, {count:,} steps of"
            f" {length:g} s",
            next_step="give recordings of the same months together, or name a longer --step",
        )
    edges = begin + np.arange(max(1, count) + 1) * length
    rows = np.array([_means(one, edges) for one in found])
    coarse = [one.name for one in found if one.sample_s > 1.5 * length]
    if coarse:
        text = f"{listed(coarse, 4)}: recorded in longer samples than {length:g} s"
        notices.append(Notice(f"{text}; peaks within them are not known"))
    return Grid(float(begin), length, rows, zone)


def _usual(found: Sequence[Demand]) -> int:
    """The length of most recordings' samples, as one that hours are made of, 5 minutes at least."""
    length = max(300.0, float(np.median([one.sample_s for one in found])))
    return next((usual for usual in _USUAL_S if usual > 0.9 * length), _USUAL_S[-1])


def _means(one: Demand, edges: Numbers) -> Numbers:
    """Mean of each step: differences of what was used up to each edge."""
    seconds = one.ends - one.starts
    at = np.column_stack((one.starts, one.ends)).ravel()
    told = np.column_stack((np.zeros_like(seconds), seconds)).ravel().cumsum()
    used = np.column_stack((np.zeros_like(seconds), seconds * one.cores)).ravel().cumsum()
    covered = np.diff(np.interp(edges, at, told))
    amount = np.diff(np.interp(edges, at, used))
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.maximum(amount, 0.0) / covered
    means[covered < LEAST_COVERED * np.diff(edges)] = np.nan
    return np.asarray(means, dtype=np.float64)


def chosen(grid: Grid, hours: tuple[int, int] | None, days: frozenset[int] | None) -> Flags:
    """Which steps are of the business hours, from the first hour up to before the second (over
    midnight too), and of the days of the week [0 is Monday]; all of them without.
    """
    wanted = np.ones(grid.steps, dtype=bool)
    if hours is not None:
        first, end = hours
        hour = grid.hours()
        inside = (hour >= first, hour < end)
        wanted &= inside[0] & inside[1] if first < end else inside[0] | inside[1]
    if days is not None:
        wanted &= np.isin(grid.weekdays(), sorted(days))
    return wanted


def scaled(grid: Grid, factors: Numbers) -> Grid:
    """The same in other cores: each partition's use times its factor."""
    return replace(grid, cores=grid.cores * factors[:, None])
