"""What an operator changes during the run: each change checked against what its partition is by
then, and all of them against the machine.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from homenode.errors import listed, suggestion
from homenode.model.catalog import MachineDescription
from homenode.model.catalog.hypervisor import PowerVm
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario import checks
from homenode.model.scenario.cellular.paths import cell_of, cores_of_cell
from homenode.model.scenario.file.change import Change
from homenode.model.scenario.file.processors import DEFAULT_WEIGHT, SOFT_CAP, Dedicated, Shared
from homenode.model.scenario.file.scenario import Run
from homenode.model.scenario.placed import PlacedPartition, Resolved
from homenode.model.scenario.totals import entitled_beyond
from homenode.model.spec import ChangeSpec
from homenode.model.units import TIME

_KEYS = ("entitlement", "virtual", "capped", "weight", "smt", "cores", "memory", "running")


@dataclass
class _Then:
    """A partition as it is by some time."""

    placed: PlacedPartition
    processors: Shared | Dedicated
    smt: int
    cores: list[int] = field(default_factory=list)
    """Cores of a virtual partition, those first that it keeps longest."""

    @classmethod
    def at_first(cls, placed: PlacedPartition) -> _Then:
        """As its table has it."""
        cores = list(placed.cores or ())
        return cls(placed, placed.table.processors, placed.smt, cores)


def place_changes(
    changes: list[Change], resolved: Resolved, run: Run, problems: Problems
) -> tuple[ChangeSpec, ...]:
    """All changes in order of the file, as the engine takes them; what is wrong is noted."""
    then = {partition.name: _Then.at_first(partition) for partition in resolved.partitions}
    index = {name: at for at, name in enumerate(then)}
    found: list[ChangeSpec] = []
    order: list[int] = []
    for at in _in_turn(changes, then):
        change, path = changes[at], ("change", at)
        if not _is_there(change, path, list(then), run, problems):
            continue
        before, one = len(problems), then[change.partition]
        _check_keys(change, path, one, resolved.machine, problems)
        if len(problems) > before:
            continue
        spec: ChangeSpec = {"at_ns": change.at, "partition": index[change.partition]}
        _apply(change, path, one, spec, then, resolved, problems)
        found.append(spec)
        order.append(at)
    if not problems:
        _check_moments(found, changes, order, resolved, problems)
    by_row = dict(zip(order, found, strict=True))
    return tuple(by_row[at] for at in sorted(by_row))


def _in_turn(changes: list[Change], then: dict[str, _Then]) -> Iterator[int]:
    """Places of the changes in order of time; at one time those come first that free cores."""
    places = sorted(range(len(changes)), key=lambda at: changes[at].at)
    for _, group in itertools.groupby(places, key=lambda at: changes[at].at):

        def takes(at: int) -> bool:
            one = then.get(changes[at].partition)
            return one is not None and (changes[at].cores or 0) > len(one.cores)

        yield from sorted(group, key=takes)


def _is_there(change: Change, path: Path, names: list[str], run: Run, problems: Problems) -> bool:
    """The partition and the time are of this run."""
    before = len(problems)
    if change.partition not in names:
        there = f"the partitions are {listed(names)}"
        step = suggestion(change.partition, names, "name one of them")
        problems.add((*path, "partition"), there=there, next_step=step)
    if change.at >= run.duration:
        there = f"the run records {TIME.format(run.duration)}, counted from the end of the warm-up"
        step = "name an earlier time, or make [run] duration longer"
        problems.add((*path, "at"), there=there, next_step=step)
    return len(problems) == before


def _changeable(one: _Then, machine: MachineDescription) -> tuple[str, ...]:
    """Keys that this platform changes of such a partition while it runs."""
    shared = isinstance(one.processors, Shared)
    if isinstance(machine.hypervisor, PowerVm):
        return (*_KEYS[:5], "memory", "running") if shared else ("smt", "memory", "running")
    if one.placed.mainframe is not None and one.placed.mainframe.zvm is not None:
        return ("capped", "weight") if shared else ()
    if one.placed.mainframe is not None:
        return ("virtual", "capped", "weight", "running") if shared else ("running",)
    if one.placed.in_cells is not None:
        vpars = one.placed.in_cells.npartition.vpars
        return ("cores", "memory", "running") if vpars else ("running",)
    return ()


def _check_keys(
    change: Change, path: Path, one: _Then, machine: MachineDescription, problems: Problems
) -> None:
    """Something is asked for, nothing that its platform cannot do, all within its bounds."""
    known = _changeable(one, machine)
    asked = [key for key in _KEYS if getattr(change, key) is not None]
    can = f"what can change of it is {listed(known)}" if known else "nothing of it can change"
    there = f"{one.placed.name} runs on {machine.title}: {can}"
    for key in asked:
        if key not in known:
            problems.add((*path, key), there=there, next_step=f"leave {key} out")
    if not asked:
        step = f"write one of {listed(known)}" if known else "leave the table out"
        problems.add(path, "it says no new value", there=there, next_step=step, at_key=True)
    for key, side, bound in _bounds(one):
        value = getattr(change, key)
        if value is None or (value >= bound if side == "minimum" else value <= bound):
            continue
        limit = "at least" if side == "minimum" else "at most"
        there = f"the {side} of {one.placed.name} is {bound:g}"
        step = f"write {limit} that, or another {side} in the partition"
        problems.add((*path, key), there=there, next_step=step)


def _bounds(one: _Then) -> Iterator[tuple[str, str, float]]:
    """Least and most of a key that the partition's profile allows."""
    for side in ("minimum", "maximum"):
        told = getattr(one.placed.table, side)
        for key in ("entitlement", "virtual", "cores"):
            bound = getattr(told, key, None)
            if bound is not None:
                yield key, side, bound
        own = getattr(one.processors, side, None)
        if own is not None:
            yield "cores", side, own


def _apply(
    change: Change,
    path: Path,
    one: _Then,
    spec: ChangeSpec,
    then: dict[str, _Then],
    resolved: Resolved,
    problems: Problems,
) -> None:
    """Makes it so, and writes it down in the engine's words."""
    machine = resolved.machine
    if change.running is not None:
        spec["running"] = change.running
    if change.smt is not None:
        spec["smt"] = one.smt = change.smt
        if change.smt > machine.threads_per_core:
            threads = machine.threads_per_core
            there = f"a core of {machine.title} ({machine.generation}) has {threads} threads"
            problems.add((*path, "smt"), there=there, next_step=f"write smt = 1 to {threads}")
    if change.cores is not None:
        _move_cores(change.cores, path, one, then, resolved, problems)
        spec["cores"] = list(one.cores)
    if not isinstance(one.processors, Shared):
        return
    keys = ("entitlement", "virtual", "capped", "weight")
    new = {key: value for key in keys if (value := getattr(change, key)) is not None}
    one.processors = one.processors.model_copy(update=new)
    for key in ("entitlement", "virtual", "capped"):
        if key in new:
            spec[key] = new[key]
    if change.weight is not None and isinstance(machine.hypervisor, PowerVm):
        spec["soft_cap"] = change.weight == SOFT_CAP
    if change.weight is not None:
        spec["weight"] = DEFAULT_WEIGHT if change.weight == SOFT_CAP else change.weight
    if new and isinstance(machine.hypervisor, PowerVm):
        checks.check_shares(one.processors, path, machine, problems)


def _move_cores(
    count: int,
    path: Path,
    one: _Then,
    then: dict[str, _Then],
    resolved: Resolved,
    problems: Problems,
) -> None:
    """Takes a virtual partition's last cores away, never the one it booted on, or gives it free
    ones: those of its own cells first.
    """
    where = one.placed.in_cells
    if where is None:
        return
    boot, machine = where.cores.boot, resolved.machine
    if one.cores[0] != boot:
        one.cores = [boot, *(core for core in one.cores if core != boot)]
    if count <= len(one.cores):
        one.cores = one.cores[:count]
        return
    taken = {core for other in then.values() for core in other.cores}
    own = {cell_of(core, machine) for core in one.cores}
    cells = where.npartition.indices
    free = [c for cell in cells for c in cores_of_cell(cell, machine) if c not in taken]
    free.sort(key=lambda core: (cell_of(core, machine) not in own, core))
    wanted = count - len(one.cores)
    if wanted > len(free):
        there = f"{len(free)} are free in nPartition {where.npartition.name} by then"
        step = "ask for fewer, or take some of another virtual partition at that time or before"
        problems.add((*path, "cores"), there=there, next_step=step)
    one.cores += free[:wanted]


def _check_moments(
    found: list[ChangeSpec],
    changes: list[Change],
    order: list[int],
    resolved: Resolved,
    problems: Problems,
) -> None:
    """At no time more is entitled than there is; what happens at one time counts together."""
    entitled = [partition.entitlement for partition in resolved.partitions]
    for place, (at, spec) in enumerate(zip(order, found, strict=True)):
        entitled[spec["partition"]] = spec.get("entitlement", entitled[spec["partition"]])
        if place + 1 < len(found) and found[place + 1]["at_ns"] == spec["at_ns"]:
            continue
        wrong = entitled_beyond(resolved, entitled)
        if wrong is not None:
            path: Path = ("change", at)
            asked = changes[at].entitlement is not None
            problems.add(
                (*path, "entitlement") if asked else path,
                None if asked else "more is entitled than there is",
                there=f"by then {wrong}",
                next_step="ask for less, or take some of another partition at that time or before",
                at_key=not asked,
            )
            return
