"""Which machine it is, and how its cells and their memory are divided into nPartitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from homenode.errors import Where, suggestion
from homenode.model.catalog import MachineDescription, machine, machines
from homenode.model.catalog.platform import Platform
from homenode.records.importing.cellular.demand import Demand, demand
from homenode.records.importing.cellular.findings import Cell, Findings, VirtualPartition
from homenode.records.importing.opening.sources import ListingError, Notice

MB = 1 << 20


T = TypeVar("T")
Sizes = tuple[int, ...]
"""Memory by cell [MB]."""


@dataclass(frozen=True)
class Value(Generic[T]):
    """A value with where it comes from: lines, or what was assumed."""

    value: T
    origin: str


@dataclass(frozen=True)
class Chosen:
    """A machine of cells, its rules, and why it is that one."""

    machine: MachineDescription
    platform: Platform
    reason: str


@dataclass(frozen=True)
class Npartition:
    """An nPartition of the scenario; memory in MB, by cell."""

    name: Value[str]
    cells: tuple[int, ...]
    cells_origin: str
    memory: Value[Sizes]
    local: Value[Sizes]
    ilm_granule: Value[int]
    clm_granule: Value[int]
    members: tuple[VirtualPartition, ...]
    chassis: tuple[Cell, ...]
    """Cells with an I/O chassis, as far as they are known."""

    @property
    def vpars(self) -> bool:
        """Whether it runs virtual partitions."""
        return bool(self.members)


def choose_machine(asked: str | None, found: Findings) -> Chosen:
    """The machine asked for, else the one the listing names, else the smallest with such cells; and
    the reason.
    """
    cellular = [Chosen(one, one.platform, "") for one in map(machine, machines()) if one.platform]
    if asked is not None:
        chosen = machine(asked)
        if chosen.platform is None:
            names = [one.machine.name for one in cellular]
            raise ListingError(
                f"{chosen.title} is not made of cells",
                asked=f"--machine {asked}",
                next_step=suggestion(asked, names, f"name one of {', '.join(names)}"),
            )
        return Chosen(chosen, chosen.platform, "as asked with --machine")
    if found.product is not None:
        product, where = found.product
        words = product.lower().replace("-", " ").split()
        for one in cellular:
            named = one.machine.name.lower().split("-")[1:]
            if all(any(part in word for word in words) for part in named):
                return replace(one, reason=f"{where}: {product}")
    cells = {cell for one in found.virtual for cell in (*one.cells, *one.io)}
    cells |= {cell.number for cell in found.cells}
    needed = max(cells, default=0) + 1
    fitting = [one for one in cellular if one.machine.nodes >= needed]
    if not fitting:
        raise ListingError(
            f"no machine of the catalogue has {needed} cells", next_step="name one: --machine"
        )
    # Of equally large ones the newest, which comes last by its name.
    least = min(one.machine.nodes for one in fitting)
    smallest = [one for one in fitting if one.machine.nodes == least][-1]
    text = f"{smallest.machine.name}, the smallest with {needed} cells"
    found.notices.append(
        Notice(f"the machine is not named: {text}, is assumed; name another with --machine")
    )
    return replace(smallest, reason=f"assumed: {text}")


def divide(found: Findings, platform: Platform) -> list[Npartition]:
    """All nPartitions with their cells, memory and virtual partitions."""
    groups = _by_number(found) if found.cells else [_all_in_one(found)]
    return [_npartition(group, found, platform) for group in groups]


@dataclass(frozen=True)
class _Group:
    name: Value[str]
    cells: tuple[int, ...]
    origin: str
    rows: tuple[Cell, ...]
    members: tuple[VirtualPartition, ...]


def _by_number(found: Findings) -> list[_Group]:
    """Cells of one hard partition, and the virtual partitions that are on them."""
    rows: dict[int, list[Cell]] = {}
    for cell in found.cells:
        if cell.partition is not None and cell.memory is not None:
            rows.setdefault(cell.partition, []).append(cell)
    if not rows:
        raise ListingError(
            "no cell belongs to a hard partition",
            where=found.cells[0].where,
            next_step="give parstatus -C of a server in use",
        )
    members: dict[int, list[VirtualPartition]] = {number: [] for number in rows}
    for partition in found.virtual:
        members[_home(partition, rows)].append(partition)
    groups = []
    for number, cells in sorted(rows.items()):
        name = _name(number, found)
        lines = _lines([cell.where for cell in cells])
        numbers = tuple(cell.number for cell in cells)
        groups.append(_Group(name, numbers, lines, tuple(cells), tuple(members[number])))
    return groups


def _name(number: int, found: Findings) -> Value[str]:
    if number in found.partition_names:
        name, where = found.partition_names[number]
        return Value(name, str(where))
    return Value(f"npar{number}", "assumed: named by its number")


def _home(partition: VirtualPartition, rows: dict[int, list[Cell]]) -> int:
    """The number of the hard partition a virtual one is in."""
    of_cell = {cell.number: number for number, cells in rows.items() for cell in cells}
    strangers = sorted(partition.cells - set(of_cell))
    if strangers:
        raise ListingError(
            f"{partition.name} is on cell {strangers[0]}, which parstatus does not list as active",
            where=partition.where("processors.paths") or partition.where("name"),
            next_step="give listings of one server at one time",
        )
    homes = {of_cell[cell] for cell in partition.cells} or set(rows)
    if len(homes) > 1:
        numbers = ", ".join(str(number) for number in sorted(homes))
        raise ListingError(
            f"{partition.name} may be in hard partition {numbers}",
            where=partition.where("name"),
            there="its cells are of several"
            if partition.cells
            else "it names no cell, because it is down",
            next_step="give listings of one server at one time, taken while it is up",
        )
    return homes.pop()


def _all_in_one(found: Findings) -> _Group:
    """Without parstatus: all cells that are named make one nPartition."""
    cells = sorted({cell for one in found.virtual for cell in (*one.cells, *one.io)})
    if not cells:
        raise ListingError(
            "no virtual partition names a cell",
            where=found.virtual[0].where("name"),
            next_step="give the output of parstatus -C as well",
        )
    text = "one nPartition of the cells that the virtual partitions name"
    found.notices.append(Notice(f"{text} is assumed; parstatus -C would tell"))
    name = Value("npar0", "assumed: parstatus -C is not given")
    return _Group(name, tuple(cells), f"assumed: {text}", (), tuple(found.virtual))


def _npartition(group: _Group, found: Findings, platform: Platform) -> Npartition:
    ilm = _granule("ilm_granule", "memory.interleaved.granule", group.members, found, platform)
    clm = _granule("clm_granule", "memory.local.granule", group.members, found, platform)
    needs = demand(group.members, group.cells, (ilm.value, clm.value), platform)
    if not group.members:
        text = f"{group.name.value} has no virtual partitions here: it is taken as one partition"
        found.notices.append(Notice(f"{text} without their monitor"))
    local = _local(group, needs, found)
    memory = _memory(group, needs, local, found, platform)
    chassis = tuple(row for row in group.rows if row.chassis)
    return Npartition(
        group.name, group.cells, group.origin, memory, local, ilm, clm, group.members, chassis
    )


def _granule(
    attribute: str,
    fact: str,
    members: Sequence[VirtualPartition],
    found: Findings,
    platform: Platform,
) -> Value[int]:
    """A granule [MB]: all virtual partitions of a monitor have the same."""
    told = [(getattr(one, attribute), one.where(fact)) for one in members]
    sizes = [(size, where) for size, where in told if size is not None]
    if not sizes:
        default = platform.granule_default.value // MB
        if members:
            text = f"{attribute} is not told: {default} MB is assumed"
            found.notices.append(Notice(text, members[0].where("name")))
        return Value(default, "assumed: the platform's default")
    size, where = sizes[0]
    for other, there in sizes:
        if other != size:
            text = f"{attribute} of {other} MB where {where} has {size} MB; the first is taken"
            found.notices.append(Notice(text, there))
            break
    return Value(size, str(where))


def _local(group: _Group, needs: Demand, found: Findings) -> Value[Sizes]:
    """Cell-local memory by cell [MB]: told, or as much as the virtual partitions have."""
    told = {cell: found.local[cell] for cell in group.cells if cell in found.local}
    rows = {row.number: row for row in group.rows}
    sizes, reasons = [], []
    for cell in group.cells:
        least, fitting = needs.least_local[cell], needs.local[cell]
        row = rows.get(cell)
        if cell in told:
            size, where = told[cell]
            reasons.append(str(where))
            if size < least:
                raise _too_little(f"cell {cell} has {size} MB of cell-local memory", least, where)
            sizes.append(size)
        elif row is not None and not row.interleaves and row.memory is not None:
            sizes.append(row.memory)
            reasons.append(f"{row.where}: no interleaved memory")
        else:
            sizes.append(fitting)
            had = "what the virtual partitions have of it"
            reasons.append(f"assumed: {had}" if group.members else "assumed: none is told")
    if reasons and any(reason.startswith("assumed") for reason in reasons):
        had = "what its virtual partitions have of it" if any(sizes) else "none"
        text = f"cell-local memory of {group.name.value} is not told: {had} is assumed"
        found.notices.append(Notice(f"{text}; parstatus -V -c CELL would tell"))
    return Value(tuple(sizes), _joined(reasons))


def _too_little(what: str, needed: int, where: Where | None) -> ListingError:
    return ListingError(
        what,
        there=f"the virtual partitions have {needed} MB of it",
        where=where,
        next_step="give listings of one server at one time",
    )


def _memory(
    group: _Group, needs: Demand, local: Value[Sizes], found: Findings, platform: Platform
) -> Value[Sizes]:
    """Memory by cell [MB]: told, or what is needed."""
    own = local.value
    if group.rows:
        sizes = tuple(row.memory or 0 for row in group.rows)
        for row, size, kept in zip(group.rows, sizes, own, strict=True):
            if size < kept:
                raise _too_little(f"cell {row.number} has {size} MB", kept, row.where)
            if row.deconfigured:
                text = f"cell {row.number}: deconfigured processors ({row.deconfigured})"
                found.notices.append(Notice(f"{text} count as active", row.where))
        interleaved = sum(sizes) - sum(own)
        if interleaved < needs.least_interleaved:
            what = f"{group.name.value} has {interleaved} MB of interleaved memory"
            raise _too_little(what, needs.least_interleaved, group.rows[0].where)
        return Value(sizes, _lines([row.where for row in group.rows]))
    total = needs.interleaved(sum(1 for size in own if size == 0), platform)
    share, rest = divmod(total, len(own))
    sizes = tuple(kept + share + (1 if n < rest else 0) for n, kept in enumerate(own))
    text = "what the virtual partitions have, with what firmware and monitor take"
    found.notices.append(
        Notice(f"memory of the cells is not told: {text}, is assumed; parstatus -C would tell")
    )
    return Value(sizes, f"assumed: {text}")


def _lines(places: Sequence[Where]) -> str:
    """`file:3-5`, or the places one by one."""
    files = {place.file for place in places}
    lines = sorted({place.line for place in places if place.line is not None})
    if len(files) == 1 and len(lines) > 1:
        return f"{places[0].file}:{lines[0]}-{lines[-1]}"
    return _joined([str(place) for place in places])


def _joined(reasons: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(reasons))
