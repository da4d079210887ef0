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
)
from homenode.model.spec.work import LoadSpec, ProfileSpec, WorkloadSpec


class LoadsSpec(TypedDict, total=False):
    """Further workloads of a partition and the name of its first, where it has several."""

    workload_name: str
    beside: list[LoadSpec]


class PartitionSpec(LoadsSpec):
    """A partition: its processors, its memory by domain, its guest, its work."""

    name: str
    processors: ProcessorsSpec
    smt: int
    memory: list[MemoryPartSpec]
    memory_policy: Literal["proportional", "local-first", "interleaved", "strict"]
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
