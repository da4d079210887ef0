"""From recorded cores to work.

How much work makes a partition use a core depends on machine, guest and neighbours, so the scenario
itself is asked. First a staircase: all partitions climb together from idle to their recorded peak
and beyond, and the work of a window is read off where the stairs reach its cores. Then the whole
recording is played, with other random numbers than the scenario's own, and windows that came out
wrong are corrected (`passes`). Nothing of this is in the engine: the result is a table of work,
which is played as it is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from homenode.records.importing.assemble.passes import (
    FIRST_REPLICATION,
    LEAST_CORES,
    TOLERANCE,
    Passed,
    ProgressFn,
    Target,
    deviation,
    refined,
)
from homenode.simulate.settle.probe import Probe

LEVELS = 24
"""Stairs up to the recorded peak."""
_BEYOND = (1.1, 1.25, 1.45, 1.7)
"""Work beyond that of a straight line, for where threads share cores."""
_STAIR_NS = 10_000_000_000


@dataclass(frozen=True)
class Residual:
    """How far the scenario, played, is from what was recorded."""

    windows: int
    in_full: int
    """Windows that were played for all of their time; the others more briefly."""
    beyond: int
    """Windows that are off by more than 2 %, and by more than so little that it does not matter."""
    mean_pct: float
    most_pct: float
    short: int
    """Windows in which more was recorded than its processors are."""
    beyond_short: int = 0
    """Those of them that are off by more than 2 %."""


@dataclass(frozen=True)
class Converted:
    """The work of every window."""

    rates: dict[str, tuple[float, ...]]
    residuals: dict[str, Residual]


def by_factor(targets: Sequence[Target]) -> dict[str, tuple[float, ...]]:
    """Work at one rate a core, without asking the scenario."""
    return {one.name: tuple((cores or 0.0) * one.guess for cores in one.cores) for one in targets}


def convert(
    targets: Sequence[Target], probe: Probe, step_ns: int, progress: ProgressFn | None = None
) -> Converted:
    """The work with which the scenario uses what was recorded, as nearly as it can."""
    tell = progress or _silent
    found = slopes(targets, probe)
    stairs = {one.name: _stairs(one, *found[one.name]) for one in targets}
    used = probe(stairs, _STAIR_NS, FIRST_REPLICATION, lambda share: tell(0.1 * share))
    first = {
        one.name: tuple(
            _read_off(one.wanted(cores), used[one.name].cores, stairs[one.name])
            for cores in one.cores
        )
        for one in targets
    }
    floors = {name: idle for name, (idle, _) in found.items()}
    passed = refined(targets, probe, step_ns, first, floors, lambda share: tell(0.1 + 0.9 * share))
    return Converted(passed.rates, {one.name: _residual(one, passed) for one in targets})


def _silent(_share: float) -> None:
    """Where nobody wants to know how far it is."""


def slopes(targets: Sequence[Target], probe: Probe) -> dict[str, tuple[float, float]]:
    """Cores used when idle, and work of a further core, of each partition."""
    half = {one.name: (0.0, one.guess * one.peak / 2) for one in targets}
    used = probe(half, _STAIR_NS, FIRST_REPLICATION)
    found = {}
    for one in targets:
        idle, busy = used[one.name].cores
        more = busy - idle
        found[one.name] = (idle, half[one.name][1] / more if more > 1e-6 else one.guess)
    return found


def _stairs(target: Target, idle: float, per_core: float) -> tuple[float, ...]:
    """Work of each stair: even steps up to the peak, then beyond."""
    top = max(target.peak - idle, LEAST_CORES) * per_core
    within = tuple(top * level / LEVELS for level in range(LEVELS + 1))
    return within + tuple(top * factor for factor in _BEYOND)


def _read_off(cores: float, used: Sequence[float], work: Sequence[float]) -> float:
    """The least work with which so many cores are used; noise on the stairs is taken as level."""
    rising: list[float] = []
    for one in used:
        rising.append(max(one, rising[-1] if rising else 0.0))
    at = bisect_left(rising, cores)
    if at == 0:
        return 0.0
    if at == len(rising):
        # As much as it can use: the first stair that is as high as the last.
        full = bisect_left(rising, rising[-1] * (1 - 1e-3))
        return work[full]
    low, high = rising[at - 1], rising[at]
    share = (cores - low) / (high - low) if high > low else 1.0
    return work[at - 1] + share * (work[at] - work[at - 1])


def _residual(target: Target, passed: Passed) -> Residual:
    used = passed.used[target.name]
    off = [
        abs(deviation(cores, got))
        for cores, got in zip(target.cores, used.cores, strict=True)
        if cores is not None
    ]
    return Residual(
        windows=len(off),
        in_full=min(passed.in_full, len(off)),
        beyond=sum(one > TOLERANCE for one in off),
        mean_pct=100 * sum(off) / max(1, len(off)),
        most_pct=100 * max(off, default=0.0),
        short=sum(cores is not None and cores > target.limit for cores in target.cores),
        beyond_short=sum(
            cores is not None and cores > target.limit and abs(deviation(cores, got)) > TOLERANCE
            for cores, got in zip(target.cores, used.cores, strict=True)
        ),
    )


def shown(residuals: Mapping[str, Residual]) -> list[str]:
    """A line a partition, for the scenario's comments."""
    lines = []
    for name, one in residuals.items():
        off = f"{one.mean_pct:.2f} % in the mean, {one.most_pct:.2f} % at most"
        beyond = f", {one.beyond} beyond 2 %" if one.beyond else ""
        in_full = f" ({one.in_full} played in full)" if one.in_full < one.windows else ""
        lines.append(f"{name}: {one.windows} windows{in_full} off by {off}{beyond}")
    return lines
