"""The geometric mean of ratios over cases, with an interval by bootstrap over cases and runs.

Per cents cannot be averaged; ratios can, geometrically. A new set of cases would give another mean,
and so would new runs of the same cases: both are drawn anew. Draws of a small sample spread less
than new samples would, by `sqrt((n - 1) / n)`: cases and runs are both widened by that much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homenode.hosts.errors import MeasureError
from homenode.hosts.statistics.samples import exponential, logs

if TYPE_CHECKING:
    import numpy as np

DRAWS = 4000
SEED = 20
"""Of the draws; fixed, so that the same records give the same interval."""

Samples = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class GeometricMean:
    """Geometric mean of the ratios of cases, with its interval."""

    mean: float
    low: float | None
    """Lower end of the 95 % percentile interval; None of a single case with a single run."""
    high: float | None
    cases: int

    def as_json(self) -> dict[str, object]:
        """Its part of a command's `--json`."""
        return {"ratio": self.mean, "low": self.low, "high": self.high, "cases": self.cases}


def geometric_mean(cases: Sequence[Samples], *, paired: bool = False) -> GeometricMean:
    """Of `second / first` of each case: `(first, second)` are its runs, of pairs in order."""
    if not cases:
        raise MeasureError("there is no case to take a mean over")
    import numpy as np

    arrays = [(np.array(logs(a)), np.array(logs(b))) for a, b in cases]
    middle = math.fsum(float(b.mean() - a.mean()) for a, b in arrays) / len(arrays)
    if all(len(a) < 2 or len(b) < 2 for a, b in arrays) and len(arrays) < 2:
        return GeometricMean(exponential(middle), None, None, len(arrays))
    generator = np.random.default_rng(SEED)
    by_case = np.stack([_draws(generator, a, b, paired=paired) for a, b in arrays])
    chosen = generator.integers(len(arrays), size=by_case.shape)
    means = np.take_along_axis(by_case, chosen, axis=0).mean(axis=0)
    means = middle + _widening(len(arrays)) * (means - middle)
    low, high = np.quantile(means, (0.025, 0.975))
    ends = exponential(float(low)), exponential(float(high))
    return GeometricMean(exponential(middle), *ends, len(arrays))


def _draws(
    generator: np.random.Generator, a: np.ndarray, b: np.ndarray, *, paired: bool
) -> np.ndarray:
    """Mean log ratios of runs drawn anew."""
    first = generator.integers(len(a), size=(DRAWS, len(a)))
    second = first if paired else generator.integers(len(b), size=(DRAWS, len(b)))
    moved = [
        one.mean() + _widening(len(one)) * (one[drawn].mean(axis=1) - one.mean())
        for one, drawn in ((a, first), (b, second))
    ]
    means: np.ndarray = moved[1] - moved[0]
    return means


def _widening(count: int) -> float:
    return math.sqrt(count / (count - 1)) if count > 1 else 1.0
