"""What nmon records of a partition beside its cores: the sections `PROC`, `PCPU` and `TOP`.

Its figures are rates of the interval. nmon of Linux knows none in its first interval and writes 0,
nmon of AIX writes -1 for what its level does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from homenode.records.importing.figures import THREADS
from homenode.records.importing.shared.recorded import Clock, Recorded

if TYPE_CHECKING:
    import polars as pl

SECTIONS = ("PROC", "PCPU", "TOP")
_WRITERS = ("j2pg", "syncd")
"""Processes of AIX whose threads write files out: the pager of JFS2, and who wakes it."""
_PROC = {"context_switches_per_s": "pswitch", "runnable_threads": "Runnable"}
_UP = re.compile(r"\bup +(?:(\d+) +days?,? +)?(?:(\d+):(\d+)|(\d+) +hrs?|(\d+) +mins?)")
_DAY, _HOUR, _MINUTE = 86_400.0, 3_600.0, 60.0


def beside(
    found: Recorded, recording: int, clock: Clock, smt: int | None
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Sections with what they tell: `time`, `seconds` and figures."""
    processes = found.table(recording, "PROC")
    if processes is not None and _PROC["context_switches_per_s"] in processes.columns:
        yield "PROC", _timed(clock, _processes(processes))
    threads = found.table(recording, "PCPU")
    if threads is not None and smt is not None and {"cpu", "User", "Sys"} <= set(threads.columns):
        yield "PCPU", _timed(clock, _threads(threads, smt))


def writers(
    found: Recorded, recording: int, clock: Clock
) -> Iterator[tuple[str, int, int, pl.DataFrame]]:
    """Daemons of several threads that write files out: name, threads, line that told them first,
    and rows of `time`, `seconds`, `cores`. nmon of Linux tells no threads.
    """
    import polars as pl

    top = found.table(recording, "TOP")
    if top is None or not {"%CPU", "Threads", "Command"} <= set(top.columns):
        return
    for name in _WRITERS:
        own = top.filter(
            (pl.col("Command") == name) & (pl.col("%CPU") >= 0) & (pl.col("Threads") >= 1)
        )
        if own.is_empty():
            continue
        cores = own.group_by("snapshot").agg((pl.col("%CPU") / 100).sum().alias("cores"))
        table = clock.table.join(cores, on="snapshot", how="left").with_columns(
            pl.col("cores").fill_null(0.0)
        )
        most = own.sort("Threads", "line", descending=[True, False]).row(0, named=True)
        rows = table.sort("time").drop("snapshot")
        yield name, int(most["Threads"]), int(most["line"]), rows


def _timed(clock: Clock, rows: pl.DataFrame) -> pl.DataFrame:
    return (
        rows.unique("snapshot", keep="none")
        .join(clock.table, on="snapshot", how="inner")
        .sort("time")
        .drop("snapshot")
    )


def _processes(table: pl.DataFrame) -> pl.DataFrame:
    """Rates and lengths of queues; a rate of 0 is none that was counted."""
    import polars as pl

    rate, column = "context_switches_per_s", pl.col(_PROC["context_switches_per_s"])
    columns = [pl.when(column > 0).then(column).alias(rate)]
    queue = _PROC["runnable_threads"]
    if queue in table.columns:
        of = pl.col(queue)
        columns.append(pl.when(of >= 0).then(of).alias("runnable_threads"))
    return table.select("snapshot", *columns)


def _threads(table: pl.DataFrame, smt: int) -> pl.DataFrame:
    """User and kernel time of first, second, ... threads of the cores."""
    import polars as pl

    position = (pl.col("cpu") - 1) % smt
    busy = pl.col("User") + pl.col("Sys")
    return (
        table.filter(pl.col("cpu") >= 1)
        .group_by("snapshot", maintain_order=True)
        .agg(
            busy.filter(position == place).sum().alias(name)
            for place, name in enumerate(THREADS[:smt])
        )
    )


def up_seconds(lines: list[str]) -> float | None:
    """How long a system had been up, as `uptime` tells it; none if it does not."""
    for line in lines:
        told = _UP.search(line)
        if told:
            days, hours, minutes, whole, few = (float(part or 0) for part in told.groups())
            return days * _DAY + (hours + whole) * _HOUR + (minutes + few) * _MINUTE
    return None
