"""parstatus: cells and hard partitions of a machine of cells.

A cell that no hard partition of the scenario has is absent. Of I/O chassis only the cell is known:
a core cell has one, and so has a cell on which a partition's I/O hangs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from homenode import _engine
from homenode.model.scenario.cellular.paths import cores_of_cell, cores_per_cell
from homenode.tools.errors import ToolError

if TYPE_CHECKING:
    from homenode.model.scenario.cellular.hardware import Cell, PlacedNpartition
    from homenode.model.scenario.placed import Resolved

CELLS_PER_CABINET = 8
_GB = 1 << 30
_SHORT_NAME = 30

COMPLEX, CELLS, DETAILS, PARTITIONS = "complex", "cells", "details", "partitions"
SECTIONS = (COMPLEX, CELLS, PARTITIONS)
"""What the tool shows if nothing is chosen."""


def listing(
    resolved: Resolved, sections: tuple[str, ...] = (CELLS,), cell: int | None = None
) -> dict[str, object]:
    """What the tool says; `cell` chooses one for `DETAILS`. Raises `ToolError` if the machine has
    no cells, or not that one.
    """
    machine = resolved.machine
    if not resolved.npartitions:
        raise ToolError(
            f"parstatus: {machine.title} is not made of cells",
            next_step="lparstat and lssrad show a layout of it",
        )
    own = {each.index: (n, each) for n in resolved.npartitions for each in n.cells}
    if cell is not None and cell not in own:
        cells = ", ".join(str(index) for index in sorted(own))
        raise ToolError(f"parstatus: cell {cell} is absent", there=f"there are {cells}")
    shown = sorted(own) if cell is None else [cell]
    facts = [("Complex Name", "homenode"), ("Original Product Name", machine.title)]
    found: dict[str, list[object]] = {
        COMPLEX: [list(fact) for fact in facts],
        CELLS: [_cell(index, own.get(index), resolved) for index in range(machine.nodes)],
        DETAILS: [_details(own[index]) for index in shown],
        PARTITIONS: [_partition(one, resolved) for one in resolved.npartitions],
    }
    return {key: value if key in sections else [] for key, value in found.items()}


def render(
    resolved: Resolved, sections: tuple[str, ...] = (CELLS,), cell: int | None = None
) -> str:
    """What the tool would print."""
    return _engine.format_parstatus(json.dumps(listing(resolved, sections, cell)))


def records(resolved: Resolved, sections: tuple[str, ...] = SECTIONS) -> str:
    """The lines of `-M`, for programs: cells and hard partitions, fields between colons. What a
    line says of a cell has no mark for memory that is all its own.
    """
    found: dict[str, Any] = listing(resolved, sections)
    lines = [":".join(("cell", *_cell_fields(row))) for row in found[CELLS]]
    lines += [":".join(("partition", *map(str, row.values()))) for row in found[PARTITIONS]]
    return "".join(f"{line}\n" for line in lines)


def _cell_fields(row: Mapping[str, Any]) -> Iterator[str]:
    """Location, usage, processors, memory, chassis, core capable, next boot, partition."""
    processors, memory = row["processors"], row["memory"]
    yield row["location"]
    yield row["usage"]
    yield "-" if processors is None else "/".join(str(count) for count in processors.values())
    yield "-" if memory is None else "/".join(f"{size:.1f}" for size in memory.values())
    for fact in (row["connected"], row["core_capable"], row["next_boot"], row["partition"]):
        yield "-" if fact is None else str(fact)


def location(index: int) -> str:
    """A cell by cabinet and slot."""
    return f"cab{index // CELLS_PER_CABINET},cell{index % CELLS_PER_CABINET}"


def _core_cell(npartition: PlacedNpartition) -> int:
    """The cell an nPartition boots from: its first, if none is chosen."""
    return min(npartition.indices)


def _usage(index: int, npartition: PlacedNpartition) -> str:
    return "Active Core" if index == _core_cell(npartition) else "Active Base"


def _chassis(index: int, resolved: Resolved) -> str | None:
    with_io = {one.in_cells.io for one in resolved.partitions if one.in_cells is not None}
    cores = {_core_cell(npartition) for npartition in resolved.npartitions}
    if index not in with_io | cores:
        return None
    return f"cab{index // CELLS_PER_CABINET},bay0,chassis{index % CELLS_PER_CABINET}"


def _cell(
    index: int, own: tuple[PlacedNpartition, Cell] | None, resolved: Resolved
) -> dict[str, object]:
    row: dict[str, object] = {
        "location": location(index),
        "usage": "Absent",
        "processors": None,
        "memory": None,
        "interleaves": True,
        "connected": None,
        "core_capable": None,
        "next_boot": None,
        "partition": None,
    }
    if own is None:
        return row
    npartition, cell = own
    built = cores_per_cell(resolved.machine)
    active = len(cores_of_cell(index, resolved.machine))
    chassis = _chassis(index, resolved)
    return row | {
        "usage": _usage(index, npartition),
        "processors": {"ok": active, "deconfigured": built - active, "maximum": built},
        "memory": {"ok": cell.memory / _GB, "deconfigured": 0.0},
        "interleaves": cell.interleaved > 0,
        "connected": chassis,
        "core_capable": "no" if chassis is None else "yes",
        "next_boot": "yes",
        "partition": npartition.row,
    }


def _details(own: tuple[PlacedNpartition, Cell]) -> dict[str, object]:
    npartition, cell = own
    return {
        "location": location(cell.index),
        "number": cell.index,
        "usage": _usage(cell.index, npartition),
        "partition": npartition.row,
        "memory": cell.memory / _GB,
        "requested": cell.local / _GB,
        "allocated": cell.local / _GB,
    }


def _partition(npartition: PlacedNpartition, resolved: Resolved) -> dict[str, object]:
    chassis = [_chassis(index, resolved) for index in npartition.indices]
    return {
        "number": npartition.row,
        "status": "Active",
        "cells": len(npartition.cells),
        "chassis": sum(one is not None for one in chassis),
        "core_cell": location(_core_cell(npartition)),
        "name": npartition.name[:_SHORT_NAME],
    }
