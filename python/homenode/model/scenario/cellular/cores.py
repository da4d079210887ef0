"""Which cores a partition gets: by hardware path, by cell, and the rest by count.

Paths are looked up first, then cores of a cell are chosen for those who ask for some of it, then
come those who do not say where; at each step partitions are served in the order of the file. Where
the monitor chooses, it takes whole processors, so that partitions share none needlessly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from homenode.model.catalog import MachineDescription
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.cellular.hardware import PlacedNpartition
from homenode.model.scenario.cellular.paths import cell_of, core_at, cores_of_cell, path_of
from homenode.model.scenario.file.processors import Dedicated
from homenode.model.scenario.naming import Named
from homenode.model.scenario.places import PlaceError, find_cell

Free = dict[int, list[int]]
"""Cores that nobody has, by cell."""


@dataclass(frozen=True)
class Asking:
    """A partition that asks for cores."""

    name: str
    row: int
    processors: Dedicated

    @classmethod
    def of(cls, entry: Named) -> Asking | None:
        """The asking of a partition with cores of its own."""
        processors = entry.table.processors
        return cls(entry.name, entry.row, processors) if isinstance(processors, Dedicated) else None


@dataclass(frozen=True)
class AssignedCores:
    """The cores of a partition, by how they were asked for."""

    by_path: tuple[int, ...]
    by_cell: Mapping[int, tuple[int, ...]]
    by_count: tuple[int, ...]
    boot: int
    """The core it boots on; the only one that cannot be taken away while it runs."""

    @property
    def all(self) -> tuple[int, ...]:
        """All of them in order."""
        of_cells = (core for cores in self.by_cell.values() for core in cores)
        return tuple(sorted({*self.by_path, *of_cells, *self.by_count}))


def assign(
    entries: Sequence[Named],
    npartition: PlacedNpartition,
    machine: MachineDescription,
    problems: Problems,
) -> dict[str, AssignedCores]:
    """The cores of each partition of an nPartition by name; none for one with a problem."""
    every = (Asking.of(entry) for entry in entries)
    asking = [one for one in every if one is not None and _adds_up(one, problems)]
    free = {cell: cores_of_cell(cell, machine) for cell in npartition.indices}
    owner: dict[int, str] = {}
    paths = {e.name: _by_path(e, npartition, free, owner, machine, problems) for e in asking}
    cells = {e.name: _by_cell(e, npartition, free, machine, problems) for e in asking}
    found = {}
    for entry in asking:
        by_path, by_cell = paths[entry.name], cells[entry.name]
        if by_path is None or by_cell is None:
            continue
        by_count = _by_count(entry, by_path, by_cell, free, npartition, machine, problems)
        if by_count is None:
            break  # nor are there any for those after it
        cores = AssignedCores(by_path, by_cell, by_count, -1)
        boot = _boot(entry, cores, machine, problems)
        found[entry.name] = AssignedCores(by_path, by_cell, by_count, boot)
    return found


def take(free: list[int], count: int, per_chip: int) -> tuple[int, ...]:
    """Some of the free cores of a cell, whole processors first; all of them if there are fewer."""
    taken: list[int] = []
    while free and len(taken) < count:
        wanted = count - len(taken)
        chips: dict[int, list[int]] = {}
        for core in free:
            chips.setdefault(core // per_chip, []).append(core)
        fitting = [cores for cores in chips.values() if len(cores) <= wanted]
        # The fullest processor that is used up, else the one that is shared already.
        best = max(fitting, key=len) if fitting else min(chips.values(), key=len)
        for core in best[:wanted]:
            free.remove(core)
            taken.append(core)
    return tuple(sorted(taken))


def _adds_up(entry: Asking, problems: Problems) -> bool:
    """Minimum <= all <= maximum, and no more by path and cell than there are."""
    processors = entry.processors
    path: Path = ("partition", entry.row, "processors")
    before, cores = len(problems), processors.cores
    for key, bound in (("minimum", processors.minimum), ("maximum", processors.maximum)):
        if bound is None or (bound <= cores if key == "minimum" else bound >= cores):
            continue
        side = "at most" if key == "minimum" else "at least"
        step = f"the {key} is {side} that"
        problems.add((*path, key), there=f"the partition has {cores} cores", next_step=step)
    by_cell = sum((processors.cells or {}).values())
    by_path = len(processors.paths or ())
    if by_cell + by_path > cores:
        parts = [f"{by_cell} by cell"] * bool(by_cell) + [f"{by_path} by path"] * bool(by_path)
        together = f" make {by_cell + by_path}" if len(parts) > 1 else " are asked for"
        there = f"{' and '.join(parts)}{together}, the partition has {cores} cores"
        step = f"write cores = {by_cell + by_path}, or ask for fewer of them by name"
        problems.add((*path, "cells" if by_cell else "paths"), there=there, next_step=step)
    return len(problems) == before


def _by_path(
    entry: Asking,
    npartition: PlacedNpartition,
    free: Free,
    owner: dict[int, str],
    machine: MachineDescription,
    problems: Problems,
) -> tuple[int, ...] | None:
    found = []
    paths = entry.processors.paths or []
    for index, text in enumerate(paths):
        here = ("partition", entry.row, "processors", "paths", index)
        try:
            core = core_at(text, machine)
        except PlaceError as error:
            problems.add(here, there=error.there, next_step=error.next_step)
            return None
        if core in owner:
            there = f"partition {owner[core]} has that core"
            problems.add(here, there=there, next_step="give each core to one partition, once")
            return None
        if cell_of(core, machine) not in free:
            _note_outside(here, npartition, problems)
            return None
        owner[core] = entry.name
        free[cell_of(core, machine)].remove(core)
        found.append(core)
    return tuple(found)


def _by_cell(
    entry: Asking,
    npartition: PlacedNpartition,
    free: Free,
    machine: MachineDescription,
    problems: Problems,
) -> dict[int, tuple[int, ...]] | None:
    found: dict[int, tuple[int, ...]] = {}
    for text, count in (entry.processors.cells or {}).items():
        here = ("partition", entry.row, "processors", "cells", text)
        try:
            cell = find_cell(text, machine)
        except PlaceError as error:
            problems.add_key(here, f'"{text}": {error.there}', error.next_step)
            return None
        if cell not in free:
            _note_outside(here, npartition, problems)
            return None
        if count > len(free[cell]):
            there = f"{len(free[cell])} of the {len(cores_of_cell(cell, machine))} cores are left"
            step = f"ask for fewer of cell{cell}, or for cores of another cell"
            problems.add(here, there=there, next_step=step)
            return None
        found[cell] = take(free[cell], count, machine.cores_per_chip)
    return found


def _by_count(
    entry: Asking,
    by_path: tuple[int, ...],
    by_cell: Mapping[int, tuple[int, ...]],
    free: Free,
    npartition: PlacedNpartition,
    machine: MachineDescription,
    problems: Problems,
) -> tuple[int, ...] | None:
    named = len(by_path) + sum(len(cores) for cores in by_cell.values())
    wanted = entry.processors.cores - named
    found: list[int] = []
    for cell in npartition.indices:
        found.extend(take(free[cell], wanted - len(found), machine.cores_per_chip))
    if len(found) == wanted:
        return tuple(found)
    there = f"{named + len(found)} are left for {entry.name} in nPartition {npartition.name}"
    step = "ask for fewer cores, or give the nPartition more cells"
    problems.add(("partition", entry.row, "processors", "cores"), there=there, next_step=step)
    return None


def _boot(
    entry: Asking, cores: AssignedCores, machine: MachineDescription, problems: Problems
) -> int:
    """The core named, else the first of those asked for by path, else the first of all."""
    text = entry.processors.boot
    if text is None:
        return cores.by_path[0] if cores.by_path else cores.all[0]
    here = ("partition", entry.row, "processors", "boot")
    try:
        core = core_at(text, machine)
    except PlaceError as error:
        problems.add(here, there=error.there, next_step=error.next_step)
        return cores.all[0]
    if core not in cores.all:
        own = ", ".join(path_of(core, machine) for core in cores.all)
        there = f"the cores of {entry.name} are {own}"
        problems.add(here, there=there, next_step="name one of them, or add it to paths")
    return core


def _note_outside(path: Path, npartition: PlacedNpartition, problems: Problems) -> None:
    """Note that a cell is not of the nPartition."""
    cells = ", ".join(f"cell{index}" for index in npartition.indices)
    there = f"nPartition {npartition.name} has {cells}"
    step = "name one of those, or give the nPartition the cell"
    problems.add(path, there=there, next_step=step)
