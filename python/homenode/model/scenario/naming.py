"""One entry a partition: `count` spelt out, every name and number taken once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from homenode.model.document import Problems
from homenode.model.scenario.file.partition import Partition


@dataclass(frozen=True)
class Named:
    """A partition by name and number, with its table and the index of that table in the file."""

    name: str
    number: int
    table: Partition
    row: int


def spell_out(tables: list[Partition], problems: Problems) -> list[Named]:
    """All partitions of a file; names and numbers that occur twice are noted."""
    names: dict[str, int] = {}
    numbers: dict[int, str] = {}
    entries = list(_entries(tables))
    for entry in entries:
        path = ("partition", entry.row)
        if names.setdefault(entry.name, entry.row) != entry.row:
            there = f"partition number {names[entry.name] + 1} of the file is called {entry.name}"
            step = "give each partition a name of its own"
            problems.add((*path, "name"), there=there, next_step=step)
        elif numbers.setdefault(entry.number, entry.name) != entry.name:
            there = f"{numbers[entry.number]} has the number {entry.number}"
            step = "give each partition a number of its own"
            problems.add((*path, "number"), there=there, next_step=step)
    return entries


def _entries(tables: list[Partition]) -> Iterator[Named]:
    """Names `name1`, `name2`, ... for several; the next free number where none is given."""
    taken = {
        table.number + copy
        for table in tables
        if table.number is not None
        for copy in range(table.count)
    }
    free = (number for number in range(1, 2**31) if number not in taken)
    for row, table in enumerate(tables):
        for copy in range(table.count):
            name = table.name if table.count == 1 else f"{table.name}{copy + 1}"
            number = next(free) if table.number is None else table.number + copy
            yield Named(name, number, table, row)
