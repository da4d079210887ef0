"""The nPartitions of listings: which cells and virtual partitions make up each, and how much memory
it must have so that its virtual partitions have what is listed.

A listing says what was given to a partition, in whole granules; one that is less than whole is what
firmware and monitor left (see `homenode.model.scenario.cellular.memory`), and is rounded up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from homenode.errors import Where
from homenode.model.catalog.platform import Platform
from homenode.model.scenario.cellular.granules import rounded_up
from homenode.records.importing.assemble.plan import MB, Value
from homenode.records.importing.assemble.write import together
from homenode.records.importing.facts import CellFacts, Count, Facts, VirtualPartitionFacts
from homenode.records.importing.opening.sources import ListingError, Notice

Sizes = tuple[int, ...]
"""Memory by cell [bytes]."""
ONE_TIME = "give listings of one server at one time"


@dataclass(frozen=True)
class Group:
    """The cells of an nPartition, and the virtual partitions on them."""

    name: Value[str]
    cells: Value[tuple[int, ...]]
    rows: tuple[CellFacts, ...]
    """Its cells as far as they are listed themselves."""
    members: tuple[VirtualPartitionFacts, ...]


@dataclass(frozen=True)
class GroupMemory:
    """The memory of an nPartition [bytes]."""

    memory: Value[Sizes]
    local: Value[Sizes]
    """That of it which is cell-local."""
    ilm_granule: Value[int]
    clm_granule: Value[int]


@dataclass(frozen=True)
class _Demand:
    """What virtual partitions need [bytes]."""

    local: Mapping[int, int]
    """Cell-local memory by cell, in whole granules."""
    least_interleaved: int
    """Interleaved memory in whole granules."""
    left_interleaved: int
    """What is bound of them."""

    def interleaved(self, cells_without_local: int, platform: Platform) -> int:
        """Interleaved memory with which the listed sizes come out, where so many cells keep nothing
        local.
        """
        monitor = platform.monitor_memory.value + platform.dump_memory.value
        taken = monitor + platform.cell_firmware.value * cells_without_local
        return max(self.left_interleaved + taken, self.least_interleaved)


def cells_of(partitions: Sequence[VirtualPartitionFacts]) -> set[int]:
    """Cells that virtual partitions have cores, memory or I/O of."""
    return {cell for one in partitions for cell in (*one.cells, *(one.io.value if one.io else ()))}


def divide(
    partitions: Sequence[VirtualPartitionFacts],
    cells: Sequence[CellFacts],
    facts: Facts,
    notices: list[Notice],
) -> list[Group]:
    """All nPartitions; without parstatus all cells that are named make one."""
    if cells:
        return _by_number(partitions, cells, facts)
    own = sorted(cells_of(partitions))
    if not own:
        raise ListingError(
            "no virtual partition names a cell",
            where=next((one.name.where for one in partitions), None),
            next_step="give the output of parstatus -C as well",
        )
    text = "one nPartition of the cells that the virtual partitions name"
    notices.append(Notice(f"{text} is assumed; parstatus -C would tell"))
    name = Value("npar0", "assumed: parstatus -C is not given")
    return [Group(name, Value(tuple(own), f"assumed: {text}"), (), tuple(partitions))]


def _by_number(
    partitions: Sequence[VirtualPartitionFacts], cells: Sequence[CellFacts], facts: Facts
) -> list[Group]:
    """Cells of one hard partition, and the virtual partitions that are on them."""
    rows: dict[int, list[CellFacts]] = {}
    for cell in cells:
        if cell.npartition is not None and cell.memory_bytes is not None:
            rows.setdefault(cell.npartition, []).append(cell)
    if not rows:
        raise ListingError(
            "no cell belongs to a hard partition",
            where=cells[0].where,
            next_step="give parstatus -C of a server in use",
        )
    members: dict[int, list[VirtualPartitionFacts]] = {number: [] for number in rows}
    for one in partitions:
        members[_home(one, rows)].append(one)
    groups = []
    for number, own in sorted(rows.items()):
        told = facts.npartitions.get(number)
        name = Value(f"npar{number}", "assumed: named by its number")
        if told is not None:
            name = Value(told.value, str(told.where))
        lines = together([str(cell.where) for cell in own])
        numbers = Value(tuple(cell.number for cell in own), lines)
        groups.append(Group(name, numbers, tuple(own), tuple(members[number])))
    return groups


def _home(one: VirtualPartitionFacts, rows: dict[int, list[CellFacts]]) -> int:
    """The number of the hard partition that a virtual one is in."""
    of_cell = {cell.number: number for number, cells in rows.items() for cell in cells}
    strangers = sorted(one.cells - set(of_cell))
    if strangers:
        raise ListingError(
            f"{one.name.value} is on cell {strangers[0]}, which parstatus does not list as active",
            where=one.paths.where,
            next_step=ONE_TIME,
        )
    homes = {of_cell[cell] for cell in one.cells} or set(rows)
    if len(homes) > 1:
        numbers = ", ".join(str(number) for number in sorted(homes))
        several, none = "its cells are of several", "it names no cell, because it is down"
        raise ListingError(
            f"{one.name.value} may be in hard partition {numbers}",
            where=one.name.where,
            there=several if one.cells else none,
            next_step=f"{ONE_TIME}, taken while it is up",
        )
    return homes.pop()


def memory_of(group: Group, facts: Facts, platform: Platform, notices: list[Notice]) -> GroupMemory:
    """The memory by cell: told, or what the virtual partitions need."""
    ilm = _granule("ilm_granule", group, platform, notices)
    clm = _granule("clm_granule", group, platform, notices)
    needs = _demand(group, (ilm.value, clm.value))
    if not group.members:
        text = f"{group.name.value} has no virtual partitions here: it is taken as one partition"
        notices.append(Notice(f"{text} without their monitor"))
    local = _local(group, needs, facts.local_memory, notices)
    memory = _memory(group, needs, local, platform, notices)
    return GroupMemory(memory, local, ilm, clm)


def _granule(
    which: Literal["ilm_granule", "clm_granule"],
    group: Group,
    platform: Platform,
    notices: list[Notice],
) -> Value[int]:
    """A granule [bytes]: all virtual partitions of a monitor have the same."""
    members = group.members
    every = [told for one in members if (told := getattr(one, which)) is not None]
    if not every:
        default = platform.granule_default.value
        if members:
            text = f"{which} is not told: {default // MB} MB is assumed"
            notices.append(Notice(text, members[0].name.where))
        return Value(default, "assumed: the platform's default")
    first = every[0]
    other = next((told for told in every if told.value != first.value), None)
    if other is not None:
        text = f"{which} of {other.value // MB} MB where {first.where} has {first.value // MB} MB"
        notices.append(Notice(f"{text}; the first is taken", other.where))
    return Value(first.value, str(first.where))


def _demand(group: Group, granules: tuple[int, int]) -> _Demand:
    """What the virtual partitions need; `granules` of interleaved and of cell-local memory."""
    left: dict[int | None, int] = {}
    granted: dict[int | None, int] = {}
    for size in (told.value for member in group.members for told in member.memory):
        granule = granules[0] if size.cell is None else granules[1]
        whole = rounded_up(size.base, granule) + rounded_up(size.floating, granule)
        left[size.cell] = left.get(size.cell, 0) + size.base + size.floating
        granted[size.cell] = granted.get(size.cell, 0) + whole
    local = {cell: granted.get(cell, 0) for cell in group.cells.value}
    return _Demand(local, granted.get(None, 0), left.get(None, 0))


def _local(
    group: Group, needs: _Demand, told: Mapping[int, Count], notices: list[Notice]
) -> Value[Sizes]:
    """Cell-local memory by cell: told, or as much as the virtual partitions have."""
    rows = {row.number: row for row in group.rows}
    sizes, reasons = [], []
    had = "what the virtual partitions have of it" if group.members else "none is told"
    for cell in group.cells.value:
        row, own = rows.get(cell), told.get(cell)
        if own is not None:
            least = needs.local[cell]
            if own.value < least:
                what = f"cell {cell} has {own.value // MB} MB of cell-local memory"
                raise _too_little(what, least, own.where)
            sizes.append(own.value)
            reasons.append(str(own.where))
        elif row is not None and not row.interleaves and row.memory_bytes is not None:
            sizes.append(row.memory_bytes)
            reasons.append(f"{row.where}: no interleaved memory")
        else:
            sizes.append(needs.local[cell])
            reasons.append(f"assumed: {had}")
    if any(reason.startswith("assumed") for reason in reasons):
        had = "what its virtual partitions have of it" if any(sizes) else "none"
        text = f"cell-local memory of {group.name.value} is not told: {had} is assumed"
        notices.append(Notice(f"{text}; parstatus -V -c CELL would tell"))
    return Value(tuple(sizes), together(reasons))


def _memory(
    group: Group, needs: _Demand, local: Value[Sizes], platform: Platform, notices: list[Notice]
) -> Value[Sizes]:
    """Memory by cell: told, or what is needed."""
    own = local.value
    if group.rows:
        sizes = tuple(row.memory_bytes or 0 for row in group.rows)
        for row, size, kept in zip(group.rows, sizes, own, strict=True):
            if size < kept:
                raise _too_little(f"cell {row.number} has {size // MB} MB", kept, row.where)
            if row.deconfigured:
                text = f"cell {row.number}: deconfigured processors ({row.deconfigured})"
                notices.append(Notice(f"{text} count as active", row.where))
        interleaved = sum(sizes) - sum(own)
        if interleaved < needs.least_interleaved:
            what = f"{group.name.value} has {interleaved // MB} MB of interleaved memory"
            raise _too_little(what, needs.least_interleaved, group.rows[0].where)
        return Value(sizes, group.cells.origin)
    total = needs.interleaved(sum(1 for size in own if size == 0), platform)
    share, rest = divmod(total // MB, len(own))
    sizes = tuple(kept + (share + (n < rest)) * MB for n, kept in enumerate(own))
    text = "what the virtual partitions have, with what firmware and monitor take"
    told = f"memory of the cells is not told: {text}, is assumed; parstatus -C would tell"
    notices.append(Notice(told))
    return Value(sizes, f"assumed: {text}")


def _too_little(what: str, needed: int, where: Where) -> ListingError:
    return ListingError(
        what,
        there=f"the virtual partitions have {needed // MB} MB of it",
        where=where,
        next_step=ONE_TIME,
    )
