"""What the engine answers and what a run folder keeps of it, as types.

`Answer` is a replication's summary as `crates/python/src/summary.rs` writes it, with the sums that
the runner adds; the others are the files of a run folder by name. They cost nothing at run time:
what is read is believed once the folder was found whole (`homenode.simulate.kept.damage`).
"""

from __future__ import annotations

from typing import NotRequired, TypedDict

from homenode.model.estimate import Told
from homenode.model.spec import Spec

Sums = dict[str, dict[str, float]]
"""By kind (`client`, `server`, `loop`, `idle`, `switch`, `volume`), the sum of each counter."""
Columns = dict[str, dict[str, bytes]]
"""By table, its columns of little-endian int64 by name."""


class Batch(TypedDict):
    """What the engine hands over between two looks at whether it shall go on."""

    now_ns: int
    end_ns: int
    events: int
    tables: Columns
    latest: NotRequired[Columns]
    """Rows of the intervals that ended since, as they are so far, where they are asked for."""


Distribution = dict[str, float]
"""Times [ns]: `count`, `mean`, `p50`, `p95`, `p99`, `p999`, `max`; without its percentiles where
only sums are known, empty where nothing is."""


class Finished(TypedDict):
    """Elapsed times of the loops that ended [ns]; zeros of none."""

    count: int
    sum: int
    min: int
    max: int


class Verdict(TypedDict):
    """Whether a partition was steady in one replication; the backlog is in transactions."""

    is_steady: bool
    reason: str | None
    backlog_start: float
    backlog_end: float
    vp_busy_share: float


class LoadAnswer(TypedDict):
    """One of several workloads of a partition in one replication."""

    name: str
    totals: dict[str, int]
    response_ns: Distribution
    finished: Finished


class PartitionAnswer(TypedDict):
    """A partition in one replication; `totals` are sums over all intervals by column."""

    name: str
    totals: dict[str, int]
    response_ns: Distribution
    dispatch_wait_ns: Distribution
    finished: Finished
    steady: Verdict
    gauges: NotRequired[dict[str, float]]
    """Means of what is read at the end of each interval."""
    unanswered: NotRequired[int]
    """Users, pairs or warehouses that asked before the time that is told of and had no answer at
    its end; left out where there are none.
    """
    guests: NotRequired[Sums]
    workloads: NotRequired[list[LoadAnswer]]
    """Its workloads, where it has several."""


class Answer(TypedDict):
    """One replication: an entry of `replications.json`."""

    replication: int
    events: int
    sim_ns: int
    partitions: list[PartitionAnswer]
    pool_idle_ns: int
    cores_ns: NotRequired[list[int]]
    """Of each core (of each hardware thread, where a host counts those) how long it was used [ns];
    runs of earlier versions lack it."""


class ChipPrice(TypedDict):
    """What an instruction costs on one chip."""

    chip: int
    cores: float
    ns: float
    books: dict[str, float]


class Refill(TypedDict):
    """What refilling a cold footprint takes: its lines, and the time of one by distance [ns]."""

    private_lines: float
    lines: float
    ns: list[float]


class PartitionPrice(TypedDict):
    """What an instruction of a partition costs; None where it keeps no core busy."""

    name: str
    ns: float | None
    cpi: float | None
    books: dict[str, float] | None
    lines: dict[str, float] | None
    refill: Refill | None
    by_chip: list[ChipPrice]


class PriceAnswer(TypedDict):
    """The price of a layout, as `crates/python/src/price.rs` writes it."""

    partitions: list[PartitionPrice]


class ZvmSolved(TypedDict):
    """What z/VM tells of a partition, means over time."""

    owners: list[float]
    """Cores in virtual machines, in CP for one of them, in CP for itself."""
    unparked: float
    """Logical cores."""
    spun: float
    """Instructions executed while spinning in a second."""


class PartitionSolved(TypedDict):
    """What a partition does in the steady state, means over time."""

    name: str
    cores: float
    balances: NotRequired[list[float] | None]
    """Cores of the least and of the greatest balance, where these are apart."""
    throughput: float
    """Transactions in a second."""
    response_ns: float | None
    """None without transactions, without a steady state, and where demand was recorded."""
    percentiles_ns: list[float] | None
    """That half, 95 and 99 of 100 stay under; None also on hosts, under z/VM, and where bursts are
    all of one length.
    """
    steady: bool
    busy_vps: float
    """Virtual processors with work."""
    busy_threads: float
    """Busy hardware threads of the cores used."""
    inside: float | None
    """Runnable threads; None where they grow without end."""
    dispatches: float
    """Wake-ups of virtual processors in a second; of those by turns nothing is known."""
    by_distance: list[float]
    """Shares of the core time at home, near, far."""
    instructions: float
    """In a second."""
    waiting: float
    """Share of the time with work in which a core is waited for."""
    books: dict[str, float]
    """Cores by cause; they add up to `cores`."""
    lines: dict[str, float]
    """Lines in a second by source."""
    zvm: ZvmSolved | None
    workloads: NotRequired[list[PartitionSolved]]
    """Each of its workloads, where it has several."""


class SolvedAnswer(TypedDict):
    """The steady state of a layout, as `crates/python/src/solve.rs` writes it."""

    steps: int
    partitions: list[PartitionSolved]


class PoolFigures(TypedDict):
    """Cores of a pool: there, used, available; of PR/SM also those of its management."""

    cores: int | None
    physc: Told
    app: Told
    management: NotRequired[Told]


class MachineFigures(TypedDict):
    """The machine as a whole."""

    model: str
    active_cores: int
    simulated_s: float
    events: int
    pools: dict[str, PoolFigures]


class Steadiness(TypedDict):
    """Whether a partition was steady in all replications; the backlogs one by one."""

    is_steady: bool
    reason: str | None
    unsteady_replications: int
    backlog_start: list[float]
    backlog_end: list[float]


class Nest(TypedDict, total=False):
    """Of each partition how hard it uses the nest, where the machine has a rule for it."""

    workload_category: dict[str, str]


class Unanswered(TypedDict, total=False):
    """Of partitions where some had no answer in all of the time, how many, mean over replications:
    of users, pairs and warehouses.
    """

    unanswered: dict[str, float]


class Workloads(TypedDict, total=False):
    """Of partitions with several workloads, the metrics of each, by partition and workload."""

    workloads: dict[str, dict[str, dict[str, Told]]]


class RunSummary(Nest, Workloads, Unanswered):
    """`summary.json`: every metric of every partition."""

    run: str
    scenario: str
    seed: int
    replications: int
    partitions: dict[str, dict[str, Told]]
    machine: MachineFigures
    steady: dict[str, Steadiness]


class ScoreDetails(TypedDict):
    """What throughput is in the unit of the benchmark that the workload is of."""

    unit: str
    of_rate: float
    """So many for one transaction a second."""


class CpuPoolDetails(TypedDict):
    """How the limit of a CPU pool of z/VM was told."""

    type: str
    limit: float | None
    """As a part of the cores of that type, if so."""


class PartitionDetails(TypedDict, total=False):
    """What a partition's own tools print of it but no simulation needs.

    Limits are minimum, maximum and desired value; `numbers` and `core_types` exist on a mainframe,
    `granule` where memory is given in such: the smaller of its kinds [bytes].
    """

    number: int
    mem_mb: int
    mode: str
    core_type: str
    core_types: list[str]
    numbers: list[int]
    cpu_pools: list[CpuPoolDetails]
    level: str
    node_name: str
    pool: int
    pool_authority: bool
    capacity: list[float]
    processors: list[float]
    memory: list[float]
    score: ScoreDetails
    granule: int
    balloon: int
    """Of its memory, what its balloon holds [bytes]."""
    swapped: int
    """Of the rest, what its host has swapped out [bytes]."""
    untouched: int
    """Of what its balloon has left it, what its work does not touch [bytes]."""
    guest_page_ins: list[float]
    """Pages for which a transaction of each of its workloads waits at its own swap device."""


Details = dict[str, PartitionDetails]
"""`details.json`: by partition."""


class MachineFacts(TypedDict, total=False):
    """`machine.json`: what reports say of the machine but no simulation needs."""

    node_name: str
    model: str
    rni: dict[str, float]
    """Weights of the relative nest intensity."""
    characterized: dict[str, int]
    """Cores by type, where they have types."""
    room: dict[str, int]
    """Memory that partitions can have, by domain [bytes]."""
    reach: dict[str, list[int]]
    """By partition, the nodes on which it can have cores."""


class Fingerprint(TypedDict):
    """Size and SHA-256 of a file."""

    bytes: int
    sha256: str


class Computer(TypedDict):
    """Where a run was simulated."""

    system: str
    architecture: str
    cores: int | None
    python: str


class Origin(TypedDict):
    """Where the numbers come from."""

    run: str
    scenario: str
    seed: int
    replications: list[int]
    version: str
    engine_version: str
    build: NotRequired[str]
    """With a digest of the compiled engine; earlier runs do not say it."""
    commit: str | None
    machine: Computer
    date: str
    point: NotRequired[dict[str, object]]
    """Of a sweep, its values by axis."""
    changes: NotRequired[dict[str, object]]
    """What was set otherwise than in the scenario that it was made of, by path."""


class Provenance(Origin):
    """`provenance.json`, the only file of a run that differs when it is repeated."""

    files: dict[str, Fingerprint]


RunFiles = TypedDict(
    "RunFiles",
    {
        "spec.json": Spec,
        "machine.json": MachineFacts,
        "details.json": Details,
        "replications.json": list[Answer],
        "summary.json": RunSummary,
        "provenance.json": Provenance,
    },
)
"""The JSON files of a run folder by name."""
