"""What kind of partition it is on a mainframe: its mode, the types of its cores, multithreading,
and the numbers of its processors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from homenode.errors import ScenarioError, listed
from homenode.model.catalog import MachineDescription
from homenode.model.document import Document, Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.file.guest import Zvm
from homenode.model.scenario.file.mainframe import CORE_TYPES, CoreType, PartitionMode
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.processors import Shared
from homenode.model.scenario.mainframe.numbering import ONE_THREAD, TWO_THREADS, limits, shown

_ALLOWED: dict[PartitionMode, tuple[CoreType, ...]] = {
    "linux-only": ("cp", "ifl"),
    "z/vm": CORE_TYPES,
    "general": ("cp", "ziip", "icf"),
}
PLURAL: dict[CoreType, str] = {"cp": "CPs", "ifl": "IFLs", "ziip": "zIIPs", "icf": "ICFs"}


@dataclass(frozen=True)
class PartitionKind:
    """Mode of a partition and the type of each of its logical cores."""

    mode: PartitionMode
    types: tuple[CoreType, ...]

    @property
    def counts(self) -> dict[CoreType, int]:
        """How many logical cores are of which type, in the order of the partition."""
        return {kind: self.types.count(kind) for kind in dict.fromkeys(self.types)}


def is_mainframe(machine: MachineDescription) -> bool:
    """Whether PR/SM divides the machine."""
    return machine.zvm is not None or machine.hypervisor.policy == "prsm"


def decide(
    table: Partition, row: int, machine: MachineDescription, problems: Problems
) -> PartitionKind:
    """The kind of a partition; what does not go together is noted."""
    path: Path = ("partition", row)
    kind = kind_of(table)
    _check_count(table, path, problems)
    _check_mode(kind, table, path, problems)
    if isinstance(table.guest, Zvm) and len(kind.types) > 0:
        _check_threads(kind, table.guest, path, machine, problems)
        _check_limit(kind, table, path, machine, problems)
    if not isinstance(table.guest, Zvm):
        _check_single(kind, table, path, problems)
    return kind


def kind_of(table: Partition) -> PartitionKind:
    """Mode and core types as they are written, or follow from what is."""
    processors = table.processors
    total = processors.virtual if isinstance(processors, Shared) else processors.cores
    if processors.types is not None:
        written = processors.types.items()
        types = tuple(kind for kind, count in written for _ in range(count))
    else:
        usual: CoreType = "cp" if table.mode == "general" else "ifl"
        types = (processors.type or usual,) * total
    several = len(set(types)) > 1
    usual_mode: PartitionMode = "z/vm" if several and isinstance(table.guest, Zvm) else "linux-only"
    return PartitionKind(table.mode or usual_mode, types)


def _check_count(table: Partition, path: Path, problems: Problems) -> None:
    """Numbers by type make the number of cores."""
    processors = table.processors
    if processors.types is None:
        return
    key = "virtual" if isinstance(processors, Shared) else "cores"
    total, together = getattr(processors, key), sum(processors.types.values())
    if total != together:
        there = f"its types make {together} cores"
        step = f"write {key} = {together} or leave it out"
        problems.add((*path, "processors", key), there=there, next_step=step)
    if isinstance(processors, Shared) and len(processors.types) > 1:
        there = "shared cores of one partition are of one type here"
        step = 'write type = "ifl" and virtual, or make the cores dedicated'
        problems.add((*path, "processors", "types"), there=there, next_step=step)


def _check_mode(kind: PartitionKind, table: Partition, path: Path, problems: Problems) -> None:
    """Core types go with the mode, and with each other."""
    allowed = _ALLOWED[kind.mode]
    here = _types_path(table, path)
    foreign = [one for one in dict.fromkeys(kind.types) if one not in allowed]
    told = problems.document.value(here) is not None
    if foreign:
        there = f"a partition in {_mode(kind.mode)} has no {PLURAL[foreign[0]]}"
        other = f'type = "{allowed[0]}"'
        if isinstance(table.guest, Zvm):
            other = 'mode = "z/vm"'
        elif foreign[0] in _ALLOWED["general"]:
            other += ', or mode = "general"'
        problems.add(here, there=there, next_step=f"write {other}", at_key=not told)
    elif kind.mode == "linux-only" and len(set(kind.types)) > 1:
        names = " and ".join(PLURAL[one] for one in dict.fromkeys(kind.types))
        there = f"in Linux-only mode all cores are CPs or all are IFLs, here are {names}"
        if isinstance(table.guest, Zvm):
            step = 'write mode = "z/vm", where they may be mixed, or cores of one type'
        else:
            step = "write cores of one type"
        problems.add(here, there=there, next_step=step)
    if kind.mode == "z/vm" and not isinstance(table.guest, Zvm):
        there = f"a partition in z/VM mode runs z/VM, this one has {table.guest.os}"
        step = 'write guest = { os = "zvm" } or mode = "linux-only"'
        problems.add((*path, "mode"), there=there, next_step=step)


def _types_path(table: Partition, path: Path) -> Path:
    key = "types" if table.processors.types is not None else "type"
    return (*path, "processors", key)


def _mode(mode: PartitionMode) -> str:
    return {"linux-only": "Linux-only mode", "z/vm": "z/VM mode", "general": "general mode"}[mode]


def _check_threads(
    kind: PartitionKind,
    guest: Zvm,
    path: Path,
    machine: MachineDescription,
    problems: Problems,
) -> None:
    """Multithreading where machine, mode and types have it."""
    here = (*path, "guest", "smt")
    if guest.smt == "off":
        return
    step = 'write smt = "off"'
    if machine.threads_per_core < 2:
        there = f"a core of {machine.title} has one thread"
        problems.add(here, there=there, next_step=step)
        return
    if limits(kind.mode, kind.types, guest.smt, 2) is None:
        types = " and ".join(PLURAL[one] for one in dict.fromkeys(kind.types))
        there = f"z/VM has no multithreading in {_mode(kind.mode)} with {types}"
        step += ', or use IFLs only (type = "ifl") in Linux-only mode'
        problems.add(here, there=there, next_step=step)


def check_threads_alike(tables: Sequence[Partition], document: Document) -> None:
    """Raise `ScenarioError` for a partition of which some cores would have one thread beside others
    with two: z/VM numbers its processors so, but what is simulated has as many threads a core.
    """
    problems = Problems(document, ScenarioError)
    for row, table in enumerate(tables):
        two = isinstance(table.guest, Zvm) and table.guest.smt == "smt-2"
        others = [one for one in kind_of(table).types if one != TWO_THREADS] if two else ()
        if others:
            there = (
                f"{PLURAL[others[0]]} would have one thread beside IFLs with two, which cannot be"
                " simulated"
            )
            step = 'write smt = "smt-1" or "off", or use IFLs only'
            problems.add(("partition", row, "guest", "smt"), there=there, next_step=step)
    problems.raise_any()


def _check_single(kind: PartitionKind, table: Partition, path: Path, problems: Problems) -> None:
    """No second thread under Linux where the cores' type has none."""
    single = [one for one in kind.counts if one in ONE_THREAD]
    if table.smt is not None and table.smt > 1 and single:
        there = f"{PLURAL[single[0]]} run one thread, two are for IFLs and zIIPs"
        step = 'leave smt out, or write type = "ifl"'
        problems.add((*path, "smt"), there=there, next_step=step)


def _check_limit(
    kind: PartitionKind,
    table: Partition,
    path: Path,
    machine: MachineDescription,
    problems: Problems,
) -> None:
    """No processor number beyond what z/VM supports on the machine."""
    if machine.zvm is None or not isinstance(table.guest, Zvm):
        return
    numbers, smt = machine.zvm.processors.value, table.guest.smt
    limit = limits(kind.mode, kind.types, smt, numbers)
    if limit is None:
        return
    key = "virtual" if isinstance(table.processors, Shared) else "cores"
    here: Path = (*path, "processors", key)
    if problems.document.value(here) is None:
        here = (*path, "processors", "types")
    span = f"{shown(0)} to {shown(numbers - 1)}"
    lift = 'lift it with [machine.zvm] processors = { value = ..., why = "..." }'
    asked = len(kind.types)
    if limit.cores is None and asked > numbers:
        there = (
            f"z/VM supports {numbers} logical processors on {machine.title}, numbered {span},"
            f" {asked} are asked for"
        )
        step = f"ask for at most {numbers}, divide the partition, or {lift}"
        problems.add(here, there=there, next_step=step)
    elif limit.cores is not None and asked > limit.cores:
        there = (
            f"with multithreading z/VM supports {limit.cores} logical cores on {machine.title},"
            f" two processor numbers each of {span}, {asked} are asked for"
        )
        step = f'ask for at most {limit.cores}, write smt = "off", or {lift}'
        problems.add(here, there=there, next_step=step)


def check_types(
    kinds: Mapping[int, PartitionKind],
    tables: Sequence[Partition],
    available: Mapping[CoreType, int],
    machine: MachineDescription,
    problems: Problems,
) -> None:
    """The machine has cores of every type that is asked for, and enough for dedicated ones."""
    left = dict(available)
    there = listed(f"{count} {kind}" for kind, count in available.items() if count)
    for row, table in enumerate(tables):
        for kind, count in kinds[row].counts.items():
            here = _types_path(table, ("partition", row))
            if problems.document.value(here) is None:
                here = ("partition", row, "processors")
            if not available.get(kind):
                said = f"{machine.title} has no {PLURAL[kind]} here, its cores are {there}"
                step = f"write some in [machine] characterized = {{ {kind} = {count} }}"
                problems.add(here, there=said, next_step=step)
                continue
            if isinstance(table.processors, Shared):
                continue
            if count * table.count > left[kind]:
                said = f"{left[kind]} of {available[kind]} {PLURAL[kind]} are left for it"
                step = "ask for fewer cores, or characterize more of that type"
                problems.add(here, there=said, next_step=step)
                return
            left[kind] -= count * table.count
