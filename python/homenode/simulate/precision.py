"""How narrow the intervals of a run are, and running until they are narrow enough.

An interval is half of what Student's distribution gives for 95 %: `t(n-1) s / sqrt(n)`. From the
scatter `s` of the replications that were run follows how many would make it as narrow as one likes,
if others scatter as these do.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from homenode.errors import HomenodeError
from homenode.model.estimate import Estimate, student_t
from homenode.model.scenario import Scenario
from homenode.simulate.kept.kept_run import KeptRun
from homenode.simulate.run import Run
from homenode.simulate.runner.job import FrozenScenario
from homenode.simulate.runner.running import run_scenario

WIDE: Final = 0.20
"""Interval, as a share of its mean, beyond which a figure is marked."""
LEAST: Final = 3
"""Replications that are run at least before it is said how many it takes: of two the scatter is
hardly known.
"""
MOST: Final = 300
"""Replications that are run at most."""
LOOKED_AT: Final = ("physc", "etr_per_s", "response_ms_mean")
"""Metrics that are to be narrow: what is used, done and waited for."""
SHOWN: Final = (*LOOKED_AT, "cpu_per_tx_us", "response_ms_p95", "response_ms_p99")
"""With what else tables show of them."""
_MARGIN = 1.1
"""Of the replications that it takes: the scatter is an estimate too."""


@dataclass(frozen=True)
class Wide:
    """A figure whose interval is wider than it should be."""

    partition: str
    metric: str
    share: float
    """Half of its interval over its mean."""
    needed: int | None
    """Replications that would make it narrow; None if more than can be said."""


def width(estimate: Estimate) -> float | None:
    """Half of an interval over its mean; None where there is none."""
    if not estimate.mean or estimate.ci95 is None:
        return None
    return estimate.ci95 / abs(estimate.mean)


def needed(estimate: Estimate, count: int, share: float, most: int = 100_000) -> int | None:
    """The least number of replications whose interval is as narrow, if they scatter as `count` of
    them did; None if `most` are not enough, or one alone says nothing of it.
    """
    now = width(estimate)
    if now is None or count < 2:
        return None
    scatter = now * math.sqrt(count) / student_t(count - 1)
    low, high = 2, 2
    while student_t(high - 1) * scatter / math.sqrt(high) > share:
        if high >= most:
            return None
        low, high = high, min(most, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        fits = student_t(middle - 1) * scatter / math.sqrt(middle) <= share
        low, high = (low, middle) if fits else (middle, high)
    return high


def wide(run: KeptRun, share: float = WIDE, metrics: Sequence[str] = LOOKED_AT) -> list[Wide]:
    """The figures of a run that are not as narrow. Of a single replication, whose intervals come
    from parts of it, it is not said how many it takes.
    """
    found = []
    for partition in run.partitions:
        for metric in metrics:
            told = run.metrics[partition][metric]
            now = width(told)
            if now is not None and now > share:
                found.append(Wide(partition, metric, now, needed(told, run.replications, share)))
    return found


def run_until(
    scenario: FrozenScenario | str | Path,
    share: float,
    *,
    replications: int | None = None,
    out: str | Path = "runs",
    doing: Callable[[int], None] = lambda _: None,
    **options: Any,
) -> Run:
    """Run with ever more replications until the figures of `LOOKED_AT` are as narrow: half of each
    interval at most `share` of its mean (0.05 for 5 %).

    Begins with `replications`, or as many as the scenario asks for; `MOST` are the limit, and the
    caller can see by `wide` whether they were enough. Only the last run is kept. `doing` is told
    how many replications the next one has; other options are those of `run_scenario`.
    """
    if not 0 < share < 1:
        problem = f"an interval of {share:g} times its mean cannot be aimed at"
        raise HomenodeError(problem, next_step="ask for a share such as 0.05")
    frozen = Scenario.load(scenario) if isinstance(scenario, str | Path) else scenario
    count = max(LEAST, frozen.replications if replications is None else replications)
    before: Path | None = None
    while True:
        doing(count)
        there = {path.name for path in Path(out).glob("*")} if Path(out).is_dir() else set()
        run = run_scenario(frozen, replications=count, out=out, **options)
        if before is not None:
            shutil.rmtree(before, ignore_errors=True)
        left = wide(run, share)
        if not left or count >= MOST:
            return run
        before = None if run.path.name in there else run.path
        most = max(one.needed or MOST for one in left)
        count = min(MOST, max(count + 1, math.ceil(_MARGIN * most)))
