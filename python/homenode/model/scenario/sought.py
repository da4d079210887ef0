"""What a scenario, or whoever runs it, looks for: in which partition, and under which limit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from homenode.errors import ScenarioError, listed, nearest
from homenode.model.document import Document, Problems
from homenode.model.scenario.file.find import Find, Wanted
from homenode.model.scenario.file.workload import Users, Warehouses
from homenode.model.scenario.placed import PlacedPartition

_NS_PER_S = 1e9
_KINDS: dict[Wanted, type[Users | Warehouses]] = {"users": Users, "score": Warehouses}
_WORDS: dict[Wanted, str] = {"users": "users", "score": "warehouses"}


@dataclass(frozen=True)
class Sought:
    """What is looked for, with everything decided."""

    of: Wanted
    partition: PlacedPartition
    workload: Users | Warehouses
    """The partition's, as the file has it."""
    response_ns: int
    """What the mean response of users stays under [ns]; 0 of a score."""

    @property
    def response_s(self) -> float:
        """The limit of the mean response [s]."""
        return self.response_ns / _NS_PER_S

    @property
    def think_s(self) -> float:
        """What users think between two transactions, mean [s]."""
        return getattr(self.workload, "think", 0) / _NS_PER_S

    def changes(self, count: int) -> dict[str, object]:
        """What makes a scenario one with so many users or warehouses, that looks for nothing."""
        name = json.dumps(self.partition.table.name, ensure_ascii=False)
        return {f"partition.{name}.workload.count": count, "find": None}


def sought(partitions: Sequence[PlacedPartition], find: Find, source: str) -> Sought:
    """What is looked for in a scenario; `ScenarioError` for what is not there."""
    wrong = _wrong(partitions, find)
    if wrong is not None:
        _, there, step = wrong
        raise ScenarioError(f"{source}: {there}", next_step=step)
    chosen, workload = next(
        pair for pair in _fit(partitions, find) if find.partition in (None, pair[0].name)
    )
    return Sought(find.of, chosen, workload, find.response or 0)


def check_find(
    find: Find | None, partitions: Sequence[PlacedPartition], document: Document
) -> None:
    """Refuse a table `[find]` that looks for what is not there, at its place."""
    wrong = None if find is None else _wrong(partitions, find)
    if wrong is None:
        return
    key, there, step = wrong
    problems = Problems(document, ScenarioError)
    written = document.value(("find", key)) is not None
    problems.add(
        ("find", key) if written else ("find",), there=there, next_step=step, at_key=not written
    )
    problems.raise_any()


def _fit(
    partitions: Sequence[PlacedPartition], find: Find
) -> list[tuple[PlacedPartition, Users | Warehouses]]:
    """Those with a workload of the kind, and it."""
    kind, found = _KINDS[find.of], []
    for one in partitions:
        workload = one.table.workload
        if isinstance(workload, kind) and not one.beside:
            found.append((one, workload))
    return found


def _wrong(partitions: Sequence[PlacedPartition], find: Find) -> tuple[str, str, str] | None:
    """The key that is wrong, why, and what to do; None if nothing is."""
    every = [one.name for one in partitions]
    fit = [one.name for one, _ in _fit(partitions, find)]
    words = _WORDS[find.of]
    if find.partition is not None and find.partition not in every:
        there = f"no partition is called {find.partition}{nearest(find.partition, every)}"
        return "partition", there, f"name one of {listed(every)}"
    if find.partition is not None and find.partition not in fit:
        several = next(len(one.beside) for one in partitions if one.name == find.partition)
        there = f"the workload of {find.partition} is none of {words}"
        if several:
            there = f"{find.partition} has several workloads, which are not looked for"
        step = f"name one of {listed(fit)}" if fit else f'give it kind = "{words}"'
        return "partition", there, step
    if not fit:
        return "of", f"no partition has a workload of {words}", f'give one kind = "{words}"'
    if find.partition is None and len(fit) > 1:
        return "partition", f"{listed(fit)} have {words}", "name one of them"
    if find.of == "users" and find.response is None:
        there = "users are found by the response that they get"
        return "response", there, 'say what its mean stays under, such as "2 s"'
    if find.of == "score" and find.response is not None:
        return "response", "a score has no limit of the response", "leave it out"
    return None
