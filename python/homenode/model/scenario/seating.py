"""Every partition at its place: stated homes and memory looked up, the rest placed by rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from homenode.model.catalog import MachineDescription
from homenode.model.catalog.profile_model import Numbers
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.file.guest import Zvm
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.processors import Dedicated
from homenode.model.scenario.host.groups import OnHost, chips_of
from homenode.model.scenario.mainframe.numbering import ONE_THREAD
from homenode.model.scenario.mainframe.placing import InMainframe
from homenode.model.scenario.naming import Named
from homenode.model.scenario.pages import page_of
from homenode.model.scenario.placed import PlacedMemory, PlacedPartition
from homenode.model.scenario.placement import Seat, Wish, place
from homenode.model.scenario.places import PlaceError, find_place

Chips = tuple[int, ...]


def seat_all(
    entries: Sequence[Named],
    profiles: Mapping[int, Numbers],
    machine: MachineDescription,
    problems: Problems,
    mainframe: Mapping[str, InMainframe] | None = None,
    hosted: Mapping[str, OnHost] | None = None,
) -> tuple[PlacedPartition, ...]:
    """Partitions in the order of the entries; `profiles` holds one a row of the file, `mainframe`
    what a mainframe says of each by name, `hosted` what a Linux or Xen host does.
    """
    said, threads = mainframe or {}, hosted or {}
    rows = {entry.row: entry.table for entry in entries}
    homes = {row: _home(table, row, machine, problems) for row, table in rows.items()}
    memories = {row: _memory_places(table, row, machine, problems) for row, table in rows.items()}
    wishes = [
        _wish(entry.table, homes[entry.row], said.get(entry.name), threads.get(entry.name), machine)
        for entry in entries
    ]
    seats = place(machine, wishes)
    placed = []
    for entry, seat in zip(entries, seats, strict=True):
        _check_dedicated(entry, seat, machine, problems)
        home = homes[entry.row] or seat.chips
        placed.append(
            PlacedPartition(
                name=entry.name,
                number=entry.number,
                table=entry.table,
                row=entry.row,
                smt=1 if threads else _threads(entry.table, said.get(entry.name), machine),
                memory_bytes=_memory_bytes(entry.table),
                home=home,
                cores=seat.cores,
                memory=_spread(entry.table, memories[entry.row], home, machine),
                profile=profiles[entry.row],
                page_bytes=page_of(machine, entry.table.guest.page),
                mainframe=said.get(entry.name),
                host=threads.get(entry.name),
            )
        )
    return tuple(placed)


def _memory_bytes(table: Partition) -> int:
    return sum(part.size for part in table.memory)


def _threads(table: Partition, mainframe: InMainframe | None, machine: MachineDescription) -> int:
    """Threads used of each core."""
    if isinstance(table.guest, Zvm):
        return 2 if table.guest.smt == "smt-2" else 1
    if table.smt is not None:
        return table.smt
    single = mainframe is not None and not ONE_THREAD.isdisjoint(mainframe.types)
    return 1 if single else machine.threads_per_core


def _wish(
    table: Partition,
    home: Chips | None,
    mainframe: InMainframe | None,
    host: OnHost | None,
    machine: MachineDescription,
) -> Wish:
    processors = table.processors
    if isinstance(processors, Dedicated):
        return Wish(processors.cores, _memory_bytes(table), dedicated=True, chips=home)
    if host is not None:
        cores = host.entitlement / machine.host_threads
        chips = home or chips_of(host, machine)
        return Wish(cores, _memory_bytes(table), dedicated=False, chips=chips)
    told = processors.entitlement if mainframe is None else mainframe.entitlement
    return Wish(told or 0.0, _memory_bytes(table), dedicated=False, chips=home)


def _home(
    table: Partition, row: int, machine: MachineDescription, problems: Problems
) -> Chips | None:
    """The chips of a stated home."""
    if table.home is None:
        return None
    chips: list[int] = []
    for index, text in enumerate(table.home):
        path: Path = ("partition", row, "home")
        if isinstance(problems.document.value(path), list):
            path = (*path, index)
        chips.extend(_find(text, path, machine, problems))
    return tuple(dict.fromkeys(chips)) or None


def _find(text: str, path: Path, machine: MachineDescription, problems: Problems) -> Chips:
    try:
        return tuple(find_place(text, machine))
    except PlaceError as error:
        problems.add(path, there=error.there, next_step=error.next_step)
        return ()


def _memory_places(
    table: Partition, row: int, machine: MachineDescription, problems: Problems
) -> list[Chips | None]:
    """The chips of each part of the memory; None where it goes with the home."""
    places: list[Chips | None] = []
    for index, part in enumerate(table.memory):
        path = ("partition", row, "memory", index, "on")
        places.append(None if part.on is None else _find(part.on, path, machine, problems))
    return places


def _spread(
    table: Partition,
    places: Sequence[Chips | None],
    home: Chips,
    machine: MachineDescription,
) -> tuple[PlacedMemory, ...]:
    """A part a memory domain: each part of the table evenly over the chips of its place."""
    sizes: dict[int, int] = {}
    for part, chips in zip(table.memory, places, strict=True):
        where = chips or home
        each, rest = divmod(part.size, len(where))
        for index, chip in enumerate(where):
            domain = machine.domain_of(chip)
            sizes[domain] = sizes.get(domain, 0) + each + (index < rest)
    return tuple(PlacedMemory((domain,), size) for domain, size in sorted(sizes.items()))


def _check_dedicated(
    entry: Named, seat: Seat, machine: MachineDescription, problems: Problems
) -> None:
    processors = entry.table.processors
    if isinstance(processors, Dedicated) and seat.cores is None:
        where = "at its home" if entry.table.home is not None else f"in {machine.title}"
        there = f"so many cores are not left {where} for {entry.name}"
        step = "ask for fewer cores, give it a larger home or move other dedicated partitions"
        problems.add(("partition", entry.row, "processors", "cores"), there=there, next_step=step)
