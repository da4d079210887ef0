"""What the readers find: virtual partitions, cells, hard partitions, each with its lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from homenode.errors import Where
from homenode.records.importing.opening.sources import Notice

INTERLEAVED = None
"""The place of memory whose lines lie on all cells in turn."""


@dataclass(frozen=True)
class MemorySize:
    """Memory of a virtual partition of one kind [MB]."""

    cell: int | None
    base: int
    floating: int


@dataclass(frozen=True)
class VirtualPartition:
    """A virtual partition as its monitor lists it."""

    name: str
    state: str
    minimum: int
    maximum: int
    by_path: tuple[str, ...]
    """Cores that were asked for by path."""
    by_cell: Mapping[int, int]
    """Cores that were asked for by cell."""
    by_count: int
    """Cores that were asked for by number."""
    boot: str | None
    paths: tuple[str, ...]
    """Paths of all its cores, as far as they are decided."""
    io: Mapping[int, bool]
    """Cells of its I/O; whether it boots from there."""
    memory: tuple[MemorySize, ...]
    ilm_granule: int | None
    clm_granule: int | None
    lines: Mapping[str, Where] = field(compare=False)

    @property
    def cores(self) -> int:
        """How many it has."""
        return len(self.by_path) + sum(self.by_cell.values()) + self.by_count

    @property
    def cells(self) -> set[int]:
        """Cells it has cores or memory of."""
        of_paths = {cell_of(path) for path in self.paths}
        of_memory = {size.cell for size in self.memory if size.cell is not None}
        return of_paths | set(self.by_cell) | of_memory

    def where(self, fact: str) -> Where | None:
        """The line of a fact."""
        return self.lines.get(fact)


@dataclass(frozen=True)
class Cell:
    """A cell as parstatus lists it."""

    number: int
    partition: int | None
    """Number of its hard partition."""
    memory: int | None
    """Memory that is in order [MB]; none if the cell is absent."""
    processors: int | None
    deconfigured: int
    interleaves: bool
    chassis: bool
    """Whether an I/O chassis is connected to it."""
    where: Where = field(compare=False)


@dataclass
class Findings:
    """All that was found in one file, or in several."""

    virtual: list[VirtualPartition] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    local: dict[int, tuple[int, Where]] = field(default_factory=dict)
    """Cell-local memory by cell [MB], where a listing says it."""
    partition_names: dict[int, tuple[str, Where]] = field(default_factory=dict)
    product: tuple[str, Where] | None = None
    """What the server is called, if it says so."""
    notices: list[Notice] = field(default_factory=list)
    reports: list[tuple[str, str]] = field(default_factory=list)
    """Files with the listings found in them."""


def cell_of(path: str) -> int:
    """The cell of a hardware path: its first number."""
    return int(path.replace("/", ".").split(".", 1)[0])
