"""From recorded cores to work.

How much work makes a partition use a core depends on machine, guest and neighbours, so the scenario
itself is asked. First a staircase: all partitions climb together from idle to their recorded peak
and beyond, and the work of a window is read off where the stairs reach its cores. Then the whole
recording is played, with other random numbers than the scenario's own, and windows that came out
wrong are corrected by their own ratio, a few times. Where playing it takes its time, it is played
for a quarter of the time at first: what is systematically wrong shows, and the mean of what several
passes say of a window has less chance in it. Nothing of this is in the engine: the result is a
table of work, which is played as it is.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from homenode.simulate.settle.probe import Probe, Used

LEVELS = 24
"""Stairs up to the recorded peak."""
_BEYOND = (1.1, 1.25, 1.45, 1.7)
"""Work beyond that of a straight line, for where threads share cores."""
_STAIR_NS = 10_000_000_000
_PASSES = 3
_LONG = 30_000.0
"""Cores times simulated seconds beyond which a pass takes some time, so that a few misses are let
be.
"""
_FEW = 0.03
"""How many misses, as a share of all windows."""
_BRIEF, _BRIEF_PASSES = 4, 2
"""Of such a recording, so many passes take this part of the time before it is played in full."""
_BRIEFEST_NS = 5_000_000_000
"""Windows that are played for less tell chance."""
_NEIGHBOUR = 0.15
"""A pass that was that near to what is wanted says what others say too, but for chance."""
_GOOD_PCT = 0.5
"""Windows that are nearer than this are left as they are."""
_TOLERANCE = 0.02
_FULL = 0.995
"""Share of a partition's processors that can be used before work piles up."""
_WORTH = 0.5
"""Another pass is worth its time if this one left less than this share of the best one's misses, or
of its largest deviation.
"""
_LEAST_CORES = 0.01
"""Below this deviations are told in cores, not in percent."""
_FIRST_REPLICATION = 1_000_000
"""Probes draw other numbers than the replications of any run."""
ProgressFn = Callable[[float], None]


@dataclass(frozen=True)
class Target:
    """What a partition is to use."""

    name: str
    cores: tuple[float | None, ...]
    """In each window; None where nothing was recorded."""
    guess: float
    """Work of a core, roughly [instructions/s]."""
    limit: float
    """The most it can use at all: its processors."""

    @functools.cached_property
    def peak(self) -> float:
        """The most of all windows."""
        return max((self.wanted(cores) for cores in self.cores), default=0.0)

    def wanted(self, cores: float | None) -> float:
        """What work is looked for: somewhat less than all its processors, for with all of them busy
        ever more work would pile up unseen.
        """
        return min(cores or 0.0, _FULL * self.limit)


@dataclass(frozen=True)
class Residual:
    """How far the scenario, played, is from what was recorded."""

    windows: int
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
    used = probe(stairs, _STAIR_NS, _FIRST_REPLICATION, lambda share: tell(0.1 * share))
    first = {
        one.name: tuple(
            _read_off(one.wanted(cores), used[one.name].cores, stairs[one.name])
            for cores in one.cores
        )
        for one in targets
    }
    floors = {name: idle for name, (idle, _) in found.items()}
    rates, used = _refined(targets, probe, step_ns, first, floors, tell)
    return Converted(rates, {one.name: _residual(one, used[one.name]) for one in targets})


def _silent(_share: float) -> None:
    """Where nobody wants to know how far it is."""


def _refined(
    targets: Sequence[Target],
    probe: Probe,
    step_ns: int,
    rates: dict[str, tuple[float, ...]],
    floors: Mapping[str, float],
    tell: ProgressFn,
) -> tuple[dict[str, tuple[float, ...]], dict[str, Used]]:
    """The rates of the best of a few passes over all windows, and what was used in it."""
    best: tuple[tuple[int, float], dict[str, tuple[float, ...]], dict[str, Used]] | None = None
    before: tuple[int, float] | None = None
    few = _few(targets, step_ns)
    lengths = _lengths(step_ns, brief=few > 0)
    for attempt, length in enumerate(lengths):
        base = 0.1 + 0.9 * sum(lengths[:attempt]) / sum(lengths)

        def part(share: float, base: float = base, length: int = length) -> None:
            tell(base + 0.9 * length / sum(lengths) * share)

        used = probe(rates, length, _FIRST_REPLICATION + 1 + attempt, part)
        misses = _misses(targets, used)
        worth = before is None or any(
            now < _WORTH * then for now, then in zip(misses, before, strict=True)
        )
        if length == step_ns:
            if best is None or misses < best[0]:
                best = (misses, rates, used)
            if misses[0] <= few or not worth:
                break
        before = misses if before is None else min(before, misses)
        # Of passes that all are near, each counts by its length.
        trust = length / sum(lengths[: attempt + 1]) if lengths[0] < step_ns else 1.0
        rates = {
            one.name: _corrected(one, rates[one.name], used[one.name], floors[one.name], trust)
            for one in targets
        }
    tell(1.0)
    if best is None:
        raise AssertionError("there is at least one pass")
    return best[1], best[2]


def _lengths(step_ns: int, *, brief: bool) -> list[int]:
    """How long a window is played in each pass [ns]."""
    short = max(_BRIEFEST_NS, step_ns // _BRIEF)
    if not brief or short >= step_ns:
        return [step_ns] * _PASSES
    return [short] * _BRIEF_PASSES + [step_ns] * (_PASSES - 1)


def _few(targets: Sequence[Target], step_ns: int) -> float:
    """How many windows may be off without another pass: none where a pass is quick."""
    work = sum(cores for one in targets for cores in one.cores if cores is not None)
    windows = sum(len(one.cores) for one in targets)
    return _FEW * windows if work * step_ns / 1e9 > _LONG else 0.0


def slopes(targets: Sequence[Target], probe: Probe) -> dict[str, tuple[float, float]]:
    """Cores used when idle, and work of a further core, of each partition."""
    half = {one.name: (0.0, one.guess * one.peak / 2) for one in targets}
    used = probe(half, _STAIR_NS, _FIRST_REPLICATION)
    found = {}
    for one in targets:
        idle, busy = used[one.name].cores
        more = busy - idle
        found[one.name] = (idle, half[one.name][1] / more if more > 1e-6 else one.guess)
    return found


def _stairs(target: Target, idle: float, per_core: float) -> tuple[float, ...]:
    """Work of each stair: even steps up to the peak, then beyond."""
    top = max(target.peak - idle, _LEAST_CORES) * per_core
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


def deviation(recorded: float, simulated: float) -> float:
    """Simulated against recorded, as a share; of very little use as a share of a hundredth of a
    core.
    """
    return (simulated - recorded) / max(recorded, _LEAST_CORES)


def _misses(targets: Sequence[Target], used: Mapping[str, Used]) -> tuple[int, float]:
    """Windows that are off by half the tolerance, and the largest deviation."""
    off = [
        abs(deviation(one.wanted(cores), got))
        for one in targets
        for cores, got in zip(one.cores, used[one.name].cores, strict=True)
        if cores is not None
    ]
    return sum(share > _TOLERANCE / 2 for share in off), max(off, default=0.0)


def _corrected(
    target: Target, rates: Sequence[float], used: Used, idle: float, trust: float
) -> tuple[float, ...]:
    """Work changed by how much more or less than recorded was used, but for what is near enough
    and what is not done in time anyway; by a part of it for what is near, for the rest is chance.
    """
    found = []
    for cores, rate, got, waiting in zip(
        target.cores, rates, used.cores, used.waiting, strict=True
    ):
        wanted = target.wanted(cores)
        if cores is None or abs(deviation(wanted, got)) * 100 < _GOOD_PCT or got <= idle:
            found.append(rate)
            continue
        ratio = max(0.0, wanted - idle) / max(got - idle, 1e-9)
        late = waiting > 2 * max(1.0, target.peak)
        if abs(ratio - 1.0) <= _NEIGHBOUR:
            ratio **= trust
        found.append(rate * min(1.0 if late else 1.5, max(0.5, ratio)))
    return tuple(found)


def _residual(target: Target, used: Used) -> Residual:
    off = [
        abs(deviation(cores, got))
        for cores, got in zip(target.cores, used.cores, strict=True)
        if cores is not None
    ]
    return Residual(
        windows=len(off),
        beyond=sum(one > _TOLERANCE for one in off),
        mean_pct=100 * sum(off) / max(1, len(off)),
        most_pct=100 * max(off, default=0.0),
        short=sum(cores is not None and cores > target.limit for cores in target.cores),
        beyond_short=sum(
            cores is not None and cores > target.limit and abs(deviation(cores, got)) > _TOLERANCE
            for cores, got in zip(target.cores, used.cores, strict=True)
        ),
    )


def shown(residuals: Mapping[str, Residual]) -> list[str]:
    """A line a partition, for the scenario's comments."""
    lines = []
    for name, one in residuals.items():
        off = f"{one.mean_pct:.2f} % in the mean, {one.most_pct:.2f} % at most"
        beyond = f", {one.beyond} beyond 2 %" if one.beyond else ""
        lines.append(f"{name}: {one.windows} windows off by {off}{beyond}")
    return lines
