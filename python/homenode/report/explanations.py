"""An explanation as a table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from rich.markup import escape
from rich.table import Table

from homenode.report.numbers import number, signed
from homenode.report.tables import plain_table
from homenode.simulate.explain.explanation import Explanation, Row


@dataclass(frozen=True)
class _Column:
    """A head, what stands in a row, and what beneath the rows."""

    head: str
    cell: Callable[[Row], str]
    total: str


def explanation_table(explanation: Explanation) -> Table:
    """Causes, with a total that is the sum of what is printed in each column."""
    columns = _alone(explanation) if explanation.base is None else _difference(explanation)
    table = plain_table(
        "cause", *(escape(column.head) for column in columns), title=_title(explanation)
    )
    for row in explanation.rows:
        table.add_row(escape(row.label), *(column.cell(row) for column in columns))
    table.add_section()
    table.add_row("total", *(column.total for column in columns))
    return table


def _alone(explanation: Explanation) -> list[_Column]:
    digits, measure = explanation.digits, explanation.measure
    used = round(math.fsum(row.share_pct for row in explanation.rows), 1)
    return [
        _Column(
            measure.name, lambda row: number(row.value, digits), number(explanation.total, digits)
        ),
        _Column("share", lambda row: f"{row.share_pct:.1f} %", f"{used:.1f} %" if used else "-"),
        _Column(
            measure.price_title(explanation.breakdown),
            lambda row: number(row.price, measure.price_digits),
            number(explanation.price, measure.price_digits),
        ),
    ]


def _difference(explanation: Explanation) -> list[_Column]:
    digits, measure = explanation.digits, explanation.measure
    mine, theirs = _names(explanation)
    columns = [
        _Column(
            theirs, lambda row: number(row.base, digits), number(explanation.base_total, digits)
        ),
        _Column(mine, lambda row: number(row.value, digits), number(explanation.total, digits)),
        _Column(
            "difference",
            lambda row: signed(row.difference, digits),
            signed(explanation.difference, digits),
        ),
        _Column(
            measure.price_title(explanation.breakdown),
            lambda row: signed(row.price, measure.price_digits),
            signed(explanation.price, measure.price_digits),
        ),
    ]
    if explanation.is_scaled:
        equal = _Column(
            "at equal work",
            lambda row: number(row.equal, digits),
            number(explanation.equal_total, digits),
        )
        columns.insert(1, equal)
    return columns


def _title(explanation: Explanation) -> str:
    books, base = explanation.breakdown, explanation.base
    what = "cores" if explanation.measure.name == "cores" else "cycles of an instruction"
    text = f"Where the {what} of {books.partition} went ({books.run})"
    if base is not None:
        text += f", against {base.partition} ({base.run})"
    return text


def _names(explanation: Explanation) -> tuple[str, str]:
    """Of the partition and of its base, told apart."""
    mine, base = explanation.breakdown.partition, explanation.base
    theirs = base.partition if base is not None else ""
    return mine, theirs if theirs != mine else f"{theirs} base"
