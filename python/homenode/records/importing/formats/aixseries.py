"""Reports over time as recorded use of a partition.

`physc` is taken where it is printed. Otherwise the shares of time that were busy are multiplied
with the cores of the partition: AIX charges a thread's share of its core, so that a core with one
busy thread of four counts as the part that this thread got; Linux counts busy logical processors.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from homenode.records.importing.facts import Quantity, Series
from homenode.records.importing.formats.aixfacts import counts_virtual, threads
from homenode.records.importing.shared.words import counted, number, whole

if TYPE_CHECKING:
    import polars as pl

Columns = Mapping[str, Sequence[float]]

_ASSUMED_INTERVAL = 1.0
_MOST_CORES = 1e5
"""More than any server has."""
_TOO_LONG = 2.0
"""So many intervals between two rows are a gap, not a long interval."""


@dataclass(frozen=True)
class ReportTable:
    """A table over time."""

    meta: Mapping[str, Any]
    lines: Sequence[float]
    times: Sequence[float]
    values: Columns
    configuration: Mapping[str, str]
    interval: int | None
    """Seconds between reports, of the command above them."""

    @property
    def report(self) -> str:
        """Tool and option: `mpstat -d`."""
        return str(self.meta["report"])

    @property
    def tool(self) -> str:
        """`lparstat`, `mpstat`, `sar`, `vmstat`."""
        return self.report.split()[0]


@dataclass
class Use:
    """Cores by row, and how they were found."""

    quantity: Quantity
    cores: list[float]
    states: dict[str, list[float]] = field(default_factory=dict)
    """`user`, `sys`, `wait`, `idle` [cores]."""
    note: str = ""
    doubt: str = ""
    """What had to be assumed."""


def tables_of(found: Mapping[str, Any], columns: Sequence[Sequence[bytes]]) -> list[ReportTable]:
    """The tables of a recording with their columns."""
    tables = []
    for meta, raw in zip(found["tables"], columns, strict=True):
        lines, times, *values = [array("d", column) for column in raw]
        index, command = meta["configuration"], meta["command"]
        configuration = {} if index is None else dict(found["configurations"][index]["values"])
        interval = None if command is None else found["commands"][command]["interval"]
        named = dict(zip(meta["columns"], values, strict=True))
        tables.append(ReportTable(meta, lines, times, named, configuration, interval))
    return tables


def use_of(table: ReportTable, smt: int | None, processors: int | None) -> Use | None:
    """Cores that a table tells of, row by row; none if it tells of none.

    `smt` and `processors` (logical ones) are of other reports of the same partition.
    """
    ent = number(table.configuration.get("ent", ""))
    printed = _printed(table, ent)
    if printed is not None:
        states = _states(table.values, printed, ent)
        return Use("physc", printed, states)
    if table.report == "lparstat -E" and "user" in table.values:
        busy = [u + s for u, s in zip(table.values["user"], table.values["sys"], strict=True)]
        return Use("used", busy, note="user and sys of lparstat -E, at the actual clock")
    return _of_shares(table, smt, processors)


def _printed(table: ReportTable, ent: float | None) -> list[float] | None:
    """Cores that stand in the report."""
    values, report = table.values, table.report
    for name in ("physc", "pc"):
        if name in values:
            return list(values[name])
    if report == "mpstat -s" and ent is not None:
        return [share / 100 for share in values["%"]]
    if report == "lparstat -m" and ent is not None and "%entc" in values:
        return [share / 100 * ent for share in values["%entc"]]
    return None


_NAMES = {
    "user": ("%user", "%usr", "us"),
    "sys": ("%sys", "%system", "sy#2", "sy"),
    "wait": ("%wait", "%wio", "%iowait", "wa", "wt"),
    "idle": ("%idle", "id"),
}


_BESIDE_BUSY = ("%nice", "%irq", "%soft", "%guest", "%gnice")
"""Shares that sysstat tells apart from user and system time where it prints them."""


def _shares(values: Columns) -> dict[str, Sequence[float]]:
    """Percentages by state."""
    found = {}
    for state, names in _NAMES.items():
        name = next((name for name in names if name in values), None)
        if name is not None and all(share == share for share in values[name]):
            found[state] = values[name]
    return found


def has_shares(table: ReportTable) -> bool:
    """Whether it tells shares of time, so that only the number of processors is missing."""
    return {"user", "sys"} <= _shares(table.values).keys()


def _states(values: Columns, cores: Sequence[float], ent: float | None) -> dict[str, list[float]]:
    """Cores by state: percentages are of the entitlement, or of physc where that is more."""
    if ent is None:
        return {}
    base = [max(core, ent) for core in cores]
    return {
        state: [share / 100 * of for share, of in zip(shares, base, strict=True)]
        for state, shares in _shares(values).items()
    }


def _of_shares(table: ReportTable, smt: int | None, processors: int | None) -> Use | None:
    """Busy shares times the cores that there are."""
    shares = _shares(table.values)
    logical = whole(table.configuration.get("lcpu", "")) or processors
    if not {"user", "sys"} <= shares.keys() or logical is None:
        return None
    per_core = threads(table.configuration) or smt
    linux = "swpd" in table.values or "%iowait" in table.values
    note = f"busy shares of {logical} logical processors"
    cores, doubt = float(logical), ""
    if counts_virtual(table.configuration):
        note = f"busy shares of {counted(logical, 'core')}"
    elif per_core is not None and not linux:
        cores = logical / per_core
        note = f"busy shares of {counted(round(cores), 'core')} of {counted(per_core, 'thread')}"
    elif not linux:
        doubt = (
            "threads a core are not told: every logical processor is taken for a core;"
            " give lparstat -i beside it"
        )
    beside = (table.values[name] for name in _BESIDE_BUSY if name in table.values)
    names = [shares["user"], shares["sys"], *beside]
    busy = [sum(row) / 100 * cores for row in zip(*names, strict=True)]
    states = {state: [share / 100 * cores for share in column] for state, column in shares.items()}
    return Use("used", busy, states, note, doubt)


@dataclass
class Timed:
    """Rows with their times, and what is to be said of them."""

    frame: pl.DataFrame
    dropped: int
    remarks: list[tuple[int, str]] = field(default_factory=list)


def timed(table: ReportTable, use: Use, after: float) -> Timed:
    """The rows of a table in the order of time, those later than `after` [s since 1970]."""
    remarks: list[tuple[int, str]] = []
    line = int(table.meta["line"])
    clocked = any(time == time for time in table.times)
    if clocked:
        ends, lengths = _by_clock(table, remarks)
        if not table.meta["dated"]:
            remarks.append((line, "no date is told: days count from 1970-01-01"))
    else:
        step = float(table.interval or _ASSUMED_INTERVAL)
        begin = max(after, 0.0)
        ends = [begin + step * (index + 1) for index in range(len(table.times))]
        lengths = [step] * len(ends)
        if table.interval is None:
            text = (
                "neither time nor interval is told: rows are taken as 1 s apart from 1970-01-01 on;"
                " write the command above its report (lparstat 5 12)"
            )
        else:
            text = "no time is told: rows count from 1970-01-01"
        remarks.append((line, text))
    return _kept(table, use, ends, lengths, after, remarks)


def _by_clock(
    table: ReportTable, remarks: list[tuple[int, str]]
) -> tuple[list[float], list[float]]:
    """Ends and lengths of the rows of a table with times."""
    times = list(table.times)
    steps = [later - one for one, later in pairwise(times) if later > one]
    usual = float(table.interval) if table.interval else median(steps) if steps else None
    start = table.meta["start"]
    before = float(start) if start is not None else float("nan")
    lengths, gaps = [], 0
    for time in times:
        step = time - before
        if not step > 0 and before != before:
            step = usual or _ASSUMED_INTERVAL
        if table.tool != "sar" and usual is not None and step > _TOO_LONG * usual:
            # A row of sar covers all time since the one before; others cover one interval.
            step, gaps = usual, gaps + 1
        lengths.append(step)
        before = time if time == time else before
    if gaps:
        line = int(table.meta["line"])
        remarks.append((line, f"the clock skips {gaps} times; nothing is known of the gaps"))
    return times, lengths


def _kept(
    table: ReportTable,
    use: Use,
    ends: Sequence[float],
    lengths: Sequence[float],
    after: float,
    remarks: list[tuple[int, str]],
) -> Timed:
    """Rows that are sound: later than the one before, with a length and cores of at least 0."""
    import polars as pl

    kept: list[int] = []
    last = after
    for index, (end, length, cores) in enumerate(zip(ends, lengths, use.cores, strict=True)):
        # Comparisons with what is no number are false.
        sound = 0 <= cores < _MOST_CORES
        if end > last and length > 0 and sound:
            kept.append(index)
            last = end
        elif len(remarks) < _MOST_REMARKS:
            why = "not later than the one before" if sound else "no number of cores"
            remarks.append((int(table.lines[index]), f"the row is left out: {why}"))
    columns: dict[str, pl.Series] = {
        "time": pl.Series([round(ends[i] * 1e6) for i in kept], dtype=pl.Datetime("us")),
        "seconds": pl.Series([lengths[i] for i in kept], dtype=pl.Float64),
        "cores": pl.Series([use.cores[i] for i in kept], dtype=pl.Float64),
        "line": pl.Series([int(table.lines[i]) for i in kept], dtype=pl.Int64),
    }
    for state, values in use.states.items():
        columns[state] = pl.Series([values[i] for i in kept], dtype=pl.Float64)
    return Timed(pl.DataFrame(columns), len(ends) - len(kept), remarks)


_MOST_REMARKS = 20


def series(partition: str, system: str | None, use: Use, frame: pl.DataFrame, file: str) -> Series:
    """A series of these rows."""
    return Series(partition, system, use.quantity, frame, file, use.note)
