"""A whole spec: a machine with its partitions."""

from __future__ import annotations

from typing import Literal, TypedDict

from homenode.model.spec.guests import GuestSpec
from homenode.model.spec.machine import MachineSpec
from homenode.model.spec.sharing import (
    CgroupSpec,
    ChangeSpec,
    GroupSpec,
    MemoryPartSpec,
    PoolSpec,
    ProcessorsSpec,
    ResourcePoolSpec,
)
from homenode.model.spec.work import LoadSpec, ProfileSpec, WorkloadSpec


class InterruptsSpec(TypedDict):
    """What interrupts of a partition's devices cost, and which processors take them."""

    to: list[int]
    soft_to: list[int]
    instructions: float
    soft_instructions: float
    lines: float
    domain: int | None
    rate_per_s: float
    polls: bool
    coalesce_ns: int
    coalesce_most: int


class IoThreadsSpec(TypedDict):
    """Threads of the host that do a guest's I/O, by the partition whose they are."""

    partition: int
    request_ns: int
    answer_ns: int
    kick_ns: int


class AsidesSpec(TypedDict, total=False):
    """Further workloads of a partition and the name of its first, where it has several; what its
    devices cost, and which threads do its I/O, where any do.
    """

    workload_name: str
    beside: list[LoadSpec]
    interrupts: InterruptsSpec
    io_threads: IoThreadsSpec


class PartitionSpec(AsidesSpec):
    """A partition: its processors, its memory by domain, its guest, its work."""

    name: str
    processors: ProcessorsSpec
    smt: int
    memory: list[MemoryPartSpec]
    memory_policy: Literal["proportional", "local-first", "interleaved", "strict", "in-order"]
    data_bytes: int
    io_domain: int | None
    page_bytes: int
    hypervisor_share: float
    home: list[int]
    guest: GuestSpec
    workload: WorkloadSpec
    profile: ProfileSpec


class LimitsSpec(TypedDict, total=False):
    """Limits of several partitions together and changes during the run, where there are any."""

    groups: list[GroupSpec]
    cgroups: list[CgroupSpec]
    resource_pools: list[ResourcePoolSpec]
    changes: list[ChangeSpec]


class Spec(LimitsSpec):
    """One simulated machine with everything that runs on it."""

    name: str
    seed: int
    warmup_ns: int
    duration_ns: int
    interval_ns: int
    record_dispatches: bool
    machine: MachineSpec
    pools: list[PoolSpec]
    partitions: list[PartitionSpec]
