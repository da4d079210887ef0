"""The best few simulated beside the layout as it is, with the same arrivals."""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.model.estimate import Estimate, estimate
from homenode.model.scenario import Scenario
from homenode.planner.rules import Simulated
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.run import Run
from homenode.simulate.runner import ProgressFn, run_scenario

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST = 3
"""Replications that are run at least: of two the scatter is hardly known."""


@dataclass(frozen=True)
class Runs:
    """How layouts are simulated."""

    replications: int | None = None
    jobs: int | None = None
    out: str | Path = "runs"
    progress: ProgressFn | None = None
    stop: threading.Event | None = None

    def of(self, scenario: Scenario) -> Run:
        """Simulate a layout; replications of the same number see the same arrivals in all."""
        count = self.replications or max(LEAST, scenario.replications)
        return run_scenario(
            scenario,
            replications=count,
            jobs=self.jobs,
            out=self.out,
            progress=self.progress,
            stop=self.stop,
        )


def unsteady(run: Run, held: Collection[str] = ()) -> dict[str, str]:
    """Partitions that do not meet their demand, and why, but for those that are held."""
    told = {name: run.unsteady_reason(name) for name in run.partitions if name not in held}
    return {name: reason for name, reason in told.items() if reason is not None}


def cores_of(run: Run, base: Run, held: Collection[str] = ()) -> list[float]:
    """Cores of each replication for the work that the base did in it: what arrives is the same
    work, what a closed load gets done is its speed, and so is that of `held`, whose backlog grows.
    """
    total = [0.0] * run.replications
    for name in run.partitions:
        work = run.breakdown(name).work
        closed = (work is not None and work.closed) or name in held
        pairs = zip(run.totals(name), base.totals(name), strict=False)
        for at, (mine, theirs) in enumerate(pairs):
            done, before = (
                one["instructions"] - one["spin_instructions"] for one in (mine, theirs)
            )
            ratio = before / done if closed and done > 0 else 1.0
            total[at] += ratio * (METRICS["physc"].formula(mine) or 0.0)
    return total


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


def looked_at(run: Run, base: Run | None = None, held: Collection[str] = ()) -> Simulated:
    """The run as rules look at it, beside that of the layout as it is, but for the backlogs of
    `held`.
    """

    def mean(name: str, metric: str) -> float | None:
        return run.metrics[name][metric].mean

    used: Iterable[float] = (mean(name, "physc") or 0.0 for name in run.partitions)
    now = None if base is None else looked_at(base, None, held)
    return Simulated(mean, math.fsum(used), unsteady(run, held), now)
