"""How narrow the intervals of a run are, and how many replications would make them narrow.

An interval is half of what Student's distribution gives for 95 %: `t(n-1) s / sqrt(n)`. From the
scatter `s` of the replications that were run follows how many would make it as narrow as one likes,
if others scatter as these do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from homenode.model.estimate import Estimate, student_t

if TYPE_CHECKING:
    from homenode.simulate.kept.kept_run import KeptRun

WIDE: Final = 0.20
"""Interval, as a share of its mean, beyond which a figure is marked."""
LOOKED_AT: Final = ("physc", "etr_per_s", "response_ms_mean")
"""Metrics that are to be narrow: what is used, done and waited for."""
SHOWN: Final = (*LOOKED_AT, "cpu_per_tx_us", "response_ms_p95", "response_ms_p99")
"""With what else tables show of them."""


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
