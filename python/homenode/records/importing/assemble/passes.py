"""The windows of a recording played until they come out as recorded.

Each pass draws other random numbers, and windows that came out wrong are corrected by their own
ratio. Where playing a recording takes its time, all of it is played for a quarter of the time at
first: what is systematically wrong shows, and the mean of what several passes say of a window has
less chance in it. After that the windows that were still off are played in full, each behind the
one before it, and with them a part of the others. Only if so many of those are off that as many in
all would be worth another pass, the whole recording is played in full.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from homenode.simulate.settle.probe import Probe, Used

_PASSES = 3
_LONG = 30_000.0
"""Cores times simulated seconds beyond which a pass takes some time, so that a few misses are let
be.
"""
_FEW = 0.03
"""How many misses, as a share of all windows."""
_BRIEF, _BRIEF_PASSES = 4, 2
"""Of such a recording, so many passes take this part of the time before any is played in full."""
_BRIEFEST_NS = 5_000_000_000
"""Windows that are played for less tell chance."""
_BLOCK, _EVERY = 8, 8
"""Of the windows that came out right so many in a row are played in full, one row of so many: what
shows only then shows there too.
"""
_PART = 1 / 3
"""Of a recording of which more than this would be played again, all is."""
_NEIGHBOUR = 0.15
"""A pass that was that near to what is wanted says what others say too, but for chance."""
_GOOD_PCT = 0.5
"""Windows that are nearer than this are left as they are."""
TOLERANCE = 0.02
_FULL = 0.995
"""Share of a partition's processors that can be used before work piles up."""
_WORTH = 0.5
"""Another pass is worth its time if this one left less than this share of the best one's misses, or
of its largest deviation.
"""
LEAST_CORES = 0.01
"""Below this deviations are told in cores, not in percent."""
FIRST_REPLICATION = 1_000_000
"""Probes draw other numbers than the replications of any run."""
ProgressFn = Callable[[float], None]
Rates = dict[str, tuple[float, ...]]


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
class Passed:
    """The work of every window, and what was used with it."""

    rates: Rates
    used: Mapping[str, Used]
    """Of each window as it was played last."""
    in_full: int
    """Windows that were played for all of their time."""


@dataclass(frozen=True)
class _Playing:
    """What all passes of a recording have in common."""

    targets: Sequence[Target]
    probe: Probe
    step_ns: int
    few: float
    """How many windows may be off without another pass."""

    @property
    def windows(self) -> int:
        return len(self.targets[0].cores)


def refined(
    targets: Sequence[Target],
    probe: Probe,
    step_ns: int,
    first: Rates,
    floors: Mapping[str, float],
    tell: ProgressFn,
) -> Passed:
    """The rates of the best of a few passes, from `first` on. `floors` are the cores of idle
    partitions; `tell` hears which share is done.
    """
    playing = _Playing(targets, probe, step_ns, _few(targets, step_ns))
    lengths = _lengths(step_ns, brief=playing.few > 0)
    rates, used = first, dict[str, Used]()
    best: tuple[tuple[int, float], Passed] | None = None
    before: tuple[int, float] | None = None
    for attempt, length in enumerate(lengths):

        def part(share: float, attempt: int = attempt) -> None:
            tell((sum(lengths[:attempt]) + share * lengths[attempt]) / sum(lengths))

        number = FIRST_REPLICATION + 1 + attempt
        if length > lengths[0] and best is None:
            some = _in_part(playing, rates, used, number, part)
            if some is not None:
                tell(1.0)
                return some
        used = probe(rates, length, number, part)
        misses = _misses(targets, used)
        worth = before is None or any(
            now < _WORTH * then for now, then in zip(misses, before, strict=True)
        )
        # What shows only in full is no chance.
        worth = worth or (best is None and before is not None and misses[0] > before[0])
        if length == step_ns:
            if best is None or misses < best[0]:
                best = misses, Passed(rates, used, playing.windows)
            if misses[0] <= playing.few or not worth:
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
    return best[1]


def _in_part(
    playing: _Playing, rates: Rates, before: Mapping[str, Used], number: int, tell: ProgressFn
) -> Passed | None:
    """A pass over the windows that were off in the last one and a part of the others; None where
    all are to be played.
    """
    doubtful = _doubtful(playing.targets, before)
    every = range(playing.windows)
    trusted = [at for at in every if at // _BLOCK % _EVERY == 0 and at not in doubtful]
    picked = sorted({*doubtful, *trusted})
    # What one leaves undone, cached or unfolded, the next one finds.
    played = sorted({*picked, *(at - 1 for at in picked if at > 0)})
    if len(played) > _PART * playing.windows or not trusted:
        return None
    some = {name: tuple(values[at] for at in played) for name, values in rates.items()}
    found = playing.probe(some, playing.step_ns, number, tell, played)
    places = {at: played.index(at) for at in picked}
    used = {name: _replaced(before[name], one, places) for name, one in found.items()}
    off = _misses(playing.targets, used, doubtful)[0]
    off_of_trusted = _misses(playing.targets, used, trusted)[0]
    all_of_them = off_of_trusted * (playing.windows - len(doubtful)) / len(trusted)
    if off + all_of_them > playing.few:
        return None
    return Passed(rates, used, len(picked))


def _doubtful(targets: Sequence[Target], used: Mapping[str, Used]) -> set[int]:
    """Windows that are off, or in which work is left over, which then is done in the next one."""
    found: set[int] = set()
    for one in targets:
        each = zip(one.cores, used[one.name].cores, used[one.name].waiting, strict=True)
        for at, (cores, got, waiting) in enumerate(each):
            if cores is not None and _is_off(one.wanted(cores), got):
                found.add(at)
            if _is_late(one, waiting):
                found |= {at, min(at + 1, len(one.cores) - 1)}
    return found


def _replaced(before: Used, found: Used, places: Mapping[int, int]) -> Used:
    """What was used in all windows, with what was found of some at their places."""
    cores, waiting = list(before.cores), list(before.waiting)
    for at, place in places.items():
        cores[at], waiting[at] = found.cores[place], found.waiting[place]
    return Used(tuple(cores), tuple(waiting))


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


def deviation(recorded: float, simulated: float) -> float:
    """Simulated against recorded, as a share; of very little use as a share of a hundredth of a
    core.
    """
    return (simulated - recorded) / max(recorded, LEAST_CORES)


def _is_off(wanted: float, got: float) -> bool:
    """By half the tolerance, or more."""
    return abs(deviation(wanted, got)) > TOLERANCE / 2


def _is_late(target: Target, waiting: float) -> bool:
    """Whether what is not done at a window's end is more than its processors have at hand."""
    return waiting > 2 * max(1.0, target.peak)


def _misses(
    targets: Sequence[Target], used: Mapping[str, Used], windows: Collection[int] | None = None
) -> tuple[int, float]:
    """Windows, of all or of some, that are off by half the tolerance, and the largest deviation."""
    off = [
        abs(deviation(one.wanted(cores), got))
        for one in targets
        for at, (cores, got) in enumerate(zip(one.cores, used[one.name].cores, strict=True))
        if cores is not None and (windows is None or at in windows)
    ]
    return sum(share > TOLERANCE / 2 for share in off), max(off, default=0.0)


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
        late = _is_late(target, waiting)
        if abs(ratio - 1.0) <= _NEIGHBOUR:
            ratio **= trust
        found.append(rate * min(1.0 if late else 1.5, max(0.5, ratio)))
    return tuple(found)
