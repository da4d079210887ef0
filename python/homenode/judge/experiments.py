"""The experiments: what runs in which control groups. Of what is judged, and by which tolerance,
`kinds` tells the rules.
"""

from __future__ import annotations

from homenode.judge.bandwidth import bandwidth, further_bandwidth
from homenode.judge.hierarchies import hierarchies
from homenode.judge.kinds import (
    COST,
    ENDED,
    INVOLUNTARY,
    SHARE,
    THROUGHPUT,
    UNIT,
    VOLUNTARY,
    WAITING,
    Experiment,
    Group,
    rows,
)
from homenode.judge.loads import Database, Job, OnOff, Spin

__all__ = ["Experiment", "Group", "databases", "experiments"]


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
        *bandwidth(processors),
        _cpusets(),
        _cpusets_apart(),
        *(_sleepers_beside(mine, other, processors) for mine, other in ((200, 100), (100, 400))),
        *hierarchies(processors),
        *further_bandwidth(processors),
    ]


def databases(clients: int = 4) -> list[Experiment]:
    """A small PostgreSQL alone on one processor, which calibrates; on two with one client, whose
    messages all wake another processor, and with several; two of them under two weights.
    """
    load = Database(clients)
    alone = Experiment(
        "database-alone",
        "PostgreSQL alone on one processor",
        (Group("a", load, processors=(0,)),),
        calibrates=True,
    )
    on_two = [
        Experiment(
            f"database-{count}",
            f"PostgreSQL on two processors, {count} client{'s' * (count > 1)}",
            (Group("a", Database(count), processors=(0, 1)),),
            rows("a", THROUGHPUT, COST),
        )
        for count in (1, clients)
    ]
    both = Experiment(
        "database-2:1",
        "two PostgreSQL, weights 2:1",
        (Group("a", load, weight=200), Group("b", load)),
        (*rows("a", THROUGHPUT, SHARE), *rows("b", THROUGHPUT)),
    )
    return [alone, *on_two, both]


_WEIGHTS = ((1, 1), (2, 1), (4, 1), (1, 1, 1), (4, 2, 1))


def _loops(count: int, job_s: float, *, calibrates: bool = False, quick: bool = True) -> Experiment:
    switched = (INVOLUNTARY,) if count > 2 else ()  # two on two: only what runs beside them
    return Experiment(
        f"loops-{count}",
        f"{count} equal loops to their end",
        (Group("a", Job(job_s), count),),
        () if calibrates else rows("a", ENDED, *switched),
        calibrates,
        quick,
    )


def _weights(*weights: int, spinners: int) -> Experiment:
    names = "abc"[: len(weights)]
    told = ":".join(map(str, weights))
    groups = tuple(
        Group(name, Spin(), spinners, weight * UNIT)
        for name, weight in zip(names, weights, strict=True)
    )
    judged = [row for name in names for row in rows(name, SHARE)]
    switches = [row for name in names for row in rows(name, INVOLUNTARY)]
    return Experiment(
        f"weights-{told}",
        f"groups of {spinners} spinners, weights {told}",
        groups,
        (*judged, *switches),
        quick=told in ("2:1", "4:2:1"),
    )


def _pinned() -> Experiment:
    return Experiment(
        "pinned-2:1",
        "one spinner each on one processor, weights 2:1",
        (
            Group("a", Spin(), 1, 2 * UNIT, processors=(0,)),
            Group("b", Spin(), 1, processors=(0,)),
        ),
        (*rows("a", SHARE, INVOLUNTARY), *rows("b", INVOLUNTARY)),
    )


def _one_thread(processors: int) -> Experiment:
    return Experiment(
        "one-thread-2:1",
        "weights 2:1, the heavier group has one thread only",
        (Group("a", Spin(), 1, 2 * UNIT), Group("b", Spin(), processors)),
        (*rows("a", SHARE), *rows("b", INVOLUNTARY)),
        quick=False,
    )


def _cpusets() -> Experiment:
    return Experiment(
        "cpusets-overlap",
        "one spinner may use one processor, two others that one and a second",
        (Group("a", Spin(), 1, processors=(0,)), Group("b", Spin(), 2, processors=(0, 1))),
        (*rows("a", SHARE), *rows("b", INVOLUNTARY)),
    )


def _cpusets_apart() -> Experiment:
    return Experiment(
        "cpusets-2:1",
        "the same, two spinners and two, weights 2:1",
        (
            Group("a", Spin(), 2, 2 * UNIT, processors=(0,)),
            Group("b", Spin(), 2, processors=(0, 1)),
        ),
        rows("a", SHARE),
        quick=False,
    )


def _sleepers(weight: int = UNIT) -> Group:
    return Group("a", OnOff(0.002, 0.008), 2, weight)


def _sleepers_beside(mine: int, other: int, processors: int) -> Experiment:
    told = f"{mine // 100}:{other // 100}"
    return Experiment(
        f"on-off-{told}",
        f"on/off work beside spinners, weights {told}",
        (_sleepers(mine), Group("b", Spin(), processors, other)),
        (*rows("a", SHARE, VOLUNTARY, WAITING), *rows("b", INVOLUNTARY)),
        quick=mine > other,
    )
