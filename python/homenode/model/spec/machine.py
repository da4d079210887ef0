"""The hardware of a spec, and the constants of its hypervisor."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from homenode.model.spec.work import ProfileSpec


class ByDistance(TypedDict):
    """A quantity by how far up the tree one must go: same chip, same node, other node."""

    local: float
    near: float
    far: float


class CacheSpec(TypedDict):
    """One cache level: who shares an instance, and how long a load from it takes."""

    name: str
    bytes: int
    scope: Literal["part", "core", "chip", "node"]
    latency_ns: float
    victim: bool
    bytes_per_s: float | None
    line_ns: NotRequired[float]


class TranslationSpec(TypedDict):
    """Translation of data addresses: pages that a core holds, and what another one costs."""

    entries: int
    walk_ns: float


class StoresSpec(TypedDict):
    """The way of a core's stores to the cache that keeps them."""

    interval_ns: float
    width_bytes: float
    gather_bytes: float | None


class StreamsSpec(TypedDict):
    """How a core gets through data in order."""

    lines: float
    transfer_ns: float


class ThrottleSpec(TypedDict):
    """How processors of less than full speed pause."""

    duty: float
    burst_ns: float


class SmtSpec(TypedDict):
    """How a core's throughput grows with its busy threads."""

    gain: list[float]
    reference: ProfileSpec
    parts: int


class PrSmSpec(TypedDict):
    """Figures that only PR/SM has."""

    run_time_ns: int | None
    physical_ns: int


class BalanceSpec(TypedDict):
    """Load balancing of the Linux scheduler."""

    enabled: bool
    newly_idle: bool
    interval_ns: int
    busy_factor: int
    imbalance_smt_pct: int
    imbalance_pct: int


class NumaBalancingSpec(TypedDict):
    """How Linux moves tasks and memory towards each other."""

    scan_delay_ns: int
    scan_period_min_ns: int
    scan_period_max_ns: int
    scan_bytes: int


class LinuxSpec(TypedDict):
    """Constants of the Linux scheduler; where a time is None the kernel works it out itself."""

    scheduler: Literal["eevdf", "cfs"]
    preemption: NotRequired[Literal["full", "lazy"]]
    run_to_parity: bool
    place_lag: bool
    delay_dequeue: bool
    gentle_sleepers: bool
    reweigh_in_sums: bool
    tick_ns: int
    tick_late_ns: int
    bandwidth_slice_ns: int
    migration_cost_ns: int
    switch_ns: int
    wake_interrupt_ns: int
    wake_idle_ns: int
    idle_poll_ns: int
    base_slice_ns: int | None
    latency_ns: int | None
    min_granularity_ns: int | None
    wakeup_granularity_ns: int | None
    migrate_most: int
    wake_affine: bool
    balance: BalanceSpec
    numa_balancing: NumaBalancingSpec | None


class Credit2Spec(TypedDict):
    """Constants of Xen's scheduler credit2."""

    rate_limit_ns: int
    credit_init_ns: int
    reset_below_ns: int
    min_timer_ns: int
    max_timer_ns: int
    outgoing_counts: NotRequired[bool]
    timer_late_ns: int
    migrate_resist_ns: int
    cap_period_ns: int
    switch_ns: int
    runqueue: Literal["cpu", "core", "socket", "node", "all"]
    max_per_queue: int
    load_window_shift: int


class HypervisorSpec(TypedDict):
    """What the hypervisor's actions cost and its fixed rules; who decides is its `policy`: `phyp`,
    `prsm`, `dedicated`, or one of the engine's list of hosts' schedulers.
    """

    policy: str
    window_ns: int
    min_entitlement_per_vp: float
    dispatch_ns: int
    cede_ns: int
    prod_ns: int
    confer_ns: int
    phantom_ns: int
    excess_quantum_ns: int
    counts_redispatch: bool
    eviction: Literal["home-elsewhere", "other-partition"]
    prsm: NotRequired[PrSmSpec]
    siblings: NotRequired[int]
    linux: NotRequired[LinuxSpec]
    credit2: NotRequired[Credit2Spec]
    settings: NotRequired[dict[str, int]]


class MemoryLoadSpec(TypedDict):
    """How a domain's controllers serve what is asked of them."""

    channels: int
    bank_ns: float
    channel_wait: float
    write_cost: float


class WalksSpec(TypedDict):
    """How a processor walks tables of translations."""

    entries: int
    large_entries: int
    upper: float
    guest_tables: float
    cache_share: float


class DrainsSpec(TypedDict):
    """What a core loses when its pipelines are emptied."""

    control_cycles: float
    branch_targets: float
    branch_cycles: float


class PipelineSpec(TypedDict):
    """That of its own, and of the core for which profiles state `eicpi`."""

    own: DrainsSpec
    reference: DrainsSpec


class MachineSpec(TypedDict):
    """A tree machine > node > chip > core > hardware thread, with memory beside chips or nodes."""

    name: str
    generation: str
    clock_hz: float
    turbo_hz: NotRequired[list[float]]
    core_rate: float
    pipeline: NotRequired[PipelineSpec]
    nodes: int
    nodes_per_socket: NotRequired[int]
    chips_per_node: int
    cores_per_chip: int
    threads_per_core: int
    active_cores: int
    line_bytes: int
    caches: list[CacheSpec]
    cache_to_cache_ns: ByDistance
    coherence: Literal["owner", "home", "directory"]
    memory_beside: Literal["chip", "node"]
    memory_ns: ByDistance
    node_distance: list[float]
    memory_bytes_per_s: float
    memory_load: MemoryLoadSpec
    chip_link_bytes_per_s: float
    node_link_bytes_per_s: float
    chip_links: int
    node_links: int
    translation: TranslationSpec | None
    walks: NotRequired[WalksSpec]
    stores: StoresSpec | None
    throttle: NotRequired[ThrottleSpec]
    streams: NotRequired[StreamsSpec]
    smt: SmtSpec
    accounting: Literal["decode-slots", "calibrated", "elapsed"]
    hypervisor: HypervisorSpec
