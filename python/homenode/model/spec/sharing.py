"""How partitions share processors: pools, groups, control groups, virtual processors."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class PoolSpec(TypedDict):
    """A shared pool; `cores` only where each pool has its own."""

    name: str
    maximum: float | None
    reserved: float
    cores: NotRequired[list[int]]


class GroupSpec(TypedDict):
    """Partitions that PR/SM limits together."""

    name: str
    cap: float


class CgroupSpec(TypedDict):
    """A control group of a Linux host; its parent by index, None below the root."""

    name: str
    parent: int | None
    weight: int
    quota_ns: int | None
    period_ns: int
    burst_ns: int
    cpuset: list[int] | None
    idle: bool


class DefinedCapacitySpec(TypedDict):
    """Limit of a rolling average under PR/SM."""

    cores: float
    window_ns: int
    start_cores: float


class LogicalCoresSpec(TypedDict):
    """How a partition's logical cores share the physical ones under PR/SM."""

    polarization: Literal["horizontal", "vertical"]
    cap: float | None
    group: int | None
    defined_capacity: DefinedCapacitySpec | None


class PauseLoopSpec(TypedDict):
    """How a processor tells that a guest spins."""

    gap_cycles: int
    window_cycles: int


class ParavirtualLocksSpec(TypedDict):
    """Queue locks of a guest that knows it is one."""

    spin_ns: int
    early_ns: int
    early_if_preempted: bool
    kick_yields: bool


class KvmSpec(TypedDict):
    """What KVM does for a guest's virtual processors."""

    halt_poll_ns: int
    halt_poll_grow_start_ns: int
    halt_poll_grow: int
    halt_poll_shrink: int
    exit_ns: int
    entry_ns: int
    idle_exits: NotRequired[int]
    pause_loop: PauseLoopSpec | None
    directed_yield: bool
    lock_holder_preemption: bool
    paravirtual_locks: ParavirtualLocksSpec | None
    paravirtual_flush: bool
    polls_in_guest: NotRequired[bool]


class VirtualizedSpec(TypedDict):
    """What a hypervisor costs a virtual machine while it runs."""

    page_bytes: int
    exit_ns: int
    timer_exits: int
    posted_interrupts: bool


class MachineSharesSpec(TypedDict):
    """An ESXi virtual machine's claim on the host."""

    shares: int
    reservation: float
    pool: NotRequired[int]


class ResourcePoolSpec(TypedDict):
    """A resource pool of an ESXi host; its parent by index, None where it is in none."""

    name: str
    parent: int | None
    shares: int
    reservation: float
    limit: float | None
    expandable: bool


class HostThreadsSpec(TypedDict):
    """What a Linux, Xen or ESXi host knows of a partition's threads."""

    cgroup: int | None
    pins: list[list[int]]
    soft_pins: NotRequired[list[list[int]]]
    slice_ns: int | None
    nice: int
    kvm: KvmSpec | None
    cap: float | None
    machine: NotRequired[MachineSharesSpec]
    virtualized: NotRequired[VirtualizedSpec]


class SharedSpec(TypedDict):
    """Virtual processors dispatched on a pool."""

    mode: Literal["shared"]
    entitlement: float
    virtual: int
    capped: bool
    weight: int | None
    soft_cap: NotRequired[bool]
    pool: int
    prsm: NotRequired[LogicalCoresSpec]
    host: NotRequired[HostThreadsSpec]


class DedicatedSpec(TypedDict):
    """Whole cores of a partition's own."""

    mode: Literal["dedicated"]
    cores: list[int]
    donating: bool
    donate_threshold_pct: float


ProcessorsSpec = SharedSpec | DedicatedSpec


class ChangeSpec(TypedDict):
    """A partition's configuration from a time on, counted from the end of the warm-up."""

    at_ns: int
    partition: int
    entitlement: NotRequired[float]
    virtual: NotRequired[int]
    capped: NotRequired[bool]
    weight: NotRequired[int]
    soft_cap: NotRequired[bool]
    smt: NotRequired[int]
    cores: NotRequired[list[int]]
    memory: NotRequired[list[MemoryPartSpec]]
    data_bytes: NotRequired[int]
    running: NotRequired[bool]


class MemoryPartSpec(TypedDict):
    """Part of a partition's memory; of several domains, interleaved over them."""

    domains: list[int]
    bytes: int
