"""How many times one system is the other, with an interval.

The interval is Student's t on logarithms: Welch's for independent runs, of the paired differences
for runs in turn. It sizes the difference; the rank test (`ranks`) decides whether there is one.
Beside it stands the estimate of Hodges and Lehmann, the median of all ratios of one run to
another, which outliers do not move.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from homenode.hosts.errors import MeasureError
from homenode.hosts.statistics.ranks import ALPHA, rank_p
from homenode.hosts.statistics.samples import exponential, logs
from homenode.model.estimate import mean_of


@dataclass(frozen=True)
class Ratio:
    """`second / first` of two samples."""

    mean: float
    """Ratio of the geometric means."""
    low: float | None
    """Lower end of its 95 % interval; None where a side has a single run."""
    high: float | None
    hodges_lehmann: float
    """Median of the ratios of single runs."""
    p: float | None
    """Chance of such ranks between equals; None where so few runs cannot decide."""
    first_runs: int
    second_runs: int
    paired: bool

    @property
    def decided(self) -> bool:
        """Whether the rank test tells the two apart."""
        return self.p is not None and self.p < ALPHA

    @property
    def agrees(self) -> bool:
        """Whether interval and rank test say the same."""
        if self.low is None or self.high is None or self.p is None:
            return True
        return self.decided == (not self.low <= 1.0 <= self.high)

    @property
    def inverse(self) -> Ratio:
        """`first / second`."""
        return Ratio(
            1.0 / self.mean,
            None if self.high is None else 1.0 / self.high,
            None if self.low is None else 1.0 / self.low,
            1.0 / self.hodges_lehmann,
            self.p,
            self.first_runs,
            self.second_runs,
            self.paired,
        )

    def as_json(self) -> dict[str, object]:
        """Its part of a command's `--json`."""
        return {
            "ratio": self.mean,
            "low": self.low,
            "high": self.high,
            "hodges_lehmann": self.hodges_lehmann,
            "p": self.p,
            "runs": [self.first_runs, self.second_runs],
            "paired": self.paired,
        }


def ratio_of_samples(first: Sequence[float], second: Sequence[float]) -> Ratio:
    """Of independent runs; Welch's interval, degrees of freedom by Welch and Satterthwaite."""
    a, b = _both(first, second)
    middle = mean_of(b) - mean_of(a)
    half: float | None = None
    if len(a) > 1 and len(b) > 1:
        parts = [statistics.variance(one) / len(one) for one in (a, b)]
        half = _half_width(parts, (len(a) - 1, len(b) - 1))
    walsh = statistics.median(y - x for x in a for y in b)
    return _ratio(middle, half, walsh, (first, second), paired=False)


def ratio_of_pairs(first: Sequence[float], second: Sequence[float]) -> Ratio:
    """Of runs in turn: the same index is a pair."""
    a, b = _both(first, second)
    if len(a) != len(b):
        raise MeasureError(f"{len(a)} runs and {len(b)} runs are not pairs")
    differences = [y - x for x, y in zip(a, b, strict=True)]
    count = len(differences)
    half: float | None = None
    if count > 1:
        half = _half_width([statistics.variance(differences) / count], (count - 1,))
    walsh = statistics.median(
        (differences[i] + differences[j]) / 2.0 for i in range(count) for j in range(i, count)
    )
    return _ratio(mean_of(differences), half, walsh, (first, second), paired=True)


def _ratio(
    middle: float,
    half: float | None,
    walsh: float,
    samples: tuple[Sequence[float], Sequence[float]],
    *,
    paired: bool,
) -> Ratio:
    at = exponential
    return Ratio(
        mean=at(middle),
        low=None if half is None else at(middle - half),
        high=None if half is None else at(middle + half),
        hodges_lehmann=at(walsh),
        p=rank_p(*samples, paired=paired),
        first_runs=len(samples[0]),
        second_runs=len(samples[1]),
        paired=paired,
    )


def _half_width(parts: Sequence[float], degrees: Sequence[int]) -> float:
    """`t(0.975, nu) sqrt(sum)`; nu by Welch and Satterthwaite, n - 1 of one part."""
    from scipy.special import stdtrit

    total = math.fsum(parts)
    if total == 0.0:
        return 0.0
    # Shares of the total, lest squares of tiny variances vanish.
    nu = 1.0 / math.fsum((p / total) ** 2 / d for p, d in zip(parts, degrees, strict=True))
    return float(stdtrit(nu, 1.0 - ALPHA / 2.0)) * math.sqrt(total)


def _both(first: Sequence[float], second: Sequence[float]) -> tuple[list[float], list[float]]:
    if not first or not second:
        raise MeasureError(
            "a ratio needs a run of either system",
            there=f"{len(first)} and {len(second)}",
        )
    return logs(first), logs(second)
