"""What an experiment is: processes in control groups, and what is judged by which tolerance.

Tolerances are those that were set before anything was simulated: saturated shares 1 point, quotas
2.5 %, time to the end 4 %, involuntary switches 15 %, waiting 20 %, the 99th percentile under a
quota 30 %. Throughput under weights has that of two runs of the same database, 10 %. An experiment
that came later has those of the experiments that it is like.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from homenode.judge.loads import Job, Load

SHARE = ("share_pct", 1.0, "points")
QUOTA = ("cpus", 2.5, "percent")
ENDED = ("makespan_s", 4.0, "percent")
INVOLUNTARY = ("involuntary_per_s", 15.0, "percent")
VOLUNTARY = ("voluntary_per_s", 4.0, "percent")
WAITING = ("waiting_cpus", 20.0, "percent")
TAIL = ("response_p99_ms", 30.0, "percent")
MIDDLE = ("response_p50_ms", 30.0, "percent")
THROTTLED = ("throttled_cpus", 15.0, "percent")
THROUGHPUT = ("done_per_s", 10.0, "percent")
COST = ("cpu_us_each", 10.0, "percent")

Rule = tuple[str, float, str]
UNIT = 100
"""`cpu.weight` of a group that nobody has set."""


@dataclass(frozen=True)
class Judged:
    """A figure that is compared."""

    group: str
    metric: str
    tolerance: float
    kind: str
    """`points` or `percent`."""


@dataclass(frozen=True)
class Limit:
    """Processor time that a group may use in a period: `cpu.max`."""

    processors: float
    """Most that may be used [processors]."""
    period_ms: float = 100.0
    """Time after which it begins anew [ms]; 100 is the kernel's default."""
    burst_ms: float = 0.0
    """Unused time that may be carried on [ms]."""


@dataclass(frozen=True)
class Outer:
    """A control group with others, or with the processes of several groups, in it."""

    name: str
    weight: int = UNIT
    quota: Limit | None = None
    processors: tuple[int, ...] | None = None
    """Those of the experiment's processors that it may use, by their place; None is all."""
    inside: str | None = None
    """The outer group that it is in."""


@dataclass(frozen=True)
class Group:
    """Processes of one kind, in a control group of their own unless `own` says otherwise."""

    name: str
    load: Load
    count: int = 1
    """How many processes with this load."""
    weight: int = UNIT
    """`cpu.weight`."""
    quota: Limit | None = None
    processors: tuple[int, ...] | None = None
    """Of the experiment's processors those that it may use, by their place; None is all."""
    idle: bool = False
    """`cpu.idle`: whether it gets only what others leave."""
    inside: str | None = None
    """The outer group that it is in."""
    own: bool = True
    """Whether it has a control group of its own; if not, its processes are right in `inside`."""
    nice: int = 0
    """Nice value of its processes."""
    slice_ms: float = 0.0
    """Slice that its processes ask for [ms]; 0 is the base slice."""


@dataclass(frozen=True)
class Experiment:
    """Groups that run at the same time."""

    name: str
    title: str
    groups: tuple[Group, ...]
    judged: tuple[Judged, ...] = field(default=())
    calibrates: bool = False
    """Whether the model's numbers are taken from it; nothing of it is judged then."""
    quick: bool = True
    """Whether the quick set has it."""
    full: bool = False
    """Whether only the full set has it."""
    outer: tuple[Outer, ...] = ()
    """Groups that `inside` names, each after the one that it is in."""

    @property
    def to_the_end(self) -> bool:
        """Whether it lasts until the work is done, not a set time."""
        return any(isinstance(group.load, Job) for group in self.groups)

    @property
    def places(self) -> int:
        """Processors that it needs, by those that its groups name."""
        every: tuple[Outer | Group, ...] = (*self.outer, *self.groups)
        return 1 + max((place for one in every for place in one.processors or ()), default=0)

    @property
    def needs(self) -> frozenset[str]:
        """Abilities of control groups that only some hosts have: `burst`, `idle`."""
        quotas = [*(one.quota for one in self.outer), *(one.quota for one in self.groups)]
        found = {
            "burst": any(one is not None and one.burst_ms > 0 for one in quotas),
            "idle": any(one.idle for one in self.groups),
        }
        return frozenset(name for name, needed in found.items() if needed)


def rows(group: str, *rules: Rule) -> tuple[Judged, ...]:
    """What is judged of a group."""
    return tuple(Judged(group, *rule) for rule in rules)
