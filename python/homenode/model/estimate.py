"""Means with their uncertainty, and rounding that keeps sums."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BATCHES = 10
"""Batches into which the intervals of a single replication are cut."""


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its 95 % confidence interval; None where it cannot be told."""

    mean: float | None
    ci95: float | None = None
    reason: str | None = None
    """Why there is no mean, in a sentence."""

    def as_json(self) -> dict[str, float | str | None]:
        """The form it has in `summary.json`."""
        plain: dict[str, float | str | None] = {"mean": self.mean, "ci95": self.ci95}
        if self.reason is not None:
            plain["reason"] = self.reason
        return plain


def estimate(values: Sequence[float]) -> Estimate:
    """Mean of independent values with Student's t interval: `t(0.975, n-1) s / sqrt(n)`."""
    count = len(values)
    if count == 0:
        return Estimate(None)
    mean = math.fsum(values) / count
    if count == 1:
        return Estimate(mean)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return Estimate(mean, student_t(count - 1) * math.sqrt(variance / count))


def student_t(degrees: int) -> float:
    """Two-sided 95 % quantile of Student's t distribution."""
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
