"""Machines and profiles as tables: each number with its origin and its range, if it has one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from homenode.report.runs import plain_table

if TYPE_CHECKING:
    from homenode.catalog import Figure, MachineDescription, ProfileDescription


def description_table(described: MachineDescription | ProfileDescription) -> Table:
    """All figures of a machine or a profile."""
    table = plain_table("figure", "value", title=f"{described.name}: {described.title}")
    table.columns[1].justify = "left"
    for column in ("range", "origin"):
        table.add_column(column, no_wrap=column == "range")
    for name, figure in described.figures():
        shown = figure_json(figure)
        between = " to ".join(shown["range"]) if shown["range"] else ""
        table.add_row(
            name,
            escape(shown["value"]),
            escape(between),
            escape(f"{figure.provenance}: {figure.reason}"),
        )
    return table


def description_json(described: MachineDescription | ProfileDescription) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "name": described.name,
        "title": described.title,
        "figures": {name: figure_json(figure) for name, figure in described.figures()},
    }


def figure_json(figure: Figure[Any]) -> dict[str, Any]:
    """Value and range with their units, and where they come from."""
    between = None if figure.range is None else [_shown(figure, bound) for bound in figure.range]
    return {
        "value": _shown(figure, figure.value),
        "range": between,
        "provenance": figure.provenance,
        "reason": figure.reason,
    }


def _shown(figure: Figure[Any], value: Any) -> str:
    """A value in the unit its kind is written in."""
    for extra in type(figure).model_fields["value"].metadata:
        kind = getattr(extra, "kind", None)
        if kind is not None:
            return str(kind.format(value))
    if hasattr(value, "in_cycles"):
        return f"{value.amount:g} {'cycles' if value.in_cycles else 'ns'}"
    if isinstance(value, list):
        return "[" + ", ".join(_shown(figure, one) for one in value) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)
