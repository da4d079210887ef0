"""Recorded against simulated figures, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape

from homenode.model.numbers import number, signed
from homenode.report.tables import plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from homenode.records.replay import Row, Summary


def windows_table(rows: Sequence[Row]) -> Table:
    """A row a window."""
    table = plain_table("window", "until", "recorded", "simulated", "off", "folded", "simulated")
    for row in rows:
        until = "" if row.time is None else f"{row.time:%Y-%m-%d %H:%M:%S}"
        table.add_row(
            str(row.step + 1),
            until,
            number(row.recorded, 3),
            number(row.simulated, 3),
            signed(row.deviation_pct, 2, " %"),
            number(row.folded, 0 if row.folded is None or row.folded.is_integer() else 1),
            number(row.folded_simulated, 0 if row.folded_simulated.is_integer() else 1),
        )
    return table


def replay_table(summaries: Sequence[Summary]) -> Table:
    """A row a partition."""
    title = "Recorded against simulated cores"
    columns = ("partition", "windows", "recorded", "simulated", "off, mean", "at most", "> 2 %")
    table = plain_table(*columns, title=title)
    for one in summaries:
        table.add_row(
            escape(one.partition),
            str(one.windows),
            number(one.recorded, 3),
            number(one.simulated, 3),
            f"{one.mean_deviation_pct:.2f} %",
            f"{one.max_deviation_pct:.2f} %",
            str(one.beyond),
        )
    return table


def figures_table(summary: Summary) -> Table:
    """A row a figure that the recording and its run both tell."""
    title = f"Means of {escape(summary.partition)}: all that was recorded and is simulated"
    columns = ("figure", "recorded", "simulated", "ratio", "rank", "windows")
    table = plain_table(*columns, title=title)
    for one in summary.figures:
        table.add_row(
            escape(one.name),
            _digits(one.recorded),
            _digits(one.simulated),
            number(one.ratio, 2),
            number(one.rank, 2),
            "since start" if one.since_start else str(one.windows),
        )
    return table


def _digits(value: float) -> str:
    """Three figures behind the point of what is small, none of what is large."""
    size = abs(value)
    return number(value, 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 10 else 3)


def folding_lines(summaries: Sequence[Summary]) -> list[str]:
    """A sentence for each partition whose folded virtual processors were recorded."""
    lines = []
    for one in summaries:
        if one.folded_rank is None:
            continue
        text = f"{one.partition}: folded virtual processors follow those recorded with a rank"
        text += f" correlation of {one.folded_rank:.2f}"
        if one.folded_where_folded is not None and one.folded_where_none is not None:
            text += f"; {one.folded_where_folded:.2f} where any was recorded folded,"
            text += f" {one.folded_where_none:.2f} where none was"
        lines.append(text)
    return lines
