"""Roots of as many equations as unknowns, where an evaluation is a simulation: differences once,
then Broyden's updates, which need one evaluation each (C. G. Broyden, A class of methods for
solving nonlinear simultaneous equations, 1965).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    """Of numpy, which is imported when it is needed."""
_MOST_STEPS = 16
_LONGEST_STEP = 0.7
"""Of an unknown; twice as much or half, where the unknowns are logarithms."""
_FLAT = 1e-3
"""Slope below which a row does not answer its own unknown."""


def newton(
    residuals: Callable[[Sequence[float]], list[float]],
    start: Sequence[float],
    bounds: Sequence[tuple[float, float]],
    *,
    step: float,
    precise: float,
    own: Sequence[int],
) -> list[float]:
    """Where all residuals vanish, or the nearest that was found within the bounds.

    `own` is the place of each unknown's own residual. One that does not answer its unknown, such as
    one at a bound, leaves that unknown where it is.
    """
    import numpy as np

    low, high = (np.array(side) for side in zip(*bounds, strict=True))

    def at(where: Array) -> Array:
        found = residuals([float(value) for value in where])
        return np.array([found[place] for place in own])

    x = np.array(start, dtype=float)
    f = at(x)
    slopes = np.empty((len(x), len(x)))
    for place in range(len(x)):
        aside = x.copy()
        aside[place] += step if x[place] + step <= high[place] else -step
        slopes[:, place] = (at(aside) - f) / (aside[place] - x[place])
    best, best_f = x, f
    for _ in range(_MOST_STEPS):
        free, move = _step(slopes, f, x, low, high)
        if not free.any() or np.max(np.abs(f[free])) < precise or not move.any():
            break
        moved = np.clip(x + move, low, high)
        move = moved - x
        after = at(moved)
        slopes += np.outer(after - f - slopes @ move, move) / (move @ move)
        x, f = moved, after
        if _size(f) < _size(best_f):
            best, best_f = x, f
        elif _size(f) > 2.0 * _size(best_f):
            x, f = best, best_f
    return [float(value) for value in best]


def _size(f: Array) -> float:
    return float(f @ f)


def _step(slopes: Array, f: Array, x: Array, low: Array, high: Array) -> tuple[Flags, Array]:
    """Which unknowns move, and how far: towards the root, none farther than `_LONGEST_STEP`, none
    that nothing answers, and none out of its bounds, for which the others make up.
    """
    import numpy as np

    free = np.abs(np.diag(slopes)) > _FLAT
    while True:
        move = np.zeros(len(f))
        if not free.any():
            return free, move
        move[free] = np.linalg.lstsq(slopes[np.ix_(free, free)], -f[free], rcond=None)[0]
        stuck = free & (((x <= low) & (move < 0)) | ((x >= high) & (move > 0)))
        if not stuck.any():
            return free, np.clip(move, -_LONGEST_STEP, _LONGEST_STEP)
        free &= ~stuck
