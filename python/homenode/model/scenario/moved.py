"""Memory that an operator moves while the partitions run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from homenode.errors import ScenarioError
from homenode.model.document import Problems
from homenode.model.scenario.file.partition import MemoryPart
from homenode.model.scenario.file.scenario import ScenarioFile
from homenode.model.scenario.placed import PlacedPartition, Resolved

Seat = Callable[[ScenarioFile], Sequence[PlacedPartition]]
"""Partitions of a file at their places; raises `ScenarioError` where they have none."""


def with_memory(file: ScenarioFile, resolved: Resolved, seat: Seat, problems: Problems) -> Resolved:
    """With where the memory of each change lies: where it would in a file that had it from the
    start. What is wrong is noted.
    """
    then, changes = file.model_copy(update={"change": []}), list(resolved.changes)
    for at in sorted(range(len(changes)), key=lambda at: changes[at]["at_ns"]):
        memory = file.change[at].memory
        if memory is None:
            continue
        later = _with_that(then, at, file, memory, resolved, problems)
        placed = None if later is None else _seated(later, at, file, seat, problems)
        if later is None or placed is None:
            return resolved
        changes[at]["memory"] = [
            {"domains": list(part.domains), "bytes": part.bytes} for part in placed.memory
        ]
        then, changes[at]["data_bytes"] = later, placed.data_bytes
    return replace(resolved, changes=tuple(changes))


def _with_that(
    then: ScenarioFile,
    at: int,
    file: ScenarioFile,
    memory: list[MemoryPart],
    resolved: Resolved,
    problems: Problems,
) -> ScenarioFile | None:
    """The file as it would be with that memory from the start."""
    name = file.change[at].partition
    row = next((row for row, one in enumerate(file.partition) if one.name == name), None)
    if row is None:
        there = f"{name} is one of several that one table describes"
        step = "give it a table of its own"
        problems.add(("change", at, "memory"), there=there, next_step=step)
        return None
    table, vpars = then.partition[row], resolved.machine.platform is not None
    if vpars and _base(table.memory) != _base(memory):
        there = "base memory stays as long as the virtual partition runs"
        step = 'name it as it is, and change what has use = "floating"'
        problems.add(("change", at, "memory"), there=there, next_step=step)
        return None
    tables = list(then.partition)
    tables[row] = table.model_copy(update={"memory": memory})
    return then.model_copy(update={"partition": tables})


def _base(parts: Sequence[MemoryPart]) -> list[tuple[str, int]]:
    return sorted((part.on or "", part.size) for part in parts if part.use == "base")


def _seated(
    then: ScenarioFile, at: int, file: ScenarioFile, seat: Seat, problems: Problems
) -> PlacedPartition | None:
    name = file.change[at].partition
    try:
        return next(one for one in seat(then) if one.name == name)
    except ScenarioError as error:
        there = f"by then {error.there or error.problem}"
        problems.add(("change", at, "memory"), there=there, next_step=error.next_step)
        return None
