"""Figures that were recorded beside cores, put on the windows of a scenario."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homenode.records.importing.assemble.windows import Key, Windows
from homenode.records.importing.facts import (
    HOME_DISPATCHES,
    REDISPATCHES,
    Affinity,
    Facts,
    Series,
)
from homenode.records.importing.figures import NAMES, SINCE_START

if TYPE_CHECKING:
    import polars as pl

_MOST_COVERED = 0.5
"""Share of a window that must be recorded for a figure to count."""
_STATES = {"user": "user_cores", "sys": "sys_cores", "wait": "wait_cores", "rest": "idle_cores"}
_COUNTS = {
    "cs": "context_switches_per_s",
    "ics": "involuntary_switches_per_s",
    "vlcs": "vlcs_per_s",
    "ilcs": "ilcs_per_s",
}

Row = tuple[dt.datetime, float, float | None]
"""End, length [s] and value."""
Values = tuple[float | None, ...]
"""A value a window; none where it was not recorded."""


@dataclass(frozen=True)
class Told:
    """What is told of a partition beside its cores."""

    windows: Mapping[str, Values]
    """By name of the figure."""
    reports: Mapping[str, str]
    """Which report or section of which file told of each first."""
    since_start: Mapping[str, float]
    """Means since the recorded system was started, by name of the figure."""


@dataclass(frozen=True)
class _Span:
    """A value for a time [s since the beginning]."""

    start: float
    end: float
    value: float


def told_beside(facts: Facts, key: Key, windows: Windows) -> Told:
    """All figures of a partition; where two reports tell the same, the first counts in each window
    that it covers.
    """
    found: dict[str, list[float | None]] = {}
    reports: dict[str, str] = {}
    for name, report, spans in _spans(facts, key, windows.begin):
        values = _means(spans, windows)
        if all(value is None for value in values):
            continue
        reports.setdefault(name, report)
        before = found.setdefault(name, [None] * windows.count)
        found[name] = [new if old is None else old for old, new in zip(before, values, strict=True)]
    ordered = {name: tuple(found[name]) for name in NAMES if name in found}
    since: dict[str, float] = {}
    for one in facts.affinity:
        if (one.system, one.partition) == key and one.since_start:
            since |= _since_start(one)
    return Told(ordered, reports, since)


def by_window(table: pl.DataFrame, column: str, windows: Windows) -> Values:
    """A column of recorded rows (`time`, `seconds`), in the mean of each window."""
    rows = table.select("time", "seconds", column).iter_rows()
    return tuple(_means(_rows(rows, windows.begin), windows))


def mean_rate(facts: Facts, key: Key, name: str) -> float:
    """Mean of a figure over all rows of the first report that tells it; 0 where none does."""
    for one in facts.beside:
        if (one.system, one.partition) == key and name in one.table.columns:
            mean = one.table[name].mean()
            return float(mean) if isinstance(mean, float) else 0.0
    return 0.0


def columns(told: Told, count: int) -> dict[str, Values]:
    """The same by column of a table of demand."""
    constant = {
        f"{name}{SINCE_START}": (value,) * count for name, value in told.since_start.items()
    }
    return {**told.windows, **constant}


def _spans(facts: Facts, key: Key, begin: dt.datetime) -> Iterator[tuple[str, str, list[_Span]]]:
    """Name, report and values of each figure that is told over time."""
    for series in facts.series:
        if (series.system, series.partition) == key:
            table = _with_idle(series)
            for state, name in _STATES.items():
                if state in table.columns:
                    rows = table.select("time", "seconds", state).iter_rows()
                    yield name, series.file, _rows(rows, begin)
    for one in facts.beside:
        if (one.system, one.partition) == key:
            for name in one.table.columns:
                if name in NAMES:
                    table = one.table.select("time", "seconds", name)
                    yield name, f"{one.report} of {one.file}", _rows(table.iter_rows(), begin)


def _with_idle(series: Series) -> pl.DataFrame:
    """With what idle threads were charged of the cores it was on: what is left beside the other
    states. What tools print as idle holds the unused entitlement too.
    """
    import polars as pl

    states = [state for state in _STATES if state in series.table.columns]
    if series.quantity != "physc" or not {"user", "sys"} <= set(states):
        return series.table
    rest = pl.col("cores") - pl.sum_horizontal(states)
    return series.table.with_columns(rest.clip(lower_bound=0.0).alias("rest"))


def _rows(
    rows: Iterator[tuple[dt.datetime, float, float | None]], begin: dt.datetime
) -> list[_Span]:
    found = []
    for time, seconds, value in rows:
        if value is not None and value == value and seconds > 0:
            end = (time - begin).total_seconds()
            found.append(_Span(end - seconds, end, value))
    return found


def _means(spans: Sequence[_Span], windows: Windows) -> list[float | None]:
    """Of each window, by the time that each value holds; both are in the order of time."""
    found: list[float | None] = []
    first = 0
    for start, end, seconds in zip(windows.starts, windows.ends, windows.seconds, strict=True):
        while first < len(spans) and spans[first].end <= start:
            first += 1
        covered = total = 0.0
        for span in spans[first:]:
            if span.start >= end:
                break
            inside = min(span.end, end) - max(span.start, start)
            covered += max(0.0, inside)
            total += span.value * max(0.0, inside)
        known = covered >= _MOST_COVERED * seconds and covered > 0
        found.append(total / covered if known else None)
    return found


def _since_start(one: Affinity) -> dict[str, float]:
    """Shares, and rates where it is told for how long the system had been up."""
    row = one.table.row(0, named=True)
    found = {f"{level}_pct": 100 * row[level] for level in (*REDISPATCHES, *HOME_DISPATCHES)}
    if one.up_s:
        found |= {name: row[column] / one.up_s for column, name in _COUNTS.items()}
    return {name: found[name] for name in NAMES if name in found and found[name] == found[name]}
