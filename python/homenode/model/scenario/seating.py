"""Every partition at its place: stated homes and memory looked up, the rest placed by rule."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from homenode.model.catalog import MachineDescription
from homenode.model.catalog.profile_model import Numbers
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.file.guest import Zvm
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.processors import Dedicated
from homenode.model.scenario.host.groups import OnHost, chips_of, homes_of_pins
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
    *,
    largest_first: bool = True,
) -> tuple[PlacedPartition, ...]:
    """Partitions in the order of the entries; `profiles` holds one a row of the file, `mainframe`
    what a mainframe says of each by name, `hosted` what a Linux or Xen host does. Those without a
    stated home are placed the largest first, or as they are listed.
    """
    said, threads = mainframe or {}, hosted or {}
    rows = {entry.row: entry.table for entry in entries}
    homes = {row: _home(table, row, machine, problems) for row, table in rows.items()}
    lies = {
        row: _stated_memory(table, row, homes[row], machine, problems)
        for row, table in rows.items()
    }
    wishes = [
        _wish(entry, homes[entry.row], lies[entry.row], said, threads, machine) for entry in entries
    ]
    seats = place(machine, wishes, largest_first=largest_first)
    placed = []
    for entry, seat in zip(entries, seats, strict=True):
        _check_dedicated(entry, seat, machine, problems)
        memory = _sum(lies[entry.row], seat.memory)
        placed.append(
            PlacedPartition(
                name=entry.name,
                number=entry.number,
                table=entry.table,
                row=entry.row,
                smt=1 if threads else _threads(entry.table, said.get(entry.name), machine),
                memory_bytes=_memory_bytes(entry.table),
                home=homes[entry.row]
                or homes_of_pins(threads.get(entry.name), machine)
                or seat.chips,
                cores=seat.cores,
                memory=tuple(PlacedMemory((domain,), size) for domain, size in memory.items()),
                profile=profiles[entry.row],
                page_bytes=page_of(machine, entry.table.guest.page),
                mainframe=said.get(entry.name),
                host=threads.get(entry.name),
            )
        )
    return tuple(placed)


def _memory_bytes(table: Partition) -> int:
    return sum(part.size for part in table.memory)


def _sizes(table: Partition) -> list[int]:
    """Of each part of its memory, what takes room on the machine: of what a balloon holds or the
    host has swapped out, each part has lost its share. One that would be left with nothing, which
    is refused elsewhere, keeps a byte.
    """
    sizes = [part.size for part in table.memory]
    gone = 0 if table.kvm is None else table.kvm.elsewhere
    whole = sum(sizes) or 1
    # Shares are taken of what the parts before have together, so that they add up.
    until = [size * gone // whole for size in itertools.accumulate(sizes, initial=0)]
    shares = zip(sizes, itertools.pairwise(until), strict=True)
    return [max(size - (after - before), 1) for size, (before, after) in shares]


def _threads(table: Partition, mainframe: InMainframe | None, machine: MachineDescription) -> int:
    """Threads used of each core."""
    if isinstance(table.guest, Zvm):
        return 2 if table.guest.smt == "smt-2" else 1
    if table.smt is not None:
        return table.smt
    single = mainframe is not None and not ONE_THREAD.isdisjoint(mainframe.types)
    return 1 if single else machine.threads_per_core


def _wish(
    entry: Named,
    home: Chips | None,
    lies: Mapping[int, int],
    mainframe: Mapping[str, InMainframe],
    hosted: Mapping[str, OnHost],
    machine: MachineDescription,
) -> Wish:
    processors, host = entry.table.processors, hosted.get(entry.name)
    memory = sum(_sizes(entry.table)) - sum(lies.values())
    if isinstance(processors, Dedicated):
        cores = processors.cores
        return Wish(cores, memory, dedicated=True, chips=home, virtual=cores, lies=lies)
    chips, entitlement = home, processors.entitlement
    if host is not None:
        chips = home or chips_of(host, machine)
        entitlement = host.entitlement / machine.host_threads
    elif entry.name in mainframe:
        entitlement = mainframe[entry.name].entitlement
    virtual = processors.virtual
    return Wish(
        entitlement or 0.0, memory, dedicated=False, chips=chips, virtual=virtual, lies=lies
    )


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


def _stated_memory(
    table: Partition,
    row: int,
    home: Chips | None,
    machine: MachineDescription,
    problems: Problems,
) -> dict[int, int]:
    """Bytes by domain of the memory whose place is stated, by itself or with the home: each part
    of the table evenly over the chips of its place.
    """
    sizes: dict[int, int] = {}
    for index, (part, left) in enumerate(zip(table.memory, _sizes(table), strict=True)):
        path = ("partition", row, "memory", index, "on")
        stated = None if part.on is None else _find(part.on, path, machine, problems)
        where = stated or home or ()
        for number, chip in enumerate(where):
            each, rest = divmod(left, len(where))
            domain = machine.domain_of(chip)
            sizes[domain] = sizes.get(domain, 0) + each + (number < rest)
    return sizes


def _sum(one: Mapping[int, int], other: Mapping[int, int]) -> dict[int, int]:
    """Bytes of both, by domain."""
    return {d: one.get(d, 0) + other.get(d, 0) for d in sorted({*one, *other})}


def _check_dedicated(
    entry: Named, seat: Seat, machine: MachineDescription, problems: Problems
) -> None:
    processors = entry.table.processors
    if isinstance(processors, Dedicated) and seat.cores is None:
        where = "at its home" if entry.table.home is not None else f"in {machine.title}"
        there = f"so many cores are not left {where} for {entry.name}"
        step = "ask for fewer cores, give it a larger home or move other dedicated partitions"
        problems.add(("partition", entry.row, "processors", "cores"), there=there, next_step=step)
