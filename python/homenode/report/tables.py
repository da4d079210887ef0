"""A table in the house style."""

from __future__ import annotations

from rich.table import Table


def plain_table(*columns: str, title: str | None = None) -> Table:
    """First column left, all others right, no box."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, title_style="bold")
    for position, column in enumerate(columns):
        table.add_column(column, justify="left" if position == 0 else "right", no_wrap=True)
    return table
