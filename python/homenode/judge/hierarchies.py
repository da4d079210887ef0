"""Experiments with groups in groups, and with threads that ask for something themselves."""

from __future__ import annotations

from dataclasses import replace

from homenode.judge.kinds import (
    INVOLUNTARY,
    MIDDLE,
    SHARE,
    TAIL,
    UNIT,
    VOLUNTARY,
    WAITING,
    Experiment,
    Group,
    Judged,
    Outer,
    rows,
)
from homenode.judge.loads import OnOff, Spin

_LONG_MS = 20.0
"""A slice beyond the tick, so that it ends turns and the tick does not [ms]."""
_SHORT_MS = 0.5


def hierarchies(processors: int) -> list[Experiment]:
    """All of them, for a host of which so many processors are used: of the full set."""
    found = [
        _two_levels(processors),
        _three_levels(processors),
        _threads(),
        _nice_pinned(),
        _nice(processors),
        _idle(processors),
        _idle_beside_sleepers(processors),
        _long_slices(),
        _short_slices(processors),
    ]
    return [replace(one, full=True) for one in found]


def _weighed(names: str) -> tuple[Judged, ...]:
    """Shares first, then switches, as of groups under weights."""
    shares = [row for name in names for row in rows(name, SHARE)]
    return (*shares, *(row for name in names for row in rows(name, INVOLUNTARY)))


def _two_levels(processors: int) -> Experiment:
    return Experiment(
        "nested-two",
        "weights 1:1, and 2:1 within the first",
        (
            Group("a", Spin(), processors, 2 * UNIT, inside="x"),
            Group("b", Spin(), processors, inside="x"),
            Group("c", Spin(), processors),
        ),
        _weighed("abc"),
        outer=(Outer("x"),),
    )


def _three_levels(processors: int) -> Experiment:
    return Experiment(
        "nested-three",
        "weights 2:1, 1:1 within the first, 3:1 within the first of those",
        (
            Group("a", Spin(), processors, 3 * UNIT, inside="y"),
            Group("b", Spin(), processors, inside="y"),
            Group("c", Spin(), processors, inside="x"),
            Group("d", Spin(), processors),
        ),
        _weighed("abcd"),
        outer=(Outer("x", 2 * UNIT), Outer("y", inside="x")),
    )


def _threads() -> Experiment:
    return Experiment(
        "threads-1:2:4",
        "equal weights, but one, two and four spinners",
        (Group("a", Spin(), 1), Group("b", Spin(), 2), Group("c", Spin(), 4)),
        _weighed("abc"),
    )


def _nice_pinned() -> Experiment:
    return Experiment(
        "nice-5-pinned",
        "two spinners on one processor, nice 0 and 5",
        (
            Group("a", Spin(), inside="both", own=False),
            Group("b", Spin(), inside="both", own=False, nice=5),
        ),
        (*rows("a", SHARE, INVOLUNTARY), *rows("b", INVOLUNTARY)),
        outer=(Outer("both", processors=(0,)),),
    )


def _nice(processors: int) -> Experiment:
    return Experiment(
        "nice-5",
        f"{processors} spinners of nice 0 beside as many of nice 5",
        (
            Group("a", Spin(), processors, inside="both", own=False),
            Group("b", Spin(), processors, inside="both", own=False, nice=5),
        ),
        (*rows("a", SHARE, INVOLUNTARY), *rows("b", INVOLUNTARY)),
        outer=(Outer("both"),),
    )


def _idle(processors: int) -> Experiment:
    return Experiment(
        "idle-group",
        "spinners beside those of an idle group",
        (Group("a", Spin(), processors), Group("b", Spin(), processors, idle=True)),
        rows("a", SHARE),
    )


def _idle_beside_sleepers(processors: int) -> Experiment:
    return Experiment(
        "idle-group-on-off",
        "on/off work beside spinners of an idle group",
        (Group("a", OnOff(0.002, 0.008), 2), Group("b", Spin(), processors, idle=True)),
        rows("a", SHARE, VOLUNTARY, MIDDLE, TAIL),
    )


def _long_slices() -> Experiment:
    return Experiment(
        "slice-20ms",
        "two spinners on one processor that ask for slices of 20 ms",
        (
            Group("a", Spin(), inside="both", own=False, slice_ms=_LONG_MS),
            Group("b", Spin(), inside="both", own=False, slice_ms=_LONG_MS),
        ),
        (*rows("a", SHARE, INVOLUNTARY), *rows("b", INVOLUNTARY)),
        outer=(Outer("both", processors=(0,)),),
    )


def _short_slices(processors: int) -> Experiment:
    return Experiment(
        "slice-on-off",
        "on/off work with slices of 0.5 ms among spinners with slices of 20 ms",
        (
            Group("a", OnOff(0.002, 0.008), 2, inside="both", own=False, slice_ms=_SHORT_MS),
            Group("b", Spin(), processors, inside="both", own=False, slice_ms=_LONG_MS),
        ),
        (*rows("a", SHARE, VOLUNTARY, WAITING), *rows("b", INVOLUNTARY)),
        outer=(Outer("both"),),
    )
