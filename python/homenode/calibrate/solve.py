"""Least squares with its singular values: what the data determine is fitted, what they do not stays
where it was.

On the scale of the parameters' own ranges and the observations' own errors, a singular value says
by how many standard errors the data move when the profile moves through its range along that
direction. Directions that move them by less than two are not determined. A parameter counts as
determined if nearly all of it lies in determined directions; of those that do not, the last in the
list is held at its base, its uncertainty goes into the intervals of the others, and the question is
asked anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Array = Any
"""Of numpy, which is imported when it is needed."""
Residuals = Callable[[Array], tuple[Array, Array]]
"""From a point on the scales to the deviations in logarithms, and their standard errors."""
DETERMINED = 2.0
"""Standard errors by which the data must move over the range of a direction."""
_WHOLE = 0.9
_STEP = 0.1
_MOST_STEPS = 8
_LONGEST = 0.7
_DONE = 0.1
"""A step of less than this share of the interval ends the search."""


@dataclass
class Solution:
    """Where the deviations are least, and what is known of it."""

    x: Array
    sd: Array
    """Standard errors on the scales; those of parameters that are held are their ranges' halves."""
    fitted: tuple[int, ...]
    """Places of the parameters that the data determine."""
    alone: tuple[float, ...]
    """By how many standard errors the data move when a parameter alone moves by its range."""
    alike: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Of each that is held though it moves the data, those fitted that move them alike."""
    deviations: Array = None
    """In standard errors, at the solution."""
    quality: float = 1.0
    """Mean square deviation a degree of freedom; where none is to spare, the whole of it, which is
    beyond 1 only if the figures cannot be met, and 1 at least.
    """
    singular: tuple[float, ...] = ()
    """Of all parameters, at the start."""


@dataclass
class _Point:
    """A point with what is known there."""

    x: Array
    deviations: Array
    errors: Array


def solve(residuals: Residuals, start: Sequence[float], widths: Sequence[float]) -> Solution:
    """Fit what can be fitted; `widths` are halves of the plausible ranges, on the scales.

    One parameter after the other joins those before it, so that a later one is not driven to an
    end of its range to make up for an earlier one that is still far off.
    """
    import numpy as np

    x, width = np.array(start, dtype=float), np.array(widths, dtype=float)
    at = _Point(x, *residuals(x))
    every = range(len(x))
    singular = np.linalg.svd(
        _scaled(_slopes(residuals, at, width, every), at.errors, width), compute_uv=False
    )
    for count in range(1, len(x) + 1):
        at = _descend(residuals, at, width, range(count))
    slopes = _slopes(residuals, at, width, every)
    fitted = determined(_scaled(slopes, at.errors, width), tuple(every))
    held = [place for place in every if place not in fitted]
    if any(at.x[place] != start[place] for place in held):
        back = at.x.copy()
        back[held] = np.array(start)[held]
        at = _descend(residuals, _Point(back, *residuals(back)), width, fitted)
        slopes = _slopes(residuals, at, width, every)
        fitted = determined(_scaled(slopes, at.errors, width), fitted)
    told = tuple(float(value) for value in singular)
    return _solution(at, slopes, width, fitted, told)


def _descend(residuals: Residuals, at: _Point, width: Array, candidates: Sequence[int]) -> _Point:
    """Gauss-Newton steps of those candidates that the data determine, until they are small."""
    import numpy as np

    for _ in range(_MOST_STEPS):
        slopes = _slopes(residuals, at, width, candidates)
        fitted = determined(_scaled(slopes, at.errors, width), candidates)
        if not fitted:
            break
        move = _move(slopes, at, fitted)
        move = np.clip(move, -_LONGEST * width, _LONGEST * width)
        there = _search(residuals, at, move)
        if there is None:
            break
        sd, _ = _spread(slopes, at.errors, width, fitted)
        at = there
        if np.all(np.abs(move[list(fitted)]) <= _DONE * sd[list(fitted)]):
            break
    return at


def _slopes(residuals: Residuals, at: _Point, width: Array, columns: Sequence[int]) -> Array:
    """Forward differences, a column a parameter; those that are not asked for are 0."""
    import numpy as np

    found = np.zeros((len(at.deviations), len(at.x)))
    for place in columns:
        aside = at.x.copy()
        aside[place] += min(_STEP, width[place])
        change = residuals(aside)[0] - at.deviations
        found[:, place] = change / (aside[place] - at.x[place])
    return found


def _scaled(slopes: Array, errors: Array, width: Array) -> Array:
    return slopes / errors[:, None] * width[None, :]


def determined(scaled: Array, candidates: Sequence[int]) -> tuple[int, ...]:
    """The places of parameters that the data determine, of those that may be fitted."""
    import numpy as np

    kept = list(candidates)
    while kept:
        _, sizes, rows = np.linalg.svd(scaled[:, kept], full_matrices=False)
        inside = np.zeros(len(kept))
        for size, row in zip(sizes, rows, strict=True):
            if size >= DETERMINED:
                inside += row**2
        weak = [place for place, share in zip(kept, inside, strict=True) if share < _WHOLE]
        if not weak:
            break
        kept.remove(max(weak))
    return tuple(kept)


def _move(slopes: Array, at: _Point, fitted: Sequence[int]) -> Array:
    import numpy as np

    move = np.zeros(len(at.x))
    weighted = slopes[:, list(fitted)] / at.errors[:, None]
    move[list(fitted)] = -np.linalg.lstsq(weighted, at.deviations / at.errors, rcond=None)[0]
    return move


def _search(residuals: Residuals, at: _Point, move: Array) -> _Point | None:
    """After the whole step, or a half or a quarter of it where that is too far; None if none is
    better.
    """
    before = _size(at)
    for share in (1.0, 0.5, 0.25):
        there = at.x + share * move
        after = _Point(there, *residuals(there))
        if _size(after) < before:
            return after
    return None


def _size(at: _Point) -> float:
    return float(((at.deviations / at.errors) ** 2).sum())


def _spread(
    slopes: Array, errors: Array, width: Array, fitted: Sequence[int]
) -> tuple[Array, Array]:
    """Standard errors of the fitted from the data alone and from what is held, on the scales."""
    import numpy as np

    sd = width / 2
    kept = list(fitted)
    held = [place for place in range(len(width)) if place not in fitted]
    weighted = slopes / errors[:, None]
    inverse = np.linalg.pinv(weighted[:, kept])
    own = inverse @ inverse.T
    carried = inverse @ weighted[:, held] * (width[held] / 2)[None, :]
    sd[kept] = np.sqrt(np.diag(own))
    return sd, np.sqrt((carried**2).sum(axis=1)) if held else np.zeros(len(kept))


def _solution(
    at: _Point,
    slopes: Array,
    width: Array,
    fitted: tuple[int, ...],
    singular: tuple[float, ...],
) -> Solution:
    import numpy as np

    x, deviations, errors = at.x, at.deviations, at.errors
    scaled = _scaled(slopes, errors, width)
    alone = np.sqrt((scaled**2).sum(axis=0))
    free = len(deviations) - len(fitted)
    chi = float(((deviations / errors) ** 2).sum())
    quality = chi / free if free > 0 else max(1.0, chi)
    sd = width / 2
    alike = {}
    if fitted:
        own, carried = _spread(slopes, errors, width, fitted)
        sd = own
        sd[list(fitted)] = np.hypot(own[list(fitted)] * max(1.0, quality) ** 0.5, carried)
        alike = {
            place: _alike(scaled, place, fitted)
            for place in range(len(x))
            if place not in fitted and alone[place] >= DETERMINED
        }
    told = tuple(float(one) for one in alone)
    return Solution(x, sd, fitted, told, alike, deviations / errors, quality, singular)


def _alike(scaled: Array, place: int, fitted: Sequence[int]) -> tuple[int, ...]:
    """Those fitted that can imitate a held one, the likest first."""
    import numpy as np

    own = scaled[:, place]
    shares = {}
    for other in fitted:
        size = float(np.linalg.norm(own) * np.linalg.norm(scaled[:, other]))
        shares[other] = abs(float(own @ scaled[:, other])) / size if size else 0.0
    return tuple(sorted((one for one in fitted if shares[one] > 0.5), key=lambda o: -shares[o]))
