"""One repetition of one case on one host, measured or simulated: the unit of every statistic.

A second of a run is never the unit: what differs from run to run (placement of memory and threads,
start-up) is the same in all its seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Better = Literal["higher", "lower"]
"""Which direction of a metric is the better one."""


@dataclass(frozen=True)
class CpuTime:
    """Processor time of a repetition's own processes, by class [CPU seconds]."""

    total: float
    """All of it, from the control groups' or the kernel's per-process account, never from
    `/proc/stat`, whose ticks are off by per cents."""
    user: float | None = None
    system: float | None = None
    by_role: dict[str, float] = field(default_factory=dict)
    """Of servers, clients, ... where a case has several."""


@dataclass(frozen=True)
class Switches:
    """Context switches of a repetition's processes."""

    voluntary: int
    involuntary: int


@dataclass(frozen=True)
class RunRecord:
    """What one repetition did, in how long, and with how much processor time.

    Identities: `etr = work / seconds`, `busy = cpu.total / (seconds * processors)`,
    `itr = etr / busy`, `cpu per unit = cpu.total / work`.
    """

    system: str
    """Host or setting: `a`, `b`, or the host's name."""
    case: str
    """Adapter and case, as `sysbench/read-only-high`."""
    metric: str
    """What `work` counts, such as `transactions`."""
    better: Better
    """Direction of `score`."""
    processors: int
    """Logical processors it was allowed to use."""
    load: float
    """Load level: clients, threads, jobs; 0 where a case has none."""
    replicate: int
    """Counted from 0 within the case and system."""
    order: int
    """Position in the whole session, counted from 0."""
    work: float
    """Completed work [units of `metric`]."""
    seconds: float
    """Length of the measured time, warm-up apart [s]."""
    score: float
    """The case's own figure [`unit`]: work per second, MB/s, ns, s."""
    unit: str
    """Unit of `score`."""
    cpu: CpuTime | None = None
    """None where it is not known; nothing is derived from it then."""
    latency_ms: dict[str, float] = field(default_factory=dict)
    """`mean`, `p50`, `p95`, `p99`, `max` as far as the tool tells them [ms]."""
    switches: Switches | None = None
    run_delay_s: float | None = None
    """Time its threads were runnable and waited for a processor [s]."""
    throttled_s: float | None = None
    """Time its groups were kept from running by a quota [s]."""
    instructions: float | None = None
    """User-mode instructions, where the host counts them."""
    cycles: float | None = None
    series: list[float] = field(default_factory=list)
    """Work per second within the run, if the tool tells it; for warm-up and drift only."""
    foreign: float = 0.0
    """Processor time of others, share of the host's processors [0..1]."""
    steal: float = 0.0
    """Time stolen by the host's own hypervisor, share of its processors [0..1]."""
    rejected: str | None = None
    """Why it does not count; such a record is kept and reported, never used."""
    details: dict[str, object] = field(default_factory=dict)
    """What else the tool told, by its own names."""
