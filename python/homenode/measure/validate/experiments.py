"""The experiments: what runs in which control groups, and what is judged by which tolerance.

Tolerances are those that were set before anything was simulated: saturated shares 1 point, quotas
2.5 %, time to the end 4 %, involuntary switches 15 %, waiting 20 %, the 99th percentile under a
quota 30 %. Throughput under weights has that of two runs of the same database, 10 %.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from homenode.measure.validate.loads import Database, Job, Load, OnOff, Spin

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


@dataclass(frozen=True)
class Judged:
    """A figure that is compared."""

    group: str
    metric: str
    tolerance: float
    kind: str
    """`points` or `percent`."""


@dataclass(frozen=True)
class Group:
    """Processes of one kind in a control group of their own."""

    name: str
    load: Load
    count: int = 1
    """So many processes."""
    weight: int = 100
    """`cpu.weight`."""
    quota: float | None = None
    """Most that it may use [processors]."""
    processors: tuple[int, ...] | None = None
    """Of the experiment's processors those that it may use, by their place; None is all."""


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

    @property
    def to_the_end(self) -> bool:
        """Whether it lasts until the work is done, not a set time."""
        return any(isinstance(group.load, Job) for group in self.groups)


def experiments(job_s: float, processors: int = 2) -> list[Experiment]:
    """All of them, for a host of which so many processors are used; the calibrating ones first."""
    spinners = [_weights(*weights, spinners=processors) for weights in _WEIGHTS]
    return [
        _loops(1, job_s, calibrates=True),
        Experiment("on-off-alone", "on/off work alone", (_sleepers(),), calibrates=True),
        *(_loops(n, job_s, quick=n in (2, 3, 4, 8)) for n in range(2, 9)),
        *spinners,
        _pinned(),
        _one_thread(processors),
        *(_quota(share, processors) for share in (0.25, 0.5, 1.5)),
        _quota_beside(processors),
        _cpusets(),
        _cpusets_apart(),
        *(_sleepers_beside(mine, other, processors) for mine, other in ((200, 100), (100, 400))),
        _sleepers_under_quota(0.3),
        _sleepers_under_quota(0.2),
    ]


def databases(clients: int = 4) -> list[Experiment]:
    """A small PostgreSQL alone, and two of them under two weights."""
    load = Database(clients)
    alone = Experiment("database-alone", "PostgreSQL alone", (Group("a", load),), calibrates=True)
    both = Experiment(
        "database-2:1",
        "two PostgreSQL, weights 2:1",
        (Group("a", load, weight=200), Group("b", load)),
        (*_all("a", THROUGHPUT, SHARE), *_all("b", THROUGHPUT)),
    )
    return [alone, both]


_WEIGHTS = ((1, 1), (2, 1), (4, 1), (1, 1, 1), (4, 2, 1))
_UNIT = 100


def _all(group: str, *rules: tuple[str, float, str]) -> tuple[Judged, ...]:
    return tuple(Judged(group, *rule) for rule in rules)


def _loops(count: int, job_s: float, *, calibrates: bool = False, quick: bool = True) -> Experiment:
    switched = (INVOLUNTARY,) if count > 2 else ()  # two on two: only what runs beside them
    return Experiment(
        f"loops-{count}",
        f"{count} equal loops to their end",
        (Group("a", Job(job_s), count),),
        () if calibrates else _all("a", ENDED, *switched),
        calibrates,
        quick,
    )


def _weights(*weights: int, spinners: int) -> Experiment:
    names = "abc"[: len(weights)]
    told = ":".join(map(str, weights))
    groups = tuple(
        Group(name, Spin(), spinners, weight * _UNIT)
        for name, weight in zip(names, weights, strict=True)
    )
    judged = [row for name in names for row in _all(name, SHARE)]
    switches = [row for name in names for row in _all(name, INVOLUNTARY)]
    return Experiment(
        f"weights-{told}",
        f"groups of {spinners} spinners, weights {told}",
        groups,
        (*judged, *switches),
        quick=told in ("2:1", "4:1", "4:2:1"),
    )


def _pinned() -> Experiment:
    return Experiment(
        "pinned-2:1",
        "one spinner each on one processor, weights 2:1",
        (
            Group("a", Spin(), 1, 2 * _UNIT, processors=(0,)),
            Group("b", Spin(), 1, processors=(0,)),
        ),
        (*_all("a", SHARE, INVOLUNTARY), *_all("b", INVOLUNTARY)),
    )


def _one_thread(processors: int) -> Experiment:
    return Experiment(
        "one-thread-2:1",
        "weights 2:1, the heavier group has one thread only",
        (Group("a", Spin(), 1, 2 * _UNIT), Group("b", Spin(), processors)),
        (*_all("a", SHARE), *_all("b", INVOLUNTARY)),
    )


def _quota(share: float, processors: int) -> Experiment:
    told = f"{100 * share:.0f}"
    return Experiment(
        f"quota-{told}",
        f"{processors} spinners under a quota of {told} % of a processor",
        (Group("a", Spin(), processors, quota=share),),
        _all("a", QUOTA, THROTTLED),
    )


def _quota_beside(processors: int) -> Experiment:
    return Experiment(
        "quota-50-beside",
        "a quota of 50 % beside a group without",
        (Group("a", Spin(), processors, quota=0.5), Group("b", Spin(), processors)),
        (*_all("a", QUOTA, INVOLUNTARY), *_all("b", QUOTA, INVOLUNTARY)),
    )


def _cpusets() -> Experiment:
    return Experiment(
        "cpusets-overlap",
        "one spinner may use one processor, two others that one and a second",
        (Group("a", Spin(), 1, processors=(0,)), Group("b", Spin(), 2, processors=(0, 1))),
        (*_all("a", SHARE), *_all("b", INVOLUNTARY)),
    )


def _cpusets_apart() -> Experiment:
    return Experiment(
        "cpusets-2:1",
        "the same, two spinners and two, weights 2:1",
        (
            Group("a", Spin(), 2, 2 * _UNIT, processors=(0,)),
            Group("b", Spin(), 2, processors=(0, 1)),
        ),
        _all("a", SHARE),
        quick=False,
    )


def _sleepers(weight: int = _UNIT, quota: float | None = None) -> Group:
    return Group("a", OnOff(0.002, 0.008), 2, weight, quota)


def _sleepers_beside(mine: int, other: int, processors: int) -> Experiment:
    told = f"{mine // 100}:{other // 100}"
    return Experiment(
        f"on-off-{told}",
        f"on/off work beside spinners, weights {told}",
        (_sleepers(mine), Group("b", Spin(), processors, other)),
        (*_all("a", SHARE, VOLUNTARY, WAITING), *_all("b", INVOLUNTARY)),
    )


def _sleepers_under_quota(quota: float) -> Experiment:
    told = f"{100 * quota:.0f}"
    return Experiment(
        f"on-off-quota-{told}",
        f"on/off work that wants 40 % of a processor under a quota of {told} %",
        (_sleepers(quota=quota),),
        _all("a", QUOTA, TAIL, MIDDLE),
        quick=quota > 0.25,
    )
