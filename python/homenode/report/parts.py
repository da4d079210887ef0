"""A table that is wider than the terminal, in parts that are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.measure import Measurement
from rich.table import Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column

_WIDEST = 1_000
_NARROWEST_TEXT = 14
"""Columns that a text is given at least, if it has so much to say."""
_MOST_KEYS = 3


def parts_of(table: Table, out: Console) -> tuple[list[Table], int]:
    """The table, or parts of it that fit, and how wide it is whole.

    Each part begins with the columns that name the rows.
    """
    for column in table.columns:
        column.min_width = _least(column, out)
    whole = _width(table, out)
    if whole <= out.width:
        return [table], whole
    keys = _keys(table)
    if not all(
        _width(_only(table, [*keys, place]), out) <= out.width
        for place in range(len(keys), len(table.columns))
    ):
        keys = keys[:1]
    parts: list[list[int]] = []
    for place in range(len(table.columns)):
        if place in keys:
            continue
        if parts and _width(_only(table, [*keys, *parts[-1], place]), out) <= out.width:
            parts[-1].append(place)
        else:
            parts.append([place])
    shown = [_only(table, [*keys, *part]) for part in parts] or [table]
    # What not even a part of one column has room for is broken by the terminal.
    out.width = max([out.width, *(_width(part, out) for part in shown)])
    return shown, whole


def _keys(table: Table) -> list[int]:
    """Places of the columns that name the rows: so many that no two rows are called the same."""
    for count in range(1, min(_MOST_KEYS, len(table.columns)) + 1):
        named = list(
            zip(*(map(str, column.cells) for column in table.columns[:count]), strict=True)
        )
        if len(set(named)) == len(named):
            return list(range(count))
    return [0]


def _least(column: Column, out: Console) -> int:
    """Below so many columns of the terminal it is not to be squeezed."""
    options = out.options.update(max_width=_WIDEST)
    cells = [Measurement.get(out, options, cell) for cell in (column.header, *column.cells)]
    widest = max(cell.maximum for cell in cells)
    if column.no_wrap:
        return widest
    return max(*(cell.minimum for cell in cells), min(widest, _NARROWEST_TEXT))


def _width(table: Table, out: Console) -> int:
    """Columns of the terminal that it takes at least."""
    return Measurement.get(out, out.options.update(max_width=_WIDEST), table).minimum


def _only(table: Table, places: list[int]) -> Table:
    """The table with these columns."""
    part = Table(
        box=table.box,
        pad_edge=table.pad_edge,
        show_header=table.show_header,
        show_lines=table.show_lines,
    )
    columns = [table.columns[place] for place in places]
    for column in columns:
        part.add_column(
            column.header,
            justify=column.justify,
            no_wrap=column.no_wrap,
            min_width=column.min_width,
            max_width=column.max_width,
            style=column.style,
            overflow=column.overflow,
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        part.add_row(*row)
    return part
