"""What AIX's `mpstat -d` and `mpstat -a` tell beside use: how often threads were switched, and how
far from where they ran before they were dispatched again.

Counts of a report over time are those of its interval. A single report without an interval counts
since the system was started: its shares are means since then, its counts belong to no known time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from homenode.records.importing.facts import HOME_DISPATCHES, REDISPATCHES, SWITCHES, Affinity
from homenode.records.importing.formats.aixseries import ReportTable, Use, timed
from homenode.records.importing.shared.words import counted

if TYPE_CHECKING:
    import polars as pl

REPORTS = ("mpstat -d", "mpstat -a")
_HEADINGS = {name: name.replace("s", "S", 1) for name in (*REDISPATCHES, *HOME_DISPATCHES)}
_MOST_COUNT = 1e15
_NEAR_WHOLE = 0.01
"""Six percentages with one digit each are together 100 % within this."""


def tells_affinity(table: ReportTable) -> bool:
    """Whether a table has the columns."""
    needed = {"cs", *(_HEADINGS[name] for name in REDISPATCHES)}
    return table.report in REPORTS and needed <= table.values.keys()


def affinity_of(
    partition: str, system: str | None, tables: Sequence[ReportTable], file: str
) -> tuple[Affinity | None, int]:
    """All such tables of a partition as one, and how many rows were not sound. A single row without
    an interval stands for itself only where there is no row of an interval.
    """
    import polars as pl

    frames, dropped, last = [], 0, float("-inf")
    for table in sorted(tables, key=_is_over_time):
        done = timed(table, Use("used", [0.0] * len(table.lines)), last)
        dropped += done.dropped
        if not len(done.frame):
            continue
        last = done.frame["time"].to_physical()[-1] / 1e6
        every = _frame(table, done.frame)
        telling = every.filter(~_silent())
        frame = telling.filter(_sound())
        dropped += len(telling) - len(frame)
        frames.append(frame)
    together = pl.concat(frames) if frames else None
    if together is None or not len(together):
        return None, dropped
    over_time = together.filter(pl.col("seconds").is_not_nan())
    kept = over_time if len(over_time) else together.tail(1)
    return Affinity(partition, system, kept, file), dropped


def told(found: Affinity) -> str:
    """What it is, in words."""
    if found.since_start:
        return f"how far threads of {found.partition} were moved, in the mean of a time not told"
    count = counted(len(found.table), "sample")
    return f"{count} of how far threads of {found.partition} were moved"


def _is_over_time(table: ReportTable) -> tuple[bool, float]:
    """Those since the start first; those without a clock keep their order."""
    begin = next((time for time in table.times if time == time), 0.0)
    return (has_interval(table), begin)


def has_interval(table: ReportTable) -> bool:
    """Whether the length of its rows is told: by the command, or by clocks beside them."""
    clocks = {time for time in table.times if time == time}
    return bool(table.interval) or len(clocks) > 1


def _frame(table: ReportTable, rows: pl.DataFrame) -> pl.DataFrame:
    """Columns of the rows, shares as parts of one."""
    import polars as pl

    places = {int(line): index for index, line in enumerate(table.lines)}
    chosen = [places[int(line)] for line in rows["line"]]
    known = has_interval(table)
    frame = rows.select(
        "time", pl.col("seconds") if known else pl.lit(float("nan")).alias("seconds"), "line"
    )
    nothing = [float("nan")] * len(table.lines)
    columns = []
    for name in (*SWITCHES, *REDISPATCHES, *HOME_DISPATCHES):
        values = table.values.get(_HEADINGS.get(name, name), nothing)
        scale = 1.0 if name in SWITCHES else 0.01
        columns.append(pl.Series(name, [values[at] * scale for at in chosen], dtype=pl.Float64))
    return frame.with_columns(columns)


def _silent() -> pl.Expr:
    """Where nothing was dispatched again, all levels are printed `-`: that is no damage."""
    import polars as pl

    return pl.all_horizontal(pl.col(name).is_nan() for name in REDISPATCHES)


def _sound() -> pl.Expr:
    """Counts that are counts, shares that make a whole."""
    import polars as pl

    counts = pl.all_horizontal(
        (pl.col(name).is_nan() | pl.col(name).is_between(0, _MOST_COUNT)) for name in SWITCHES
    )
    shares = pl.all_horizontal(pl.col(name).is_between(0, 1) for name in REDISPATCHES)
    whole = (pl.sum_horizontal(*REDISPATCHES) - 1.0).abs() <= _NEAR_WHOLE
    return counts & shares & whole
