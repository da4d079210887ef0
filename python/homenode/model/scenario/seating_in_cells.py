"""Partitions of a machine of cells, each with its cores and its memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from homenode.errors import listed, suggestion
from homenode.model.catalog import MachineDescription
from homenode.model.catalog.hypervisor import OwnCores
from homenode.model.catalog.platform import Platform
from homenode.model.catalog.profile_model import Numbers
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.cellular.cores import AssignedCores, assign
from homenode.model.scenario.cellular.hardware import PlacedNpartition
from homenode.model.scenario.cellular.memory import GrantedMemory, grant
from homenode.model.scenario.file.guest import HpUx
from homenode.model.scenario.file.processors import Dedicated
from homenode.model.scenario.naming import Named
from homenode.model.scenario.pages import page_of
from homenode.model.scenario.placed import InCells, PlacedMemory, PlacedPartition
from homenode.model.scenario.places import PlaceError, find_cell


def seat_in_cells(
    entries: Sequence[Named],
    profiles: Mapping[int, Numbers],
    npartitions: Sequence[PlacedNpartition],
    declared: Sequence[str],
    machine: MachineDescription,
    platform: Platform,
    problems: Problems,
) -> tuple[PlacedPartition, ...]:
    """Partitions in the order of the entries; one with a problem is left out after noting it.

    `declared` names all nPartitions of the file, also those that have a problem themselves.
    """
    own = {
        entry.name: _npartition(entry, npartitions, declared, problems)
        for entry in entries
        if isinstance(entry.table.processors, Dedicated)
    }
    placed: dict[str, PlacedPartition] = {}
    for npartition in npartitions:
        inside = [entry for entry in entries if own.get(entry.name) is npartition]
        if not _fit_in(inside, npartition, platform, problems):
            continue
        cores = assign(inside, npartition, machine, problems)
        memory = grant(inside, npartition, machine, platform, problems)
        before = 0
        for entry in inside:
            io = _io(entry, npartition, machine, problems)
            parts = memory.get(entry.name)
            if entry.name in cores and parts:
                where = InCells(npartition, cores[entry.name], parts, io)
                placed[entry.name] = _place(entry, where, before, profiles[entry.row], machine)
            before += sum(part.granted for part in parts or () if part.cell is None)
    return tuple(placed[entry.name] for entry in entries if entry.name in placed)


def _npartition(
    entry: Named,
    npartitions: Sequence[PlacedNpartition],
    declared: Sequence[str],
    problems: Problems,
) -> PlacedNpartition | None:
    """The nPartition a partition runs in."""
    asked, declared = entry.table.npartition, list(dict.fromkeys(declared))
    path: Path = ("partition", entry.row)
    if asked is None and len(declared) > 1:
        step = f"write npartition = with one of {listed(declared)}"
        problems.add(path, "npartition is missing", next_step=step, at_key=True)
        return None
    if asked is not None and asked not in declared:
        there = f"the nPartitions are {listed(declared)}"
        step = suggestion(asked, declared, "add [[npartition]] with that name")
        problems.add((*path, "npartition"), there=there, next_step=step)
        return None
    name = declared[0] if asked is None else asked
    return next((one for one in npartitions if one.name == name), None)


def _fit_in(
    inside: Sequence[Named], npartition: PlacedNpartition, platform: Platform, problems: Problems
) -> bool:
    """One partition without the monitor, so many with it."""
    most = platform.virtual_partitions.value if npartition.vpars else 1
    if len(inside) <= most:
        return True
    entry = inside[most]
    path: Path = ("partition", entry.row)
    if npartition.vpars:
        there = f"an nPartition runs at most {most} virtual partitions"
        step = "give it fewer, or make another nPartition of some of its cells"
    else:
        there = f"it runs no virtual partitions (vpars = false) and {inside[0].name} is in it"
        step = "write vpars = true, or give each partition an nPartition of its own"
    problem = f"{entry.name} has no room in nPartition {npartition.name}"
    problems.add(path, problem, there=there, next_step=step, at_key=True)
    return False


def _io(
    entry: Named, npartition: PlacedNpartition, machine: MachineDescription, problems: Problems
) -> int | None:
    """The cell its I/O hangs on."""
    text = entry.table.io
    if text is None:
        return None
    path: Path = ("partition", entry.row, "io")
    try:
        cell = find_cell(text, machine)
    except PlaceError as error:
        problems.add(path, there=error.there, next_step=error.next_step)
        return None
    if npartition.cell(cell) is None:
        cells = ", ".join(f"cell{index}" for index in npartition.indices)
        there = f"nPartition {npartition.name} has {cells}"
        problems.add(path, there=there, next_step="name the cell of one of its I/O chassis")
        return None
    return cell


def _place(
    entry: Named, where: InCells, before: int, profile: Numbers, machine: MachineDescription
) -> PlacedPartition:
    guest = entry.table.guest
    # HP-UX leaves the second thread of a core alone unless it is told otherwise (lcpu_attr).
    threads = 1 if isinstance(guest, HpUx) else machine.threads_per_core
    npartition, hypervisor = where.npartition, machine.hypervisor
    share = hypervisor.monitor_share if isinstance(hypervisor, OwnCores) else None
    granules = {_granule(npartition, part) for part in where.memory}
    most = min(guest.page, *granules) if npartition.vpars else guest.page
    return PlacedPartition(
        name=entry.name,
        number=entry.number,
        table=entry.table,
        row=entry.row,
        smt=threads if entry.table.smt is None else entry.table.smt,
        memory_bytes=sum(part.usable for part in where.memory),
        home=_chips(where.cores, machine),
        cores=where.cores.all,
        memory=_parts(npartition, before, where.memory),
        profile=profile,
        page_bytes=page_of(machine, most),
        io_domain=where.io,
        hypervisor_share=share.value if share is not None and npartition.vpars else 0.0,
        in_cells=where,
    )


def _chips(cores: AssignedCores, machine: MachineDescription) -> tuple[int, ...]:
    return tuple(dict.fromkeys(core // machine.cores_per_chip for core in cores.all))


def _granule(npartition: PlacedNpartition, part: GrantedMemory) -> int:
    return npartition.ilm_granule if part.cell is None else npartition.clm_granule


def _parts(
    npartition: PlacedNpartition, before: int, memory: Sequence[GrantedMemory]
) -> tuple[PlacedMemory, ...]:
    """Parts at their places, base and floating together: where they lie is all that counts."""
    sizes: dict[tuple[int, ...], int] = {}
    for part in memory:
        pieces = (
            _interleaved(npartition, before, part.usable)
            if part.cell is None
            else [((part.cell,), part.usable)]
        )
        for domains, size in pieces:
            sizes[domains] = sizes.get(domains, 0) + size
        before += part.granted if part.cell is None else 0
    return tuple(PlacedMemory(domains, size) for domains, size in sizes.items() if size)


def _interleaved(
    npartition: PlacedNpartition, before: int, size: int
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Interleaved memory of a partition that comes after `before` bytes of others: first what lies
    on most cells.
    """
    start, end, reached = before, before + size, 0
    for cells, piece in npartition.interleaving:
        reached += piece
        if start < min(reached, end):
            yield cells, min(reached, end) - start
            start = min(reached, end)
