"""What a partition runs, and how that work behaves on a processor."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

Shape = Literal["constant", "exponential"]
"""How a random amount of a given mean is distributed."""
LockKind = Literal["queue", "ticket", "test-and-set", "sleeping"]
"""What those do that wait for a lock."""


class CountedSpec(TypedDict):
    """What workloads have that are so many of something."""

    count: int


class BurstsSpec(TypedDict):
    """A transaction: bursts of work with waits between them."""

    bursts: float
    wait_ns: int
    burst_work: Shape


class ThinkSpec(TypedDict, total=False):
    """How a think time is distributed, where not exponentially."""

    think: Shape


class TransactionsSpec(BurstsSpec):
    """Open Poisson arrivals of transactions."""

    kind: Literal["transactions"]
    rate_per_s: float


class UsersSpec(CountedSpec, BurstsSpec, ThinkSpec):
    """A fixed number of users with think time."""

    kind: Literal["users"]
    think_ns: int


class LoopsSpec(CountedSpec):
    """Processor-bound jobs started together."""

    kind: Literal["loops"]
    endless: bool
    busy_ns: NotRequired[int]
    rest_ns: NotRequired[int]


class WarehousesSpec(CountedSpec):
    """Threads that do transaction after transaction without a pause."""

    kind: Literal["warehouses"]


class GeneratorSpec(TypedDict):
    """A thread that makes the transactions of pairs, and wakes a client for each."""

    rate_per_s: float
    instructions: float


class PairsSpec(CountedSpec, ThinkSpec):
    """Pairs of threads that wake each other."""

    kind: Literal["pairs"]
    exchanges: int
    client_share: float
    think_ns: int
    burst_work: Shape
    message_bytes: NotRequired[int]
    generator: NotRequired[GeneratorSpec]


class BarriersSpec(CountedSpec):
    """Parallel programs whose threads wait for each other."""

    kind: Literal["barriers"]
    threads: int
    burst_work: Shape


class WebSpec(TypedDict):
    """Virtual machines that ask others for files."""

    kind: Literal["web"]
    request_bytes: int
    file_bytes: int
    files: int
    client_share: float
    think_ns: int
    work: Shape


class SpreadSpec(TypedDict, total=False):
    """How the bursts of a step are spread over it; evenly if not given."""

    spread: Literal["random"]


class StepsSpec(TypedDict):
    """Work that arrives step by step."""

    lengths_ns: list[int]
    instructions_per_s: list[float]


class TraceSpec(StepsSpec, SpreadSpec):
    """Recorded demand, step by step."""

    kind: Literal["trace"]


class IdleSpec(TypedDict):
    """Nothing but the guest's own daemons."""

    kind: Literal["idle"]


WorkloadSpec = (
    TransactionsSpec
    | UsersSpec
    | LoopsSpec
    | WarehousesSpec
    | PairsSpec
    | BarriersSpec
    | WebSpec
    | TraceSpec
    | IdleSpec
)


class LockSpec(TypedDict, total=False):
    """What those do that wait for a lock, where they don't stand in a queue, and what it costs."""

    lock_kind: LockKind
    lock_switch_instructions: float


class StreamSpec(TypedDict, total=False):
    """What work goes through in order, if it does."""

    stream_bytes: float


class FlushSpec(TypedDict, total=False):
    """How often a thread takes a mapping back, if it does."""

    flush_instructions: float


class DrainedSpec(TypedDict, total=False):
    """What empties the pipelines of a core, if something does."""

    control_share: float
    branch_misses: float


class WorkingSetSpec(TypedDict, total=False):
    """What fits into a cache or does not, if there is something."""

    working_set_bytes: float
    working_set_touches: float


class BuffersSpec(TypedDict, total=False):
    """What is copied, if something is."""

    buffers_bytes: float
    copied_bytes: float


class AsideSpec(TypedDict, total=False):
    """Time that is spent for a transaction beside its instructions, if there is some."""

    kernel_ns: float
    host_ns: float


class RoamingSpec(TypedDict, total=False):
    """Work that any processor takes up, if there is some."""

    roaming: float


class ProfileSpec(
    LockSpec,
    FlushSpec,
    StreamSpec,
    DrainedSpec,
    WorkingSetSpec,
    BuffersSpec,
    AsideSpec,
    RoamingSpec,
):
    """How work behaves on a processor."""

    name: str
    instructions_per_unit: float
    system_share: float
    eicpi: float
    issue_share: float
    miss_m0: float
    miss_c0_bytes: float
    miss_exponent: float
    sharing: float
    footprint_bytes: int
    footprint_common: float
    overlap: float
    dirty_share: float
    lock_share: float
    lock_hold_instructions: float
    private_data: float
    io_data: float
    store_share: float
    store_run: float


class LoadSpec(TypedDict):
    """A workload beside the first of its partition."""

    name: str
    workload: WorkloadSpec
    profile: ProfileSpec
