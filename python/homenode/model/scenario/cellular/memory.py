"""Which memory a partition gets: cell-local or interleaved, in whole granules, less what firmware
and monitor take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from homenode.model.catalog import MachineDescription
from homenode.model.catalog.platform import Platform
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.cellular.granules import rounded_up, shortened
from homenode.model.scenario.cellular.hardware import PlacedNpartition
from homenode.model.scenario.file.partition import MemoryPart
from homenode.model.scenario.naming import Named
from homenode.model.scenario.places import PlaceError, find_cell
from homenode.model.units import SIZE

INTERLEAVED = "interleaved"


@dataclass(frozen=True)
class GrantedMemory:
    """One part of a partition's memory: what was asked, granted, and is left of it."""

    cell: int | None
    """Cell of cell-local memory; None for interleaved memory."""
    base: bool
    """Whether it stays as long as the partition runs."""
    asked: int
    granted: int
    """What was asked in whole granules [bytes]."""
    usable: int
    """Of it what firmware and monitor leave [bytes]."""


Requests = list[tuple[str, GrantedMemory]]
"""Parts in the order of booting, each with the name of its partition."""


def grant(
    entries: Sequence[Named],
    npartition: PlacedNpartition,
    machine: MachineDescription,
    platform: Platform,
    problems: Problems,
) -> dict[str, tuple[GrantedMemory, ...]]:
    """The memory of each partition of an nPartition by name."""
    before = len(problems)
    requests: Requests = []
    for entry in entries:
        for index, part in enumerate(entry.table.memory):
            path = _part_path(entry, index, problems)
            asked = _request(part, path, npartition, machine, problems)
            if asked is not None and _fits(asked, path, entry, requests, npartition, problems):
                requests.append((entry.name, asked))
    if len(problems) > before:
        return {}
    left = _less_what_is_taken(requests, npartition, platform)
    found = {
        entry.name: tuple(part for name, part in left if name == entry.name) for entry in entries
    }
    for entry in entries:
        _check_enough(entry, found[entry.name], npartition, platform, problems)
    return found


def _part_path(entry: Named, index: int, problems: Problems) -> Path:
    """Where a part stands in the file: in a list, or as the text that is all of the memory."""
    path: Path = ("partition", entry.row, "memory")
    return (*path, index) if isinstance(problems.document.value(path), list) else path


def _request(
    part: MemoryPart,
    path: Path,
    npartition: PlacedNpartition,
    machine: MachineDescription,
    problems: Problems,
) -> GrantedMemory | None:
    """A part in whole granules at its place; None after noting a problem."""
    if part.use == "floating" and not npartition.vpars:
        there = f"nPartition {npartition.name} runs no virtual partitions, so nothing can be moved"
        problems.add((*path, "use"), there=there, next_step='leave out use = "floating"')
        return None
    cell: int | None = None
    if part.on is not None and part.on.strip().lower() != INTERLEAVED:
        try:
            cell = find_cell(part.on, machine)
        except PlaceError as error:
            step = f"{error.next_step}, or interleaved"
            problems.add((*path, "on"), there=error.there, next_step=step)
            return None
        if npartition.cell(cell) is None:
            cells = ", ".join(f"cell{index}" for index in npartition.indices)
            there = f"nPartition {npartition.name} has {cells}"
            problems.add((*path, "on"), there=there, next_step="name one of those, or interleaved")
            return None
    granule = npartition.ilm_granule if cell is None else npartition.clm_granule
    granted = rounded_up(part.size, granule) if npartition.vpars else part.size
    return GrantedMemory(cell, part.use == "base", part.size, granted, granted)


def _fits(
    asked: GrantedMemory,
    path: Path,
    entry: Named,
    requests: Requests,
    npartition: PlacedNpartition,
    problems: Problems,
) -> bool:
    """Whether the nPartition has so much of that kind of memory left."""
    used = sum(part.granted for _, part in requests if part.cell == asked.cell)
    size = _size(npartition, asked.cell)
    if used + asked.granted <= size:
        return True
    if asked.cell is None:
        what = f"nPartition {npartition.name} has {SIZE.format(size)} of interleaved memory"
        step = "ask for less, or keep less cell-local: clm"
    else:
        what = f"cell{asked.cell} has {SIZE.format(size)} of cell-local memory"
        step = "ask for less, or keep more cell-local: clm"
    step += f" of nPartition {npartition.name}"
    left = f", {SIZE.format(max(0, size - used))} of it are left for {entry.name}" if used else ""
    whole = SIZE.format(asked.granted)
    rounded = f"; in whole granules it asks {whole}" if asked.granted != asked.asked else ""
    here = (*path, "size") if problems.document.written((*path, "size")) else path
    problems.add(here, there=f"{what}{left}{rounded}", next_step=step)
    return False


def _size(npartition: PlacedNpartition, cell: int | None) -> int:
    """Memory of one kind in an nPartition [bytes]."""
    if cell is None:
        return npartition.interleaved
    own = npartition.cell(cell)
    return 0 if own is None else own.local


def _less_what_is_taken(
    requests: Requests, npartition: PlacedNpartition, platform: Platform
) -> Requests:
    """What remains of each part (VPARS-A0509, appendix D).

    The firmware of a cell takes its share of the cell-local memory, or of the interleaved where
    none is local; the monitor and the space for its dump take interleaved memory; both are missing
    from the last partition unless memory was left over. Each virtual partition gives a little of
    its own to the firmware's image of it.
    """
    left = list(requests)
    for kind in {part.cell for _, part in requests}:
        chosen = [index for index, (_, part) in enumerate(left) if part.cell == kind]
        available = max(0, _size(npartition, kind) - _taken(npartition, platform, kind))
        fitting = shortened([left[index][1].granted for index in chosen], available)
        for index, usable in zip(chosen, fitting, strict=True):
            name, part = left[index]
            left[index] = (name, replace(part, usable=usable))
    return _less_images(left, platform) if npartition.vpars else left


def _taken(npartition: PlacedNpartition, platform: Platform, kind: int | None) -> int:
    """What firmware and monitor take of one kind of memory [bytes]."""
    firmware = platform.cell_firmware.value
    if kind is not None:
        return firmware
    cells = sum(1 for cell in npartition.cells if cell.local == 0)
    monitor = platform.monitor_memory.value + platform.dump_memory.value
    return firmware * cells + (monitor if npartition.vpars else 0)


def _less_images(requests: Requests, platform: Platform) -> Requests:
    """Every virtual partition without the firmware's image of it: of its interleaved memory, else
    of its first.
    """
    left = list(requests)
    for name in dict.fromkeys(name for name, _ in requests):
        own = [index for index, (owner, _) in enumerate(left) if owner == name]
        index = next((index for index in own if left[index][1].cell is None), own[0])
        part = left[index][1]
        usable = max(0, part.usable - platform.partition_memory.value)
        left[index] = (name, replace(part, usable=usable))
    return left


def _check_enough(
    entry: Named,
    parts: Sequence[GrantedMemory],
    npartition: PlacedNpartition,
    platform: Platform,
    problems: Problems,
) -> None:
    """The operating system fits, and enough of the memory is base memory."""
    path: Path = ("partition", entry.row, "memory")
    usable, granted = sum(p.usable for p in parts), sum(p.granted for p in parts)
    least = platform.minimum_memory.value
    if usable < least:
        there = f"{SIZE.format(usable)} of it are left when firmware and monitor have theirs"
        step = f"its operating system needs {SIZE.format(least)}; ask for more"
        problems.add(path, there=there, next_step=step)
        return
    base = sum(part.granted for part in parts if part.base)
    needed = platform.least_base(granted)
    if npartition.vpars and base < needed:
        there = (
            f"{SIZE.format(base)} of {SIZE.format(granted)} are base memory, a virtual partition of"
            f" that size needs {SIZE.format(needed)}"
        )
        problems.add(path, there=there, next_step='give more of it use = "base"')
