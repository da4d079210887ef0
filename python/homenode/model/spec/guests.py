"""The guests of a spec: their schedulers, and z/VM with all that runs in it."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from homenode.model.spec.machine import ByDistance
from homenode.model.spec.work import StepsSpec


class GangSpec(TypedDict):
    """A daemon of which several threads wake at once."""

    threads: int
    every_ns: int
    work_ns: int
    lengths_ns: NotRequired[list[int]]
    instructions_per_s: NotRequired[list[float]]


class SchedulerSpec(TypedDict):
    """What the scheduler of every guest but z/VM has."""

    tick_ns: int
    tick_cost_ns: int
    timeslice_ns: int
    rebalance_ns: int | None
    daemon_rate_per_s: float
    daemon_ns: int
    gangs: NotRequired[list[GangSpec]]


class UnixSpec(SchedulerSpec):
    """A guest without processor folding."""

    os: Literal["hpux", "linux"]
    packing: bool


class AixSpec(SchedulerSpec):
    """AIX with its `schedo` tunables."""

    os: Literal["aix"]
    throughput_mode: int
    xvcpus: int
    fold_threshold_pct: float
    snooze_delay_ns: int | None


class CpPathsSpec(TypedDict):
    """Path lengths of z/VM's Control Program [instructions]."""

    dispatch: float
    scan: float
    interruption: float
    frame: float
    searches: float
    element: float
    page_io: float
    page: float
    signal: NotRequired[float]
    master: NotRequired[float]


class CpLocksSpec(TypedDict):
    """Formal spin locks of z/VM's Control Program."""

    dispatch: float
    ready: NotRequired[float]
    frame: float
    page: float
    asked: NotRequired[float]
    hold: float
    lines: float
    search: NotRequired[float]
    look: float
    delay: float


class CpShareSpec(TypedDict, total=False):
    """A share of a partition's processors, one of the two."""

    absolute: float
    relative: int


class ArrivalsSpec(TypedDict):
    """When transactions come to a virtual machine: at a rate, from users, or as work is played.

    Each comes to a processor in so many bursts on the mean, with waits between them.
    """

    rate_per_s: float
    users: NotRequired[int]
    think_ns: NotRequired[int]
    played: NotRequired[StepsSpec]
    bursts: NotRequired[float]
    wait_ns: NotRequired[int]


class GuestWorkSpec(ArrivalsSpec):
    """Transactions that come to a virtual machine from outside."""

    instructions: float
    work: Literal["constant", "exponential"]
    answer_bytes: int


class CpuPoolSpec(TypedDict):
    """Virtual machines that may use so many cores together."""

    name: str
    cores: float


class VirtualMachineSpec(TypedDict):
    """A virtual machine under z/VM; its switch by index."""

    name: str
    cpus: int
    memory_bytes: int
    role: Literal["client", "server", "work", "loop", "idle"]
    share: CpShareSpec
    maximum: CpShareSpec | None
    limit_hard: bool
    cpu_pool: NotRequired[int]
    switch: int | None
    work: NotRequired[GuestWorkSpec]


class SwitchSpec(TypedDict):
    """A virtual switch under z/VM."""

    name: str
    layer: Literal["ethernet", "ip"]
    frame_bytes: int


class StorageSpec(TypedDict):
    """A storage server with a read cache before its disks."""

    cache_bytes: int
    stage_pages: float
    disks: int
    disk_ns: int


class PagingSpec(TypedDict):
    """Paging volumes behind one storage server."""

    volumes: int
    control_units: int
    aliases: int
    paths: NotRequired[int]
    exchange_ns: NotRequired[int]
    link_page_ns: NotRequired[int]
    transport: bool
    bytes: int
    block_pages: int
    changed: float
    guest_frames: float
    pend_ns: int
    connect_ns: int
    command_page_ns: int
    page_ns: int
    storage: StorageSpec


class ZvmSpec(TypedDict):
    """z/VM's Control Program with its virtual machines."""

    os: Literal["zvm"]
    vertical: bool
    unparking: Literal["large", "medium", "small"]
    cpupad: float
    excessuse: Literal["high", "medium", "low", "none"]
    park_interval_ns: int
    minor_slice_ns: int
    daemon_rate_per_s: NotRequired[float]
    daemon_ns: NotRequired[int]
    steal_barrier: ByDistance
    paths: CpPathsSpec
    locks: CpLocksSpec
    machines: list[VirtualMachineSpec]
    cpu_pools: NotRequired[list[CpuPoolSpec]]
    switches: list[SwitchSpec]
    paging: PagingSpec | None


GuestSpec = AixSpec | UnixSpec | ZvmSpec
