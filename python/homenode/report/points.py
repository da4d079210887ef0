"""Points of a sweep, or any runs, as one table: for the terminal, as CSV, as Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape

from homenode.model.numbers import (
    NOTHING,
    number,
    signed,
    significant,
    significant_with_interval,
)
from homenode.report.tables import plain_table
from homenode.simulate.kept.points import BEST, LIKE_BEST, short_names

if TYPE_CHECKING:
    from rich.table import Table

    from homenode.simulate.kept.points import Cell, Comparison, Row

_MARKS = {BEST: " *", LIKE_BEST: " ~", "": ""}


def points_table(told: Comparison) -> Table:
    """A row for each partition at each point."""
    head, *others = _heads(told)
    table = plain_table(head, *others, title=_title(told))
    for cells in _texts(told):
        table.add_row(*(escape(cell) for cell in cells))
    return table


def points_line(told: Comparison) -> str:
    """What the marks and changes mean."""
    marked = any(cell.mark for row in told.rows for cell in row.cells.values())
    changes = [cell.change for row in told.rows for cell in row.cells.values()]
    best = "* best, ~ not told apart from it; " if marked else ""
    if all(change.ci95 is None for change in changes):
        return f"{best}change: against the first"
    how = (
        "from pairs of replications with the same random numbers"
        if told.paired
        else "of runs that do not share their random numbers"
    )
    return f"{best}change: against the first, ± 95 % {how}"


def markdown(told: Comparison) -> str:
    """The same table, with pipes."""
    heads = _heads(told)
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *_texts(told)]
    text = "\n".join(f"| {' | '.join(_cell(one) for one in line)} |" for line in lines)
    return f"{text}\n\n{points_line(told)}\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("~", "\\~")


def as_csv(told: Comparison) -> str:
    """A line a row with every digit: axes by their whole paths, then of each metric its mean, its
    interval, its change, that one's interval, and whether it is best.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    parts = ("", "_ci95", "_change", "_change_ci95", "_mark")
    columns = [f"{metric}{part}" for metric in told.metrics for part in parts]
    writer.writerow(["run", *told.axes, "partition", *columns])
    for row in told.rows:
        values = [value for metric in told.metrics for value in _values(row.cells[metric])]
        axes = [row.axes.get(axis, "") for axis in told.axes]
        writer.writerow([row.run, *axes, row.partition, *values])
    return out.getvalue()


def _values(cell: Cell) -> list[object]:
    told = (cell.estimate.mean, cell.estimate.ci95, cell.change.mean, cell.change.ci95)
    return [*("" if value is None else value for value in told), cell.mark]


def _title(told: Comparison) -> str:
    what = "runs" if _by_run(told) else "points"
    count = len(dict.fromkeys(row.run for row in told.rows))
    return f"All {count} {what}"


def _heads(told: Comparison) -> list[str]:
    axes = short_names(told.axes)
    named = [*axes.values(), *(["run"] if _by_run(told) else [])]
    partition = ["partition"] if _several(told) else []
    metrics = [head for metric in told.metrics for head in (metric, "change")]
    return [*named, *partition, *metrics]


def _several(told: Comparison) -> bool:
    return len({row.partition for row in told.rows}) > 1 or not told.axes


def _by_run(told: Comparison) -> bool:
    """Whether points do not tell all runs apart."""
    places = {row.run: tuple(row.axes.get(axis) for axis in told.axes) for row in told.rows}
    return not told.axes or len({str(one) for one in places.values()}) < len(places)


def _texts(told: Comparison) -> Iterator[list[str]]:
    """The cells of each row; what is said of a point is said once."""
    for row in told.rows:
        keys = [str(row.axes.get(axis, NOTHING)) for axis in told.axes]
        keys += [row.run] if _by_run(told) else []
        keys += [row.partition] if _several(told) else []
        yield [*keys, *_cells(row, told)]


def _cells(row: Row, told: Comparison) -> Iterator[str]:
    for metric in told.metrics:
        cell = row.cells[metric]
        yield significant_with_interval(cell.estimate) + _MARKS[cell.mark]
        yield _change(cell)


def _change(cell: Cell) -> str:
    """With its sign, and the decimals with which the metric itself is told."""
    change = cell.change
    if change.mean is None:
        return NOTHING
    decimals = len(significant(cell.estimate.mean).partition(".")[2])
    text = signed(change.mean, decimals)
    return text if change.ci95 is None else f"{text} ± {number(change.ci95, decimals)}"
