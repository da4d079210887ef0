"""What a scenario is once everything is decided: a machine, pools, partitions each at its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from homenode.model.catalog import MachineDescription
from homenode.model.catalog.profile_model import Numbers
from homenode.model.scenario.cellular.cores import AssignedCores
from homenode.model.scenario.cellular.hardware import PlacedNpartition
from homenode.model.scenario.cellular.memory import GrantedMemory
from homenode.model.scenario.file.mainframe import Group
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.processors import Shared
from homenode.model.scenario.file.scenario import Pool
from homenode.model.scenario.file.workload import Workload
from homenode.model.scenario.host.groups import OnHost, PlacedCgroup
from homenode.model.scenario.mainframe.members import PlacedMachine
from homenode.model.scenario.mainframe.placing import InMainframe
from homenode.model.scenario.played import Asked, Played
from homenode.model.spec import ChangeSpec, ResourcePoolSpec


@dataclass(frozen=True)
class PlacedMemory:
    """Part of a partition's memory at its place."""

    domains: tuple[int, ...]
    """Its memory domain, or those over which its lines are interleaved."""
    bytes: int


@dataclass(frozen=True)
class InCells:
    """What the configuration of a machine of cells says of a partition."""

    npartition: PlacedNpartition
    cores: AssignedCores
    """Its cores, by how they were asked for."""
    memory: tuple[GrantedMemory, ...]
    """Its memory, part by part as the file has it."""
    io: int | None
    """Cell its I/O hangs on, if stated."""


@dataclass(frozen=True)
class PlacedLoad:
    """A workload beside the first of its partition."""

    name: str
    table: Workload
    profile: Numbers
    """The profile as the engine takes it."""
    demand: Played | None = None
    """What it plays, if that is recorded demand."""


@dataclass(frozen=True)
class PlacedPartition:
    """One partition with everything decided."""

    name: str
    number: int
    table: Partition
    """Its table in the file; partitions of one `count` share it."""
    row: int
    """Index of that table in the file."""
    smt: int
    memory_bytes: int
    home: tuple[int, ...]
    """Chips its virtual processors are homed on, in turn."""
    cores: tuple[int, ...] | None
    """Its cores if it is dedicated."""
    memory: tuple[PlacedMemory, ...]
    """Its memory, part by part."""
    profile: Numbers
    """The profile as the engine takes it."""
    page_bytes: int
    """Length of its pages [bytes]."""
    io_domain: int | None = None
    """Memory domain beside which its I/O hangs, if known."""
    hypervisor_share: float = 0.0
    """Share of its core time that goes to a monitor below it."""
    in_cells: InCells | None = None
    """On a machine of cells, what its configuration says of it."""
    mainframe: InMainframe | None = None
    """On a mainframe, its mode, core types, entitlement and virtual machines."""
    host: OnHost | None = None
    """On a Linux or Xen host, what it knows of its threads."""
    demand: Played | None = None
    """What its workload plays, if that is recorded demand."""
    beside: tuple[PlacedLoad, ...] = ()
    """Its workloads beside the first."""
    gangs: Mapping[int, Played] = field(default_factory=dict)
    """What gangs of its guest's daemons play, by their place in the table."""
    guest_demand: Mapping[str, Played] = field(default_factory=dict)
    """What its virtual machines play, by name, where that is recorded demand."""

    @property
    def entitlement(self) -> float:
        """Entitled capacity: all cores of a dedicated partition [cores]."""
        processors = self.table.processors
        if not isinstance(processors, Shared):
            return float(processors.cores)
        if self.mainframe is not None:
            return self.mainframe.entitlement
        if self.host is not None:
            return self.host.entitlement
        return processors.entitlement or 0.0

    @property
    def virtual(self) -> int:
        """Virtual processors, or cores if it is dedicated."""
        processors = self.table.processors
        return processors.virtual if isinstance(processors, Shared) else processors.cores

    @property
    def elsewhere_bytes(self) -> int:
        """Of a KVM guest's memory, what its balloon holds or its host has swapped out [bytes]."""
        kvm = self.table.kvm
        return 0 if kvm is None else kvm.elsewhere

    @property
    def touched_bytes(self) -> int:
        """Data that the work touches all the time, wherever it is [bytes]."""
        whole = sum(part.bytes for part in self.memory) + self.elsewhere_bytes
        return int(whole * self.table.guest.memory_used)

    @property
    def data_bytes(self) -> int:
        """Of that, what is in the machine's memory [bytes]."""
        return min(self.touched_bytes, sum(part.bytes for part in self.memory))

    @property
    def logical_cpus(self) -> int:
        """Hardware threads the guest sees."""
        return self.virtual * self.smt

    @property
    def machines(self) -> tuple[PlacedMachine, ...]:
        """Its virtual machines under z/VM."""
        system = None if self.mainframe is None else self.mainframe.zvm
        return () if system is None else system.members.machines

    @property
    def result_rows(self) -> int:
        """Rows of all result tables for one interval: its own, its processors', under z/VM those
        of virtual machines, switches and paging volumes.
        """
        rows = 1 + self.logical_cpus + (1 + len(self.beside) if self.beside else 0)
        if self.mainframe is not None and self.mainframe.zvm is not None:
            rows += len(self.machines) + len(self.mainframe.zvm.members.switches)
        return rows + (0 if self.table.paging is None else self.table.paging.volumes)


@dataclass(frozen=True)
class Resolved:
    """A whole scenario with everything decided."""

    machine: MachineDescription
    pools: tuple[Pool, ...]
    partitions: tuple[PlacedPartition, ...]
    npartitions: tuple[PlacedNpartition, ...] = ()
    groups: tuple[Group, ...] = ()
    cgroups: tuple[PlacedCgroup, ...] = ()
    """Control groups of a Linux host, outer ones first."""
    resource_pools: tuple[ResourcePoolSpec, ...] = ()
    """Resource pools of an ESXi host, outer ones first."""
    changes: tuple[ChangeSpec, ...] = ()
    """What an operator changes during the run, in order of the file."""
    asked: Mapping[str, Asked] = field(default_factory=dict)
    """The cores that work is to take, where it is told so: by partition, or partition and virtual
    machine (`lpar/guest`).
    """
    found: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """The work that takes them, step by step [instructions/s], where it was found."""
    pool_members: tuple[tuple[int, ...] | None, ...] = (None,)
    """Cores of each pool, where a pool has cores of its own; else None."""

    @property
    def pool_cores(self) -> int:
        """Active cores that are not dedicated."""
        taken = sum(len(partition.cores or ()) for partition in self.partitions)
        return self.machine.active_cores - taken
