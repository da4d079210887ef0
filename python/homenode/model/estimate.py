"""Means with their uncertainty, and rounding that keeps sums."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

BATCHES = 10
"""Batches into which the intervals of a single replication are cut."""
_QUANTILES = (
    12.706204736174694, 4.302652729749462, 3.1824463052837078, 2.7764451051977934,
    2.5705818356363146, 2.4469118511449786, 2.364624251592784, 2.306004135204166,
    2.262157162798205, 2.228138851986274, 2.200985160091639, 2.1788128296672284,
    2.1603686564627913, 2.144786687917804, 2.131449545559776, 2.1199052992212546,
    2.1098155778333156, 2.1009220402410382, 2.0930240544083087, 2.085963447265864,
    2.0796138447276795, 2.0738730679040254, 2.0686576104190486, 2.0638985616280245,
    2.0595385527532972, 2.0555294386428735, 2.0518305164802846, 2.0484071417952454,
    2.045229642132703, 2.0422724563012378,
)  # fmt: skip
"""Student's t for 0.975 by degrees of freedom, from 1, as SciPy computes them: to load it takes
longer than to simulate a small scenario. A test holds them against it.
"""


class Told(TypedDict):
    """A metric as files have it: its mean, half of its 95 % interval, why there is no mean."""

    mean: float | None
    ci95: float | None
    reason: NotRequired[str]


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its 95 % confidence interval; None where it cannot be told."""

    mean: float | None
    ci95: float | None = None
    reason: str | None = None
    """Why there is no mean, in a sentence."""

    def as_json(self) -> Told:
        """The form it has in `summary.json`."""
        plain: Told = {"mean": self.mean, "ci95": self.ci95}
        if self.reason is not None:
            plain["reason"] = self.reason
        return plain


def scaled(estimate: Estimate, factor: float) -> Estimate:
    """So many times as much, as a rate is a count of so many seconds."""
    if estimate.mean is None:
        return estimate
    ci95 = None if estimate.ci95 is None else estimate.ci95 * factor
    return Estimate(estimate.mean * factor, ci95)


def mean_of(values: Sequence[float]) -> float:
    """The plain mean of at least one value, summed exactly."""
    return math.fsum(values) / len(values)


def estimate(values: Sequence[float]) -> Estimate:
    """Mean of independent values with Student's t interval: `t(0.975, n-1) s / sqrt(n)`."""
    return Estimate(*mean_and_half(values)) if values else Estimate(None)


def mean_and_half(values: Sequence[float]) -> tuple[float, float | None]:
    """The same of at least one value: the mean, and half of the interval, which one has not."""
    count = len(values)
    mean = math.fsum(values) / count
    if count == 1:
        return mean, None
    variance = math.fsum([(value - mean) ** 2 for value in values]) / (count - 1)
    return mean, student_t(count - 1) * math.sqrt(variance / count)


def student_t(degrees: int) -> float:
    """Two-sided 95 % quantile of Student's t distribution."""
    if 1 <= degrees <= len(_QUANTILES):
        return _QUANTILES[degrees - 1]
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.975))


def rounded_to_sum(values: Mapping[str, float], digits: int) -> dict[str, float]:
    """Round so that the rounded values add up to the rounded total (largest remainder).

    Each value is rounded down, then the units that are missing go to those with the largest
    remainders; ties go to the first. No value moves by a whole unit of the last digit.
    """
    scale = 10**digits
    units = {name: math.floor(value * scale) for name, value in values.items()}
    total = round(math.fsum(values.values()) * scale)
    order = sorted(values, key=lambda name: units[name] - values[name] * scale)
    for name in order[: total - sum(units.values())]:
        units[name] += 1
    return {name: count / scale for name, count in units.items()}
