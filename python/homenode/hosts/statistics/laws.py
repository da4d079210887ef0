"""Laws of scaling fitted to a set of sizes: the universal scalability law, and the square-root law
of capability tables.

    USL          X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))      (Gunther 2007)
    square root  c(N) = 1 / (1 + k sqrt(N - 1)),  X(N) = X(1) N c(N)

The USL is for measured throughput over load or processors. Tables of capability factors are no USL
curves: they lose early and then flatten, which the square-root law follows. Both are fitted by
least squares of relative residuals: in `N / X` the USL is linear, so that bounds at 0 need no
search and the fit has no starting point to depend on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homenode.hosts.errors import MeasureError

if TYPE_CHECKING:
    import numpy as np

FEWEST = 4
"""Sizes that a fit of three parameters takes at least."""
ENOUGH = 6
"""Sizes from which its parameters mean something."""
_ZERO = 1e-9
_MOST_LOG = 100.0
"""Of an interval's half-width; more is no interval."""
_PARAMETERS = 3


@dataclass(frozen=True)
class Interval:
    """A parameter with its 95 % interval."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def above_zero(self) -> bool:
        """Whether its interval leaves 0 out."""
        return self.low is not None and self.low > _ZERO

    def as_json(self) -> dict[str, float | None]:
        """Its part of a command's `--json`."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Usl:
    """A fitted universal scalability law."""

    gamma: Interval
    """What one alone does [units of the curve]."""
    alpha: Interval
    """Contention: what is done one after the other [1]."""
    beta: Interval
    """Coherence: what each exchanges with each [1]. 0 where its interval includes 0: then it was
    left out and the others fitted without it."""
    residuals: tuple[float, ...]
    """Fit by measured, less one, size by size."""
    sizes: int

    @property
    def saturated(self) -> bool:
        """Whether there are hardly more sizes than parameters, so that any curve would fit."""
        return self.sizes < ENOUGH

    @property
    def peak(self) -> float | None:
        """Where throughput is largest [N]; None where nothing surely bends it down."""
        if self.saturated or not self.beta.above_zero:
            return None
        return math.sqrt(max(0.0, 1.0 - self.alpha.value) / self.beta.value)

    @property
    def ceiling(self) -> float | None:
        """What it could never exceed [units of the curve]; None where nothing bounds it, or that is
        not sure.
        """
        if self.saturated or not self.alpha.above_zero:
            return None
        return self.gamma.value / self.alpha.value

    def at(self, count: float) -> float:
        """Throughput of so many."""
        loss = self.alpha.value * (count - 1.0) + self.beta.value * count * (count - 1.0)
        return self.gamma.value * count / (1.0 + loss)

    def as_json(self) -> dict[str, object]:
        """Its part of a command's `--json`."""
        return {
            "gamma": self.gamma.as_json(),
            "alpha": self.alpha.as_json(),
            "beta": self.beta.as_json(),
            "peak": self.peak,
            "ceiling": self.ceiling,
            "saturated": self.saturated,
            "residuals": list(self.residuals),
        }


@dataclass(frozen=True)
class SqrtLaw:
    """A fitted square-root law."""

    single: float
    """What one alone does."""
    k: float
    """Loss [1]."""
    residuals: tuple[float, ...]
    """Fit by measured, less one."""

    def at(self, count: float) -> float:
        """Throughput of so many."""
        return self.single * count / (1.0 + self.k * math.sqrt(count - 1.0))

    def as_json(self) -> dict[str, object]:
        """Its part of a command's `--json`."""
        return {"single": self.single, "k": self.k, "residuals": list(self.residuals)}


def fit_usl(counts: Sequence[float], throughputs: Sequence[float]) -> Usl:
    """Fit to one throughput a size (the geometric mean of its runs).

    Intervals are Student's, of the fit of all three parameters: that coherence is left out, where
    its interval includes 0, is a choice by the same data and makes none of the others surer. With
    fewer than six sizes there are none.
    """
    import numpy as np

    _check(counts, throughputs, FEWEST)
    n, x = np.asarray(counts, dtype=float), np.asarray(throughputs, dtype=float)
    best = _solve(n, x, (0, 1, 2))
    ends = _ends(n, x) if len(n) >= ENOUGH else None
    if ends is not None and ends[2][0] <= _ZERO:
        best = _solve(n, x, (0, 1))
    gamma, alpha, beta = (
        _interval(best[i], None if ends is None else ends[i]) for i in range(_PARAMETERS)
    )
    fitted = _curve(n, best)
    return Usl(gamma, alpha, beta, tuple(float(r) for r in fitted / x - 1.0), len(n))


def fit_sqrt_law(counts: Sequence[float], throughputs: Sequence[float]) -> SqrtLaw:
    """Fit to one throughput a size; two parameters, so three sizes at least."""
    import numpy as np
    from scipy.optimize import nnls

    _check(counts, throughputs, 3)
    n, x = np.asarray(counts, dtype=float), np.asarray(throughputs, dtype=float)
    columns = np.stack([np.ones_like(n), np.sqrt(n - 1.0)], axis=1) * (x / n)[:, None]
    (one, root), _ = nnls(columns, np.ones_like(n))
    if one <= 0.0:
        raise MeasureError("a capability that does not grow with its sizes follows no law")
    law = SqrtLaw(float(1.0 / one), float(root / one), ())
    residuals = tuple(law.at(a) / b - 1.0 for a, b in zip(counts, throughputs, strict=True))
    return SqrtLaw(law.single, law.k, residuals)


def _solve(n: np.ndarray, x: np.ndarray, free: Sequence[int]) -> np.ndarray:
    """`gamma, alpha, beta` by relative residuals of `N / X`, bounded at 0; those not free are 0."""
    import numpy as np
    from scipy.optimize import nnls

    columns = np.stack([np.ones_like(n), n - 1.0, n * (n - 1.0)], axis=1)[:, list(free)]
    # Columns of like size, lest the solver take the small one for nothing.
    scale = columns.max(axis=0)
    solved, _ = nnls(columns / scale * (x / n)[:, None], np.ones_like(n))
    inverse = np.zeros(_PARAMETERS)
    inverse[list(free)] = solved / scale
    if inverse[0] <= 0.0:
        raise MeasureError(
            "throughput grows faster than the number of processors: the law has no such curve",
            next_step="look whether the smallest size was held back by something else",
        )
    parameters: np.ndarray = np.array([1.0, inverse[1], inverse[2]]) / inverse[0]
    return parameters


def _curve(n: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    gamma, alpha, beta = parameters
    curve: np.ndarray = gamma * n / (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0))
    return curve


def _ends(n: np.ndarray, x: np.ndarray) -> list[tuple[float, float]] | None:
    """95 % intervals of `gamma, alpha, beta` by the fit of all three without bounds, which is
    linear in `1, alpha, beta` by gamma: Student's t with the degrees of freedom that are left, and
    first-order errors of the quotients. None where that fit has no curve.
    """
    import numpy as np
    from scipy.special import stdtrit

    columns = np.stack([np.ones_like(n), n - 1.0, n * (n - 1.0)], axis=1)
    scale = columns.max(axis=0)
    rows = columns / scale * (x / n)[:, None]
    solved = np.linalg.lstsq(rows, np.ones_like(n), rcond=None)[0]
    left = len(n) - _PARAMETERS
    variance = float(np.sum((rows @ solved - 1.0) ** 2)) / left
    covariance = variance * np.linalg.inv(rows.T @ rows) / np.outer(scale, scale)
    one, *losses = solved / scale
    if one <= 0.0:
        return None
    edge = float(stdtrit(left, 0.975))
    wide = min(edge * math.sqrt(covariance[0, 0]) / one, _MOST_LOG)
    found = [(math.exp(-wide) / one, math.exp(wide) / one)]
    for index, value in enumerate(losses, start=1):
        slope = np.zeros(_PARAMETERS)
        slope[index], slope[0] = 1.0 / one, -value / one**2
        half = edge * math.sqrt(max(0.0, float(slope @ covariance @ slope)))
        found.append((float(value / one - half), float(value / one + half)))
    return found


def _interval(value: float, ends: tuple[float, float] | None) -> Interval:
    """Cut at 0, below which no parameter lies, and never without the value itself, which may be of
    the fit with coherence left out.
    """
    if ends is None:
        return Interval(float(value))
    low, high = (max(0.0, end) for end in ends)
    return Interval(float(value), float(min(low, value)), float(max(high, value)))


def _check(counts: Sequence[float], throughputs: Sequence[float], fewest: int) -> None:
    if len(counts) != len(throughputs) or len(set(counts)) != len(counts):
        raise MeasureError("a law is fitted to one throughput for each size")
    if len(counts) < fewest:
        raise MeasureError(
            f"{len(counts)} sizes cannot hold the law: it takes {fewest}",
            next_step="measure further sizes with --processors",
        )
    if any(one < 1 for one in counts) or any(not one > 0 for one in throughputs):
        raise MeasureError("a law is fitted to sizes from 1 upward with throughputs above 0")
