"""One experiment run on the host, and the figures that it gives.

The processes of an experiment start, wait, and begin together. What they used is their own account
of the time from the common start to their end; what a group was kept from is the group's.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.hosts.bench import SURROUNDINGS
from homenode.hosts.errors import MeasureError
from homenode.hosts.live.cgroups import Setting
from homenode.judge.kinds import Experiment, Group, Limit, Outer
from homenode.judge.loads import Asked, Job, Pace, Reported, command, read_report
from homenode.judge.others import Turns, between, look

if TYPE_CHECKING:
    from homenode.hosts.live import Host, Process
    from homenode.hosts.live.cgroups import Group as Control
    from homenode.hosts.live.cgroups import Setting, Usage

_NS = 1_000_000_000
STEAL = 0.05
"""Share of the processors' time that may be stolen in a trial, or it does not count: most hosts are
guests themselves, from which some per cent are taken all the time. What is taken is counted, so
that figures are told of the time that was to be had.
"""
_PER_TIME = ("done_per_s",)
_TIMES = ("makespan_s", "earliest_s")
LATE_S = 0.05
"""By so much a process may miss the common start, or the trial does not count [s]."""
_BEFORE_NS = 50_000_000
"""Looking at all other threads takes some milliseconds: it is done before the start [ns]."""
_START_UP_S = 0.25
_START_UP_EACH_S = 0.12
"""Time to start an interpreter and load the kernels, on one of the processors."""
_PATIENCE = 3.0
"""A trial may last so many times longer than planned."""

Figures = dict[str, float]
"""Metric to value; the metrics are those of `figures_of`."""


@dataclass(frozen=True)
class Trial:
    """What one execution of an experiment measured."""

    experiment: str
    figures: Mapping[str, Figures]
    """What was measured of each group, by its name."""
    foreign: float
    """Processor time of others, share of the processors used."""
    steal: float
    totals: Mapping[str, Figures] = field(default_factory=dict)
    """Of each group, what calibration needs: processor seconds, bursts, iterations."""
    others: Mapping[str, int] = field(default_factory=dict)
    """Turns of all other threads on the host, by the fields of `Turns`; where it calibrates."""
    others_s: float = 0.0
    """Time in which they were counted [s]."""
    late_s: float = 0.0
    """By how much the last process missed the common start [s]."""
    rejected: str | None = None
    """Why it does not count."""


def run_trial(
    host: Host,
    experiment: Experiment,
    processors: Sequence[int],
    pace: Pace,
    seconds: float,
    folder: Path,
    settling: float = 1.0,
) -> Trial:
    """Run an experiment once on these logical processors; `folder` takes the raw output. Its
    processes get `settling` times the usual time to be ready for the common start.

    Raises `MeasureError` if a generator fails or the host cannot set what the experiment needs.
    """
    count = sum(group.count for group in experiment.groups)
    started: list[tuple[Group, Process]] = []
    watch = host.gate.watch()
    ready_s = settling * (_START_UP_S + _START_UP_EACH_S * count / len(processors))
    start_ns = time.monotonic_ns() + round(ready_s * _NS)
    with groups_of(host, experiment, processors) as made:
        for group, control in zip(experiment.groups, made, strict=True):
            asked = Asked(group.nice, round(1e6 * group.slice_ms))
            argv = command(group.load, pace, start_ns, seconds, asked)
            for number in range(group.count):
                raw = folder / f"{group.name}-{number}"
                errors = raw.with_suffix(".err")
                process = host.start(
                    argv, group=control, env=SURROUNDINGS, stdout=raw, stderr=errors
                )
                started.append((group, process))
        _sleep_until(start_ns - _BEFORE_NS)
        others = _Others(experiment.calibrates)
        _sleep_until(start_ns)
        before = [control.usage() for control in made]
        limit = _limit(experiment, len(processors), seconds)
        ended = [(group, one, one.wait(limit_s=limit).code) for group, one in started]
        others.end()
        after = [control.usage() for control in made]
    quiet = watch.done()
    reports: dict[str, list[Reported]] = {group.name: [] for group in experiment.groups}
    for group, process, code in ended:
        if code != 0:
            shown = process.output()[-300:].decode("utf-8", "replace").strip()
            raise MeasureError(f"{experiment.name}: a load generator ended with {code}: {shown}")
        reports[group.name].append(read_report(process.output()))
    kept = {
        group.name: late.since(early)
        for group, early, late in zip(experiment.groups, before, after, strict=True)
        if group.own
    }
    figures = figures_of(reports, kept, None if experiment.to_the_end else seconds)
    return Trial(
        experiment.name,
        {name: of_time_to_be_had(found, quiet.steal) for name, found in figures.items()},
        quiet.foreign,
        quiet.steal,
        {name: totals_of(found) for name, found in reports.items()},
        asdict(others.turns),
        others.seconds,
        _late_s(reports, start_ns),
    )


class _Others:
    """What everything else on the host does from now to the end, if that is wanted."""

    def __init__(self, wanted: bool) -> None:
        self._began, self._before = time.monotonic(), look() if wanted else {}
        self.turns = Turns()
        self.seconds = 0.0

    def end(self) -> None:
        """Count until now."""
        if self._before:
            self.seconds = time.monotonic() - self._began
            self.turns = between(self._before, look())


@contextmanager
def groups_of(
    host: Host, experiment: Experiment, processors: Sequence[int]
) -> Iterator[list[Control]]:
    """The control group that each of the experiment's groups is in; all are ended with what is in
    them.
    """
    made: dict[str, Control] = {}

    def make(one: Outer | Group) -> Control:
        name = f"{experiment.name}-{one.name}".replace(":", "-")
        above = None if one.inside is None else made[one.inside]
        made[one.name] = host.group(name, _setting(one, processors), parent=above)
        return made[one.name]

    try:
        for outer in experiment.outer:
            make(outer)
        yield [
            make(one) if one.own or one.inside is None else made[one.inside]
            for one in experiment.groups
        ]
    finally:
        for control in reversed(made.values()):
            host.end(control)


def _setting(one: Outer | Group, processors: Sequence[int]) -> Setting:
    places = range(len(processors)) if one.processors is None else one.processors
    limit = one.quota or Limit(1.0)
    return Setting(
        weight=one.weight,
        quota=None if one.quota is None else limit.processors,
        period_us=round(1e3 * limit.period_ms),
        burst_us=round(1e3 * limit.burst_ms),
        cpus=tuple(processors[place] for place in places),
        idle=isinstance(one, Group) and one.idle,
    )


def _limit(experiment: Experiment, processors: int, seconds: float) -> float:
    jobs = [g.count * g.load.seconds for g in experiment.groups if isinstance(g.load, Job)]
    planned = max(sum(jobs) / processors, *[0.0, *jobs], 0.0 if jobs else seconds)
    return 10.0 + _PATIENCE * planned


def _sleep_until(instant_ns: int) -> None:
    time.sleep(max(0.0, (instant_ns - time.monotonic_ns()) / _NS))


def _late_s(reports: Mapping[str, Sequence[Reported]], start_ns: int) -> float:
    """How late the last of them began [s]."""
    return max(one.started_ns - start_ns for some in reports.values() for one in some) / _NS


def of_time_to_be_had(figures: Figures, steal: float) -> Figures:
    """Figures of a group as they would be in the time that was to be had, where this share of the
    processors' time was stolen: work by time rises, times to the end of work fall. Of others it
    cannot be told what steal did to them, whether their processes or those beside them lost by it,
    or the kernel has booked it as theirs.
    """
    left = 1.0 - min(steal, 0.5)
    by_metric = {**dict.fromkeys(_PER_TIME, 1.0 / left), **dict.fromkeys(_TIMES, left)}
    return {name: value * by_metric.get(name, 1.0) for name, value in figures.items()}


def reason_of(trial: Trial, foreign_limit: float | None, steal_limit: float = STEAL) -> str | None:
    """Why a trial does not count; None if it does. Without a limit on others, only one that did not
    begin together does not.
    """
    if trial.late_s > LATE_S:
        return f"a process began {1e3 * trial.late_s:.0f} ms after the others"
    if foreign_limit is None:
        return None
    if trial.foreign > foreign_limit:
        return f"others used {100 * trial.foreign:.1f} % of the host"
    if trial.steal > steal_limit:
        return (
            f"{100 * trial.steal:.1f} % was stolen by the host's own hypervisor "
            f"(limit {100 * steal_limit:g} %)"
        )
    return None


def figures_of(
    reports: Mapping[str, Sequence[Reported]],
    kept: Mapping[str, Usage],
    seconds: float | None,
) -> dict[str, Figures]:
    """Figures of every group. `seconds` is the time they were asked to run; None if they ran to
    the end of their work, which is then taken from the first start to the last end.
    """
    everything = [one for some in reports.values() for one in some]
    if seconds is None:
        first = min(one.started_ns for one in everything)
        seconds = (max(one.ended_ns for one in everything) - first) / _NS
    all_s = sum(one.cpu_ns for one in everything) / _NS
    return {name: _figures(some, kept.get(name), seconds, all_s) for name, some in reports.items()}


def _figures(some: Sequence[Reported], kept: Usage | None, seconds: float, all_s: float) -> Figures:
    cpu_s = sum(one.cpu_ns for one in some) / _NS
    spans = [one.seconds for one in some]
    found = {
        "share_pct": 100.0 * cpu_s / all_s,
        "cpus": cpu_s / seconds,
        "makespan_s": max(spans),
        "earliest_s": min(spans),
        "voluntary_per_s": sum(one.voluntary for one in some) / seconds,
        "involuntary_per_s": sum(one.involuntary for one in some) / seconds,
        "waiting_cpus": sum(one.run_delay_ns for one in some) / _NS / seconds,
    }
    if kept is not None and kept.periods:
        found["throttled_cpus"] = kept.throttled_s / seconds
        found["throttled_periods_pct"] = 100.0 * kept.throttled_periods / kept.periods
    responses = sorted(response for one in some for response in one.responses_ns)
    if responses:
        found["done_per_s"] = len(responses) / seconds
        for name, part in (("p50", 0.50), ("p95", 0.95), ("p99", 0.99)):
            found[f"response_{name}_ms"] = percentile(responses, part) / 1e6
    return found


def totals_of(some: Sequence[Reported]) -> Figures:
    """Sums over a group's processes."""
    return {
        "cpu_s": sum(one.cpu_ns for one in some) / _NS,
        "elapsed_s": sum(one.seconds for one in some),
        "bursts": float(sum(len(one.responses_ns) for one in some)),
        "iterations": float(sum(one.iterations for one in some)),
        "involuntary": float(sum(one.involuntary for one in some)),
    }


def percentile(ordered: Sequence[int], part: float) -> float:
    """The smallest value that at least so great a part of them does not exceed."""
    rank = max(1, -(-len(ordered) * round(part * 1000) // 1000))
    return float(ordered[rank - 1])
