"""Partitions of a mainframe with everything decided that other machines do not have."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from homenode.model.catalog import MachineDescription
from homenode.model.catalog.control_program import ControlProgram
from homenode.model.document import Problems
from homenode.model.scenario.file.guest import Zvm
from homenode.model.scenario.file.mainframe import (
    CORE_TYPES,
    CoreType,
    PartitionMode,
    Polarization,
)
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.processors import Shared
from homenode.model.scenario.file.scenario import Pool, ScenarioFile
from homenode.model.scenario.mainframe.control_program import choose_control_program
from homenode.model.scenario.mainframe.kinds import PartitionKind, check_types, decide
from homenode.model.scenario.mainframe.members import Members, spell_members
from homenode.model.scenario.mainframe.numbering import numbers_of
from homenode.model.scenario.mainframe.pools import pools_of
from homenode.model.scenario.mainframe.weights import (
    available_cores,
    check_shared,
    entitlements,
    shared_cores,
)
from homenode.model.scenario.naming import Named
from homenode.model.spec import CpuPoolSpec


@dataclass(frozen=True)
class VirtualSystem:
    """z/VM in a partition."""

    control_program: ControlProgram
    members: Members
    pools: Sequence[CpuPoolSpec]


@dataclass(frozen=True)
class InMainframe:
    """What a mainframe says of a partition."""

    mode: PartitionMode
    types: tuple[CoreType, ...]
    """Type of each logical core."""
    numbers: tuple[tuple[int, ...], ...]
    """Processor numbers of each logical core, under z/VM; none under another system."""
    entitlement: float
    """Entitled capacity, from the weights [cores]."""
    polarization: Polarization
    zvm: VirtualSystem | None
    """Its virtual machines, if z/VM runs in it."""


def pool_name(kind: CoreType) -> str:
    """What the shared cores of a type are called in results."""
    return kind.upper()


@dataclass(frozen=True)
class Mainframe:
    """What a mainframe says of all its partitions."""

    shared: Mapping[CoreType, int]
    """Cores of each type that are not dedicated."""
    partitions: Mapping[str, InMainframe]
    is_shared: bool
    """Whether any partition shares its cores."""


def place_in_mainframe(
    file: ScenarioFile, entries: Sequence[Named], machine: MachineDescription, problems: Problems
) -> Mainframe:
    """Kinds, entitlements and virtual machines of all partitions; what is wrong is noted."""
    tables = file.partition
    kinds = {row: decide(table, row, machine, problems) for row, table in enumerate(tables)}
    _check_groups(file, problems)
    told, before = file.machine.characterized, len(problems)
    available = available_cores(told, kinds, tables, machine, problems)
    shared = shared_cores(available, kinds, tables)
    if len(problems) == before:
        check_types(kinds, tables, available, machine, problems)
        check_shared(tables, kinds, shared, [group.name for group in file.group], problems)
    entitled = entitlements(entries, kinds, shared)
    systems = {row: _system(table, row, problems) for row, table in enumerate(tables)}
    found = {
        entry.name: _of_partition(
            entry.table, kinds[entry.row], entitled[entry.name], systems[entry.row]
        )
        for entry in entries
    }
    is_shared = any(isinstance(table.processors, Shared) for table in tables)
    return Mainframe({kind: n for kind, n in shared.items() if n}, found, is_shared)


def divide_cores(
    mainframe: Mainframe, taken: Collection[int], machine: MachineDescription
) -> tuple[tuple[Pool, ...], tuple[tuple[int, ...], ...]]:
    """A pool for each type of which cores are shared, and its cores: those that are not dedicated,
    in the order of the machine.
    """
    free = [
        core
        for chip in range(machine.chips)
        for core in machine.active_cores_of(chip)
        if core not in taken
    ]
    kinds = [kind for kind in CORE_TYPES if kind in mainframe.shared]
    pools, members = [], []
    for kind in kinds:
        count = mainframe.shared[kind]
        pools.append(Pool(name=pool_name(kind)))
        members.append(tuple(free[:count]))
        free = free[count:]
    return tuple(pools), tuple(members)


def _check_groups(file: ScenarioFile, problems: Problems) -> None:
    names: set[str] = set()
    for row, group in enumerate(file.group):
        if group.name in names:
            step = "give each group a name of its own"
            problems.add(("group", row, "name"), there="another group has it", next_step=step)
        names.add(group.name)


def _system(table: Partition, row: int, problems: Problems) -> VirtualSystem | None:
    if not isinstance(table.guest, Zvm):
        return None
    program = choose_control_program(table, row, problems)
    before = len(problems)
    members = spell_members(table, row, program, problems)
    return VirtualSystem(program, members, pools_of(table) if len(problems) == before else ())


def _of_partition(
    table: Partition, kind: PartitionKind, entitlement: float, system: VirtualSystem | None
) -> InMainframe:
    guest = table.guest
    numbers = numbers_of(kind.types, guest.smt) if isinstance(guest, Zvm) else ()
    return InMainframe(
        mode=kind.mode,
        types=kind.types,
        numbers=numbers,
        entitlement=entitlement,
        polarization=_polarization(table),
        zvm=system,
    )


def _polarization(table: Partition) -> Polarization:
    """z/VM's own setting; any other system runs horizontally unless told otherwise."""
    if isinstance(table.guest, Zvm):
        return table.guest.polarization
    processors = table.processors
    told = processors.polarization if isinstance(processors, Shared) else None
    return told or "horizontal"
