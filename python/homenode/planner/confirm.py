"""The best few simulated beside the layout as it is, with the same arrivals."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.model.estimate import Estimate, estimate
from homenode.model.scenario import Scenario
from homenode.planner.rules import Simulated
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.kept.totals import Totals
from homenode.simulate.run import Run
from homenode.simulate.runner import ProgressFn
from homenode.simulate.sweep.whole import keep_runs

if TYPE_CHECKING:
    from collections.abc import Iterable

Groups = Sequence[tuple[Sequence[str], Sequence[str]]]
"""Names of partitions of the layout as it is, each beside those of another layout that do the same
work; none where they are the same.
"""
LEAST = 3
"""Replications that are run at least: of two the scatter is hardly known."""


@dataclass(frozen=True)
class Runs:
    """How layouts are simulated."""

    replications: int | None = None
    jobs: int | None = None
    on: str | None = None
    """A cluster; see `run_sweep`."""
    out: str | Path = "runs"
    progress: ProgressFn | None = None
    stop: threading.Event | None = None

    def count(self, scenario: Scenario) -> int:
        """How many replications of a layout are run."""
        return self.replications or max(LEAST, scenario.replications)

    def of(self, scenarios: Sequence[Scenario]) -> list[Run]:
        """Simulate layouts; replications of the same number see the same arrivals in all. Raises
        `InterruptedRuns`.
        """
        if not scenarios:
            return []
        return keep_runs(
            scenarios,
            replications=self.count(scenarios[0]),
            on=self.on,
            jobs=self.jobs,
            out=self.out,
            progress=self.progress,
            stop=self.stop,
        )


def unsteady(run: Run, held: Collection[str] = ()) -> dict[str, str]:
    """Partitions that do not meet their demand, and why, but for those that are held."""
    told = {name: run.unsteady_reason(name) for name in run.partitions if name not in held}
    return {name: reason for name, reason in told.items() if reason is not None}


def cores_of(run: Run, base: Run, held: Collection[str] = (), groups: Groups = ()) -> list[float]:
    """Cores of each replication for the work that the base did in it: what arrives is the same
    work, what a closed load gets done is its speed, and so is that of `held`, whose backlog grows.
    """
    total = [0.0] * run.replications
    for old, new in groups or [((name,), (name,)) for name in run.partitions]:
        works = [run.breakdown(name).work for name in new]
        closed = any(one is not None and one.closed for one in works) or new[0] in held
        pairs = _works((run, new), (base, old))
        for at, (done, before) in enumerate(zip(*pairs, strict=False)):
            ratio = before / done if closed and done > 0 else 1.0
            used = (METRICS["physc"].formula(run.totals(name)[at]) or 0.0 for name in new)
            total[at] += ratio * math.fsum(used)
    return total


def _works(*sides: tuple[Run, Sequence[str]]) -> list[list[float]]:
    """What partitions of runs got done in each replication: transactions where guests of their own
    do them, whose control program's instructions are no work; else instructions, which scatter
    less, without those that only spin.
    """
    rows = [list(zip(*(run.totals(name) for name in names), strict=True)) for run, names in sides]
    every = [one for side in rows for ones in side for one in ones]
    of_guests = all(one.shape.runs_guests and one["tx_done"] for one in every)

    def work(one: Totals) -> float:
        return one["tx_done"] if of_guests else one["instructions"] - one["spin_instructions"]

    return [[math.fsum(map(work, ones)) for ones in side] for side in rows]


def responses_of(run: Run, held: Collection[str] = ()) -> list[float]:
    """Of each replication the mean response over all transactions but those of `held` [ms]; empty
    where there are none.
    """
    sums, counts = [0.0] * run.replications, [0.0] * run.replications
    for name in (one for one in run.partitions if one not in held):
        for at, one in enumerate(run.totals(name)):
            mean = METRICS["response_ms_mean"].formula(one)
            rate = METRICS["etr_per_s"].formula(one)
            if mean is not None and rate:
                sums[at] += mean * rate
                counts[at] += rate
    return [total / count for total, count in zip(sums, counts, strict=True) if count]


def saved(before: Sequence[float], after: Sequence[float]) -> Estimate:
    """How much less, with the interval of the pairs."""
    if len(before) != len(after) or not before:
        return Estimate(None)
    return estimate([one - other for one, other in zip(before, after, strict=True)])


def is_sure(saving: Estimate, least: float) -> bool:
    """Whether a saving is told apart from chance, and worth it."""
    if saving.mean is None or saving.mean < least or saving.mean <= 0:
        return False
    return saving.ci95 is None or saving.mean > saving.ci95


def _responses(run: Run, names: Sequence[str]) -> list[float]:
    """Of each replication the mean response of partitions [ms], by their own means; empty where one
    has none.
    """
    each = [[METRICS["response_ms_mean"].formula(one) for one in run.totals(n)] for n in names]
    known = [[one for one in ones if one is not None] for ones in zip(*each, strict=True)]
    return [math.fsum(ones) / len(ones) for ones in known] if all(known) else []


def _before(base: Run, groups: Groups) -> Callable[[str], list[float]]:
    """Responses of the layout as it is, by the names of another one."""
    names = {one: old for old, new in groups for one in new}
    return lambda name: _responses(base, names.get(name, (name,)))


def looked_at(
    run: Run, base: Run | None = None, held: Collection[str] = (), groups: Groups = ()
) -> Simulated:
    """The run as rules look at it, beside that of the layout as it is, but for the backlogs of
    `held`.
    """

    def mean(name: str, metric: str) -> float | None:
        return run.metrics[name][metric].mean

    used: Iterable[float] = (mean(name, "physc") or 0.0 for name in run.partitions)
    before = None if base is None else _before(base, groups)

    def longer(name: str, times: float) -> Estimate:
        was = [] if before is None else before(name)
        return saved(_responses(run, (name,)), [times * one for one in was])

    return Simulated(mean, math.fsum(used), unsteady(run, held), longer)
