"""nPartitions: which cells they have, and how the memory of these is divided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from homenode.model.catalog import MachineDescription
from homenode.model.catalog.platform import Platform
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.cellular.granules import is_power_of_two
from homenode.model.scenario.file.cells import Npartition
from homenode.model.scenario.places import PlaceError, find_cell
from homenode.model.units import SIZE


@dataclass(frozen=True)
class Cell:
    """A cell of an nPartition with its memory."""

    index: int
    memory: int
    """Installed [bytes]."""
    local: int
    """Of it cell-local [bytes]."""

    @property
    def interleaved(self) -> int:
        """What it gives to the interleaved memory of the nPartition [bytes]."""
        return self.memory - self.local


@dataclass(frozen=True)
class PlacedNpartition:
    """An nPartition with everything decided."""

    name: str
    row: int
    """Index of its table in the file."""
    cells: tuple[Cell, ...]
    vpars: bool
    """Whether the monitor of virtual partitions runs."""
    ilm_granule: int
    clm_granule: int

    @property
    def indices(self) -> tuple[int, ...]:
        """Numbers of its cells."""
        return tuple(cell.index for cell in self.cells)

    @property
    def interleaved(self) -> int:
        """Interleaved memory of all its cells [bytes]."""
        return sum(cell.interleaved for cell in self.cells)

    @property
    def interleaving(self) -> tuple[tuple[tuple[int, ...], int], ...]:
        """Pieces of the interleaved memory: the cells over which its lines are spread, and its size
        [bytes]. Cells that give more than others have the rest of it among themselves.
        """
        pieces, below = [], 0
        for level in sorted({cell.interleaved for cell in self.cells} - {0}):
            cells = tuple(cell.index for cell in self.cells if cell.interleaved >= level)
            pieces.append((cells, (level - below) * len(cells)))
            below = level
        return tuple(pieces)

    def cell(self, index: int) -> Cell | None:
        """One of its cells by number; None if it is not its own."""
        return next((cell for cell in self.cells if cell.index == index), None)


def divide(
    tables: Sequence[Npartition],
    machine: MachineDescription,
    platform: Platform,
    problems: Problems,
) -> list[PlacedNpartition]:
    """All nPartitions; those with a problem are left out after noting it."""
    owner: dict[int, str] = {}
    found = []
    names: set[str] = set()
    for row, table in enumerate(tables):
        before = len(problems)
        path: Path = ("npartition", row)
        if table.name in names:
            there = "another nPartition has it"
            step = "give each nPartition a name of its own"
            problems.add((*path, "name"), there=there, next_step=step)
        names.add(table.name)
        indices = _claim(table, path, owner, machine, problems)
        placed = _with_memory(table, row, indices, machine, platform, problems)
        if placed is not None:
            _check_granules(table, path, platform, problems)
        if placed is not None and placed.vpars and len(problems) == before:
            _check_counts(placed, path, platform, problems)
        if placed is not None and len(problems) == before:
            found.append(placed)
    return found


def _claim(
    table: Npartition,
    path: Path,
    owner: dict[int, str],
    machine: MachineDescription,
    problems: Problems,
) -> list[int]:
    """The cells of one nPartition; no cell belongs to two."""
    indices = []
    for index, text in enumerate(table.cells):
        here = (*path, "cells", index)
        try:
            cell = find_cell(text, machine)
        except PlaceError as error:
            problems.add(here, there=error.there, next_step=error.next_step)
            continue
        if cell in owner:
            there = f"it belongs to nPartition {owner[cell]}"
            problems.add(here, there=there, next_step="give each cell to one nPartition")
            continue
        owner[cell] = table.name
        indices.append(cell)
    return indices


def _with_memory(
    table: Npartition,
    row: int,
    indices: list[int],
    machine: MachineDescription,
    platform: Platform,
    problems: Problems,
) -> PlacedNpartition | None:
    """Its cells with their memory, if the lists of sizes fit them."""
    path: Path = ("npartition", row)
    kept = table.clm or [0]
    for key, sizes in (("memory", table.memory), ("clm", kept)):
        if len(sizes) not in (1, len(table.cells)):
            there = f"{len(sizes)} values for {len(table.cells)} cells"
            step = "give one value, or one for each cell in the order of cells"
            problems.add((*path, key), there=there, next_step=step)
            return None
    if len(indices) != len(table.cells):
        return None
    every = len(indices)
    memory = table.memory * every if len(table.memory) == 1 else table.memory
    local = kept * every if len(kept) == 1 else kept
    cells = [Cell(*each) for each in zip(indices, memory, local, strict=True)]
    _check_sizes(table, cells, path, machine, problems)
    return PlacedNpartition(
        name=table.name,
        row=row,
        cells=tuple(sorted(cells, key=lambda cell: cell.index)),
        vpars=table.vpars,
        ilm_granule=table.ilm_granule or platform.granule_default.value,
        clm_granule=table.clm_granule or platform.granule_default.value,
    )


def _check_sizes(
    table: Npartition,
    cells: list[Cell],
    path: Path,
    machine: MachineDescription,
    problems: Problems,
) -> None:
    """No cell has more memory than it holds, none keeps more than it has."""
    most = machine.memory.maximum.value // machine.nodes
    for position, cell in enumerate(cells):
        if cell.memory > most:
            here = _size_path((*path, "memory"), table.memory, position, problems)
            there = f"a cell of {machine.title} holds {SIZE.format(most)}"
            step = "install less, or say in [machine.memory] maximum how much the machine holds"
            problems.add(here, there=there, next_step=step)
        elif cell.local > cell.memory:
            here = _size_path((*path, "clm"), table.clm or [0], position, problems)
            there = f"cell{cell.index} has {SIZE.format(cell.memory)} in all"
            problems.add(here, there=there, next_step="keep at most that cell-local")
        else:
            continue
        return


def _size_path(path: Path, sizes: list[int], position: int, problems: Problems) -> Path:
    written_as_list = isinstance(problems.document.value(path), list)
    return (*path, position if len(sizes) > 1 else 0) if written_as_list else path


def _check_granules(table: Npartition, path: Path, platform: Platform, problems: Problems) -> None:
    """Granules are powers of two and not too small."""
    least = platform.granule_minimum.value
    for key in ("ilm_granule", "clm_granule"):
        granule: int | None = getattr(table, key)
        if granule is None:
            continue
        if not is_power_of_two(granule):
            lower = 1 << (granule.bit_length() - 1)
            there = "a granule is a power of two"
            step = f"write {SIZE.format(max(lower, least))} or {SIZE.format(lower * 2)}"
            problems.add((*path, key), there=there, next_step=step)
            return
        if granule < least:
            there = f"the smallest granule is {SIZE.format(least)}"
            problems.add((*path, key), there=there, next_step="write at least that")
            return


def _check_counts(
    placed: PlacedNpartition, path: Path, platform: Platform, problems: Problems
) -> None:
    """The firmware keeps so many granules, and the monitor so many cells; with vPars only."""
    most_cells = platform.virtual_cells.value
    if len(placed.cells) > most_cells:
        there = f"virtual partitions run on at most {most_cells} cells of an nPartition"
        step = "give it fewer cells, or write vpars = false"
        problems.add((*path, "cells"), there=there, next_step=step)
    widest = max(placed.cells, key=lambda cell: cell.local)
    for key, size, granule, most, where in (
        ("ilm_granule", placed.interleaved, placed.ilm_granule, platform.ilm_granules, "of"),
        ("clm_granule", widest.local, placed.clm_granule, platform.clm_granules, "on a cell of"),
    ):
        count = -(-size // granule)
        if count > most.value:
            needed = 1 << (-(-size // most.value) - 1).bit_length()
            kind = "interleaved" if key == "ilm_granule" else "cell-local"
            written = key in (problems.document.value(path) or {})
            there = (
                f"{SIZE.format(size)} of {kind} memory {where} {placed.name} make {count:,} "
                f"granules of {SIZE.format(granule)}, at most {most.value:,} are possible"
            )
            step = f'write {key} = "{SIZE.format(needed)}"'
            here = (*path, key) if written else path
            problem = None if written else "the granules are too small"
            problems.add(here, problem, there=there, next_step=step, at_key=not written)
