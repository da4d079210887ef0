"""One sample of runs: its middle and its spread.

The middle is the geometric mean and the spread that of the logarithms, so that a rate and the time
of a unit, one the inverse of the other, say the same.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from homenode.hosts.errors import MeasureError
from homenode.model.estimate import mean_of, student_t

MOST_LOG = 690.0
"""Beyond it `exp` is 1e300 or 1e-300."""


@dataclass(frozen=True)
class Spread:
    """Of one sample of positive values."""

    count: int
    mean: float
    """Geometric."""
    cv: float | None
    """Coefficient of variation of a run [ratio]; None of a single run."""
    low: float | None
    """Lower end of the 95 % interval of the mean, by Student's t on logarithms."""
    high: float | None


def logs(values: Sequence[float]) -> list[float]:
    """Natural logarithms; values that have none are refused."""
    for value in values:
        if not (math.isfinite(value) and value > 0.0):
            raise MeasureError(
                f"a run of {value:g} cannot be compared: ratios need values above zero",
                next_step="look at the run's raw output",
            )
    return [math.log(value) for value in values]


def exponential(logarithm: float) -> float:
    """`exp`, refused where the result leaves what a number can hold."""
    if not abs(logarithm) <= MOST_LOG:
        raise MeasureError(
            "runs of one case lie so far apart that no figure can be made of them",
            next_step="look at the runs' raw outputs: some of these figures cannot be right",
        )
    return math.exp(logarithm)


def log_mean(values: Sequence[float]) -> float:
    """Mean of the logarithms."""
    return mean_of(logs(values))


def log_sd(values: Sequence[float]) -> float:
    """Standard deviation of the logarithms, of two runs or more."""
    return statistics.stdev(logs(values))


def cv(values: Sequence[float]) -> float | None:
    """Coefficient of variation by the spread of the logarithms: `sqrt(exp(s^2) - 1)`, the one of a
    lognormal law; None of fewer than two runs.
    """
    if len(values) < 2:
        return None
    variance = log_sd(values) ** 2
    exponential(variance)
    return math.sqrt(math.expm1(variance))


def spread(values: Sequence[float]) -> Spread | None:
    """Middle and spread of a sample; None of an empty one."""
    if not values:
        return None
    middle, count = log_mean(values), len(values)
    if count == 1:
        return Spread(1, exponential(middle), None, None, None)
    half = student_t(count - 1) * log_sd(values) / math.sqrt(count)
    low, high = exponential(middle - half), exponential(middle + half)
    return Spread(count, exponential(middle), cv(values), low, high)
