"""What reports of `lparstat`, `mpstat`, `vmstat` and `sar -w` tell beside use: switches of threads,
of logical CPUs and of virtual processors, and lengths of queues.

`lparstat` and `mpstat` of AIX count over their interval, so that a count without one belongs to no
known time; `vmstat` and `sar` tell rates. `lparstat` of Linux counts `vcsw` and `phint` since the
partition was started, so that differences of its rows count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from homenode.records.importing.figures import AT_HOME, REDISPATCHED
from homenode.records.importing.formats.aixaffinity import has_interval
from homenode.records.importing.formats.aixseries import ReportTable, Use, timed

if TYPE_CHECKING:
    import polars as pl

_SHARES = {name: name.removesuffix("_pct").replace("s", "S", 1) for name in REDISPATCHED + AT_HOME}
_COUNTS: Mapping[str, Mapping[str, str]] = {
    "lparstat": {"vcsw_per_s": "vcsw", "phint_per_s": "phint"},
    "mpstat": {
        "context_switches_per_s": "cs",
        "involuntary_switches_per_s": "ics",
        "vlcs_per_s": "vlcs",
        "ilcs_per_s": "ilcs",
    },
}
"""Headings of counts by the figure they tell."""
_PLAIN: Mapping[str, Mapping[str, str]] = {
    "lparstat": {"lbusy_pct": "lbusy"},
    "mpstat": {"runnable_threads": "rq", **_SHARES},
    "vmstat": {
        "context_switches_per_s": "cs",
        "interrupts_per_s": "in",
        "runnable_threads": "r",
    },
    "sar": {"context_switches_per_s": "cswch/s"},
}
"""Headings of what is told as it is."""
_MOST = 1e15


def tells_switches_only(table: ReportTable) -> bool:
    """Whether a report is of nothing but switches of threads."""
    return table.report == "sar -w"


def beside(
    tables: Sequence[ReportTable], is_linux: bool
) -> Iterator[tuple[str, list[pl.DataFrame]]]:
    """Reports of one partition with what they tell: `time`, `seconds` and figures."""
    by_report: dict[str, list[ReportTable]] = {}
    for table in tables:
        if _columns(table):
            by_report.setdefault(table.report, []).append(table)
    for report, mine in by_report.items():
        frames, last = [], float("-inf")
        for table in sorted(mine, key=_begin):
            frame = _frame(table, last, is_linux)
            if len(frame):
                last = frame["time"].to_physical()[-1] / 1e6
                frames.append(frame)
        if frames:
            yield report, frames


def _begin(table: ReportTable) -> float:
    return next((time for time in table.times if time == time), 0.0)


def _columns(table: ReportTable) -> dict[str, tuple[str, bool]]:
    """Heading of each figure that the table tells, and whether it is a count."""
    counts = _COUNTS.get(table.tool, {}) if has_interval(table) else {}
    found = {name: (heading, True) for name, heading in counts.items()}
    found |= {name: (heading, False) for name, heading in _PLAIN.get(table.tool, {}).items()}
    return {name: told for name, told in found.items() if told[0] in table.values}


def _frame(table: ReportTable, after: float, is_linux: bool) -> pl.DataFrame:
    """Rows in the order of time; what is no number, or cannot be, is null."""
    import polars as pl

    rows = timed(table, Use("used", [0.0] * len(table.lines)), after).frame
    places = {int(line): index for index, line in enumerate(table.lines)}
    chosen = [places[int(line)] for line in rows["line"]]
    columns = []
    for name, (heading, is_count) in _columns(table).items():
        values = list(table.values[heading])
        if is_count and is_linux:
            values = [float("nan"), *(late - early for early, late in pairwise(values))]
        told = pl.Series(name, [values[at] for at in chosen], dtype=pl.Float64)
        columns.append(told / rows["seconds"] if is_count else told)
    frame = rows.select("time", "seconds").with_columns(columns)
    figures = pl.all().exclude("time", "seconds")
    return frame.with_columns(pl.when(figures.is_between(0, _MOST)).then(figures))
