"""Warm-up of a run, found in its own series: MSER-5.

MSER-5 (White 1997) takes means of five, and leaves out as many of the first as make the squared
standard error of the rest least. A least at the border of what may be left out means that the run
never settled: it is too short.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from homenode.model.estimate import mean_of

BATCH = 5
LEAST_BATCHES = 8
"""Fewer say nothing about a warm-up (assumed)."""


@dataclass(frozen=True)
class WarmUp:
    """What a series says about its beginning."""

    left_out: int
    """Values to leave out."""
    settled: bool
    """Whether the rest is steady; if not, the run is too short."""
    mean: float
    """Of the rest."""


def warm_up(series: Sequence[float]) -> WarmUp | None:
    """By MSER-5; None where the series is too short to tell (less than 40 values)."""
    batches = [
        math.fsum(series[i : i + BATCH]) / BATCH for i in range(0, len(series) - BATCH + 1, BATCH)
    ]
    if len(batches) < LEAST_BATCHES:
        return None
    most = len(batches) // 2
    found = [_squared_error(batches[cut:]) for cut in range(most + 1)]
    cut = min(range(most + 1), key=lambda i: (found[i], i))
    rest = batches[cut:]
    return WarmUp(cut * BATCH, cut < most, mean_of(rest))


def _squared_error(values: Sequence[float]) -> float:
    """`sum (x - mean)^2 / n^2`, what MSER makes least."""
    mean = mean_of(values)
    return math.fsum((value - mean) ** 2 for value in values) / len(values) ** 2


def slope_of_rest(series: Sequence[float]) -> float:
    """Change of the last third from its beginning to its end, by its mean [ratio]; least squares.

    For programs that compile themselves while they run: not yet near 0, they still do.
    """
    last = series[len(series) - len(series) // 3 :]
    count = len(last)
    if count < 3:
        return 0.0
    mean, middle = math.fsum(last) / count, (count - 1) / 2.0
    above = math.fsum((i - middle) * value for i, value in enumerate(last))
    below = math.fsum((i - middle) ** 2 for i in range(count))
    return 0.0 if mean == 0.0 else above / below * (count - 1) / mean
