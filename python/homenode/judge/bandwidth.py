"""Experiments with quotas: of groups alone and beside others, of other periods, of outer groups."""

from __future__ import annotations

from dataclasses import replace

from homenode.judge.kinds import (
    INVOLUNTARY,
    MIDDLE,
    QUOTA,
    SHARE,
    TAIL,
    THROTTLED,
    THROUGHPUT,
    UNIT,
    Experiment,
    Group,
    Limit,
    Outer,
    rows,
)
from homenode.judge.loads import OnOff, Spin

_RARE = OnOff(0.015, 0.135)
"""Needs half as much again as its quota in one period, but only every third."""


def bandwidth(processors: int) -> list[Experiment]:
    """Quotas of the default period, for a host of which so many processors are used."""
    return [
        *(_alone(Limit(share), processors, quick=share == 0.5) for share in (0.25, 0.5, 1.5)),
        _beside(processors),
        _sleepers(Limit(0.3)),
        _sleepers(Limit(0.2), quick=False),
    ]


def further_bandwidth(processors: int) -> list[Experiment]:
    """Other periods, burst, quotas with weights and of outer groups: of the full set."""
    found = [
        _alone(Limit(0.5, 50.0), processors),
        _alone(Limit(0.5, 20.0), processors),
        _weighed(processors),
        _outer(processors),
        _sleepers(Limit(0.3, 20.0)),
        _rare(Limit(0.2, 50.0)),
        _rare(Limit(0.2, 50.0, 10.0)),
    ]
    return [replace(one, full=True) for one in found]


def _word(limit: Limit) -> str:
    """`50` of a processor, `50-20ms` with a period that is not the default."""
    share = f"{100 * limit.processors:.0f}"
    return share if limit.period_ms == Limit(1.0).period_ms else f"{share}-{limit.period_ms:g}ms"


def _told(limit: Limit) -> str:
    return f"{100 * limit.processors:.0f} % of a processor, period {limit.period_ms:g} ms"


def _alone(limit: Limit, processors: int, *, quick: bool = True) -> Experiment:
    return Experiment(
        f"quota-{_word(limit)}",
        f"{processors} spinners under a quota of {_told(limit)}",
        (Group("a", Spin(), processors, quota=limit),),
        rows("a", QUOTA, THROTTLED),
        quick=quick,
    )


def _beside(processors: int) -> Experiment:
    return Experiment(
        "quota-50-beside",
        "a quota of 50 % beside a group without",
        (Group("a", Spin(), processors, quota=Limit(0.5)), Group("b", Spin(), processors)),
        (*rows("a", QUOTA, INVOLUNTARY), *rows("b", QUOTA, INVOLUNTARY)),
    )


def _weighed(processors: int) -> Experiment:
    return Experiment(
        "quota-100-weights",
        "weights 3:1:1, the heaviest under a quota of a processor",
        (
            Group("a", Spin(), processors, 3 * UNIT, Limit(1.0)),
            Group("b", Spin(), processors),
            Group("c", Spin(), processors),
        ),
        (*rows("a", QUOTA, SHARE), *rows("b", SHARE), *rows("c", SHARE)),
    )


def _outer(processors: int) -> Experiment:
    return Experiment(
        "quota-100-outer",
        "weights 2:1 within a quota of a processor",
        (
            Group("a", Spin(), processors, 2 * UNIT, inside="x"),
            Group("b", Spin(), processors, inside="x"),
        ),
        (*rows("a", QUOTA, SHARE), *rows("b", QUOTA)),
        outer=(Outer("x", quota=Limit(1.0)),),
    )


def _sleepers(limit: Limit, *, quick: bool = True) -> Experiment:
    return Experiment(
        f"on-off-quota-{_word(limit)}",
        f"on/off work that wants 40 % of a processor under a quota of {_told(limit)}",
        (Group("a", OnOff(0.002, 0.008), 2, quota=limit),),
        rows("a", QUOTA, TAIL, MIDDLE),
        quick=quick,
    )


def _rare(limit: Limit) -> Experiment:
    saved = f"{limit.burst_ms:g} ms" if limit.burst_ms else "nothing"
    return Experiment(
        f"burst-{limit.burst_ms:g}ms",
        f"15 ms of work now and then under a quota of 10 ms in 50 ms that saves up {saved}",
        (Group("a", _RARE, quota=limit),),
        rows("a", THROUGHPUT, MIDDLE, TAIL),
    )
