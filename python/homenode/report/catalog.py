"""Machines and profiles as tables: each number with its origin and its range, if it has one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

from rich.markup import escape
from rich.table import Table

from homenode.report.tables import plain_table

if TYPE_CHECKING:
    from homenode.model.catalog import Figure, MachineDescription, ProfileDescription
    from homenode.model.catalog.control_program import ControlProgram

    Described = MachineDescription | ProfileDescription | ControlProgram


_WIDEST_VALUE = 36


def description_table(described: Described) -> Table:
    """All figures of a machine or a profile."""
    table = plain_table("figure", "value", title=f"{described.name}: {described.title}")
    table.columns[1].justify = "left"
    table.columns[1].max_width = _WIDEST_VALUE
    table.columns[1].no_wrap = False
    for column in ("range", "origin"):
        table.add_column(column, no_wrap=column == "range")
    for name, kind in _kinds(described).items():
        table.add_row(name, kind, "", "kind of machine")
    for name, figure in described.figures():
        origin = escape(f"{figure.provenance}: {figure.reason}")
        if _is_matrix(figure.value):
            table.add_row(name, _matrix(figure.value), "", origin)
            continue
        shown = figure_json(figure)
        between = " to ".join(shown["range"]) if shown["range"] else ""
        table.add_row(name, escape(shown["value"]), escape(between), origin)
    return table


def _kinds(described: Described) -> dict[str, str]:
    return described.kinds() if hasattr(described, "kinds") else {}


def _is_matrix(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], list)


def _matrix(rows: list[list[float]]) -> str:
    """A matrix in a few words; all of it is in the plain data."""
    every = sorted({value for row in rows for value in row})
    return f"{len(rows)} x {len(rows[0])}, {', '.join(f'{value:g}' for value in every)}"


def description_json(described: Described) -> dict[str, object]:
    """The same as plain data."""
    return {
        "name": described.name,
        "title": described.title,
        **({"kinds": kinds} if (kinds := _kinds(described)) else {}),
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
    field = type(figure).model_fields["value"]
    return _in_unit(value, field.annotation, field.metadata)


def _in_unit(value: Any, annotation: Any, metadata: Sequence[Any]) -> str:
    for extra in metadata:
        kind = getattr(extra, "kind", None)
        if kind is not None:
            return str(kind.format(value))
    if hasattr(value, "in_cycles"):
        return f"{value.amount:g} {'cycles' if value.in_cycles else 'ns'}"
    if isinstance(value, list):
        inner = next(iter(get_args(annotation)), None)
        of_each = getattr(inner, "__metadata__", ())
        return "[" + ", ".join(_in_unit(one, inner, of_each) for one in value) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)
