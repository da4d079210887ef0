"""How long a unit of work takes, at all places of its response times that a tool tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from homenode.hosts.reduce import Cell
from homenode.hosts.reduce.response import TOLD
from homenode.model.numbers import number
from homenode.report.hosts.words import counted
from homenode.report.tables import plain_table

NOT_TOLD = "not told"
"""In place of a response time that neither the tool nor our own client tells."""
_FARTHEST = ("p99.9", "p99", "p95", "max")
"""The one that stands for the tail: the first that is told."""


def tail_of(latency_ms: Mapping[str, float]) -> str:
    """The farthest place that is told, with its name."""
    name = next((one for one in _FARTHEST if one in latency_ms), None)
    return NOT_TOLD if name is None else f"{milliseconds(latency_ms[name])} {name}"


def milliseconds(found: float | None) -> str:
    """A response time [ms]."""
    return NOT_TOLD if found is None else number(found, 3 if found < 1.0 else 2)


def response_mean(cell: Cell) -> str:
    """Of all units of work, mean over the runs."""
    return milliseconds(cell.latency("mean"))


def tail(cell: Cell) -> str:
    """The farthest place, mean over the runs."""
    found = {name: cell.latency(name) for name in _FARTHEST}
    return tail_of({name: ms for name, ms in found.items() if ms is not None})


def response_tables(by_system: Mapping[str, Sequence[Cell]]) -> list[Table]:
    """A table a system with a row for each case that tells any, means over the runs."""
    found = []
    for system, cells in by_system.items():
        shown = [cell if cell.runs else Cell(cell.key, cell.rejected) for cell in cells]
        rows = [cell for cell in shown if any(cell.latency(name) is not None for name in TOLD)]
        if rows:
            found.append(_response_table(system, rows))
    return found


def _response_table(system: str, cells: Sequence[Cell]) -> Table:
    several = len({cell.key.processors for cell in cells}) > 1
    title = f"Response times on {escape(system)} [ms]"
    table = plain_table("case", *TOLD, title=title)
    for cell in cells:
        name, count = escape(cell.key.case), cell.key.processors
        table.add_row(
            f"{name}, {counted(count, 'CPU')}" if several else name,
            *(milliseconds(cell.latency(place)) for place in TOLD),
        )
    return table
