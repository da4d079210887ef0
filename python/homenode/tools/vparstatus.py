"""vparstatus: the virtual partitions of a machine of cells, as their monitor would list them.

It shows the layout, not a run: cores by path, by cell and by number, memory by kind as it is given
to each partition, in whole granules, the cell of the I/O. What firmware and monitor take of it is
missing from the partition that comes last, and not deducted here. Addresses of memory
are not modelled and stay empty, of a path of I/O only the cell is known; kernel and attributes are
those that a partition has if nothing is said of them. A partition is shown up, with its boot
processor.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

from homenode import _engine
from homenode.errors import NotFoundError, nearest
from homenode.model.scenario.cellular.paths import cores_of_cell, path_of
from homenode.tools.errors import ToolError

if TYPE_CHECKING:
    from homenode.model.scenario.cellular.cores import AssignedCores
    from homenode.model.scenario.placed import InCells, PlacedPartition, Resolved

    Virtual = tuple[PlacedPartition, InCells]

Form = Literal["", "v", "M"]

KERNEL = "/stand/vmunix"
ATTRIBUTES = ("Dynamic", "Autoboot", "Nosearch")
NO_RECONFIGURATION = "N"
_SHORT_ATTRIBUTES = "Dyn,Auto"
_SHORT_NAME = 30
_MB = 1 << 20


class CellCount(TypedDict):
    """Cores of a cell that were asked for by the cell."""

    cell: int
    count: int


class Processors(TypedDict):
    """Cores of a virtual partition by hardware path, as the tool groups them."""

    minimum: int
    maximum: int
    user: list[str]
    boot: str
    monitor: list[str]
    pending: list[str]
    user_count: int
    monitor_count: int
    by_cell: list[CellCount]


class Megabytes(TypedDict):
    """Memory of a kind, and the floating part of it [MB]."""

    megabytes: int
    floating: int


class CellMemory(Megabytes):
    """The same of one cell."""

    cell: int


class Interleaved(Megabytes):
    """Memory spread over cells; no ranges of it are asked for by address."""

    user: list[str]
    monitor: list[str]
    granule: int


class Local(TypedDict):
    """Memory of single cells."""

    user: list[str]
    monitor: list[str]
    by_cell: list[CellMemory]
    granule: int


class Memory(TypedDict):
    """Memory of a virtual partition."""

    interleaved: Interleaved
    local: Local


class Path(TypedDict):
    """An I/O path and what it is for."""

    path: str
    role: str


class VirtualPartition(TypedDict):
    """What `vparstatus -v` says of one; `online` and `reconfiguration` only `-M`."""

    name: str
    state: str
    attributes: list[str]
    kernel: str
    boot_options: str
    processors: Processors
    io: list[Path]
    memory: Memory
    online: list[str] | None
    reconfiguration: str | None


def listing(resolved: Resolved, form: Form = "", names: Sequence[str] = ()) -> dict[str, object]:
    """What the tool says of those partitions, of all if none are named; raises `ToolError` if there
    is no monitor that could be asked, `NotFoundError` for a name that is not there.
    """
    partitions = told(resolved, names)
    if form == "":
        return {"report": "vparstatus", "rows": [_row(partition) for partition in partitions]}
    if form == "M":
        for partition in partitions:
            partition["online"] = []
            partition["reconfiguration"] = NO_RECONFIGURATION
    return {"report": f"vparstatus -{form}", "partitions": partitions}


def told(resolved: Resolved, names: Sequence[str] = ()) -> list[VirtualPartition]:
    """What `vparstatus -v` says of those partitions, of all if none are named; see `listing`."""
    return [_partition(*one, resolved) for one in _chosen(resolved, names)]


def render(resolved: Resolved, form: Form = "", names: Sequence[str] = ()) -> str:
    """What the tool would print."""
    return _engine.format_vparstatus(json.dumps(listing(resolved, form, names)))


def _chosen(resolved: Resolved, names: Sequence[str]) -> list[Virtual]:
    """Virtual partitions in the order of the file."""
    if not resolved.npartitions:
        raise ToolError(
            f"vparstatus: {resolved.machine.title} has no cells, so it runs no virtual partitions",
            next_step="lparstat and lssrad show a layout of it",
        )
    virtual = {
        partition.name: (partition, partition.in_cells)
        for partition in resolved.partitions
        if partition.in_cells is not None and partition.in_cells.npartition.vpars
    }
    if not virtual:
        raise ToolError(
            "vparstatus: no monitor of virtual partitions runs (vpars = false)",
            next_step="`homenode parstatus -C` shows the cells",
        )
    for name in names:
        if name not in virtual:
            raise NotFoundError(
                f"vparstatus: there is no virtual partition {name}{nearest(name, virtual)}",
                asked=name,
            )
    return [found for name, found in virtual.items() if not names or name in names]


def _partition(partition: PlacedPartition, where: InCells, resolved: Resolved) -> VirtualPartition:
    return {
        "name": partition.name,
        "state": "Up",
        "attributes": list(ATTRIBUTES),
        "kernel": KERNEL,
        "boot_options": "",
        "processors": _processors(partition, where, resolved),
        "io": [] if where.io is None else [{"path": f"{where.io}.0", "role": ""}],
        "memory": _memory(where),
        "online": None,
        "reconfiguration": None,
    }


def _processors(partition: PlacedPartition, where: InCells, resolved: Resolved) -> Processors:
    cores, machine = where.cores, resolved.machine
    table = partition.table.processors
    limits = [getattr(table, key, None) for key in ("minimum", "maximum")]
    there = sum(len(cores_of_cell(cell, machine)) for cell in where.npartition.indices)
    paths = _paths_by_origin(cores)
    return {
        "minimum": limits[0] or 1,
        "maximum": limits[1] or there,
        "user": [path_of(core, machine) for core in paths[0]],
        "boot": path_of(cores.boot, machine),
        "monitor": [path_of(core, machine) for core in paths[1]],
        "pending": [],
        "user_count": len(cores.by_path),
        "monitor_count": len(cores.by_count),
        "by_cell": [
            {"cell": cell, "count": len(own)} for cell, own in sorted(cores.by_cell.items())
        ],
    }


def _paths_by_origin(cores: AssignedCores) -> tuple[list[int], list[int]]:
    """Cores that were asked for by path, and those that the monitor chose; without the one booted
    on, which the tool lists by itself.
    """
    user = [core for core in cores.by_path if core != cores.boot]
    return user, [core for core in cores.all if core not in (*cores.by_path, cores.boot)]


def _memory(where: InCells) -> Memory:
    npartition = where.npartition
    cells = sorted({part.cell for part in where.memory if part.cell is not None})
    return {
        "interleaved": {
            "user": [],
            "monitor": [],
            **_megabytes(where, None),
            "granule": npartition.ilm_granule // _MB,
        },
        "local": {
            "user": [],
            "monitor": [],
            "by_cell": [{"cell": cell, **_megabytes(where, cell)} for cell in cells],
            "granule": npartition.clm_granule // _MB,
        },
    }


def _megabytes(where: InCells, cell: int | None) -> Megabytes:
    """All memory of a kind, and the floating part of it [MB]."""
    parts = [part for part in where.memory if part.cell == cell]
    return {
        "megabytes": sum(part.granted for part in parts) // _MB,
        "floating": sum(part.granted for part in parts if not part.base) // _MB,
    }


def _row(partition: VirtualPartition) -> dict[str, object]:
    """The two lines of the summary."""
    processors, memory = partition["processors"], partition["memory"]
    paths = (*processors["user"], *processors["monitor"], processors["boot"])
    return {
        "name": partition["name"][:_SHORT_NAME],
        "state": partition["state"],
        "attributes": _SHORT_ATTRIBUTES,
        "kernel": partition["kernel"],
        "boot_options": partition["boot_options"],
        "minimum": processors["minimum"],
        "maximum": processors["maximum"],
        "processors": len(paths),
        "io": len(partition["io"]),
        "interleaved_ranges": 0,
        "interleaved_range_megabytes": 0,
        "interleaved_megabytes": memory["interleaved"]["megabytes"],
        "local_ranges": 0,
        "local_range_megabytes": 0,
        "local_megabytes": sum(part["megabytes"] for part in memory["local"]["by_cell"]),
    }
