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
_TAKES_PART = 0.25
"""Share of an effect from which on another parameter counts among those that imitate it."""
_STEP = 0.1
_MOST_STEPS = 8
_LONGEST = 0.7
_MOST_HALVINGS = 7
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
    left: dict[int, float] = field(default_factory=dict)
    """Of the same, by how many standard errors it moves the data as those cannot."""
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


def solve(
    residuals: Residuals,
    start: Sequence[float],
    widths: Sequence[float],
    reaches: Sequence[float] | None = None,
    begin: Sequence[float] | None = None,
) -> Solution:
    """Fit what can be fitted; `widths` are halves of the plausible ranges, on the scales, `reaches`
    how far they go from the start to their longer side (as far as to the other, if not given).
    The search begins at `begin`, if given; what is held stays at `start`.

    One parameter after the other joins those before it, so that a later one is not driven to an
    end of its range to make up for an earlier one that is still far off.
    """
    import numpy as np

    x = np.array(start if begin is None else begin, dtype=float)
    width = np.array(widths, dtype=float)
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
    reach = width if reaches is None else np.array(reaches, dtype=float)
    return _solution(at, slopes, (width, reach), fitted, told)


def _descend(residuals: Residuals, at: _Point, width: Array, candidates: Sequence[int]) -> _Point:
    """Gauss-Newton steps of those candidates that the data determine, until they are small."""
    import numpy as np

    for _ in range(_MOST_STEPS):
        slopes = _slopes(residuals, at, width, candidates, look_back=True)
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


def _slopes(
    residuals: Residuals,
    at: _Point,
    width: Array,
    columns: Sequence[int],
    *,
    look_back: bool = False,
) -> Array:
    """Forward differences, a column a parameter; those that are not asked for are 0.

    A parameter that moves nothing ahead may be beyond where it ends to matter, as a footprint that
    fills the caches: the search looks back over half its range then, so that it finds its way.
    """
    import numpy as np

    found = np.zeros((len(at.deviations), len(at.x)))
    for place in columns:
        found[:, place] = _slope(residuals, at, place, min(_STEP, width[place]))
        flat = np.linalg.norm(found[:, place] / at.errors) * width[place] < DETERMINED
        if look_back and flat:
            found[:, place] = _slope(residuals, at, place, -width[place])
    return found


def _slope(residuals: Residuals, at: _Point, place: int, step: float) -> Array:
    aside = at.x.copy()
    aside[place] += step
    return (residuals(aside)[0] - at.deviations) / (aside[place] - at.x[place])


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
    """After the whole step, or half of it again and again where that is too far, as beyond the load
    that a played partition can carry; None if none is better.
    """
    before = _size(at)
    for halvings in range(_MOST_HALVINGS):
        share = 0.5**halvings
        there = at.x + share * move
        after = _Point(there, *residuals(there))
        if _size(after) < before:
            return after
    return None


def _size(at: _Point) -> float:
    return float(((at.deviations / at.errors) ** 2).sum())


def _spread(
    slopes: Array, errors: Array, reach: Array, fitted: Sequence[int]
) -> tuple[Array, Array]:
    """Standard errors of the fitted from the data alone and from what is held, on the scales."""
    import numpy as np

    sd = reach / 2
    kept = list(fitted)
    held = [place for place in range(len(reach)) if place not in fitted]
    weighted = slopes / errors[:, None]
    inverse = np.linalg.pinv(weighted[:, kept])
    own = inverse @ inverse.T
    carried = inverse @ weighted[:, held] * (reach[held] / 2)[None, :]
    sd[kept] = np.sqrt(np.diag(own))
    return sd, np.sqrt((carried**2).sum(axis=1)) if held else np.zeros(len(kept))


def _solution(
    at: _Point,
    slopes: Array,
    extents: tuple[Array, Array],
    fitted: tuple[int, ...],
    singular: tuple[float, ...],
) -> Solution:
    import numpy as np

    width, reach = extents
    x, deviations, errors = at.x, at.deviations, at.errors
    scaled = _scaled(slopes, errors, width)
    alone = np.sqrt((scaled**2).sum(axis=0))
    free = len(deviations) - len(fitted)
    chi = float(((deviations / errors) ** 2).sum())
    quality = chi / free if free > 0 else max(1.0, chi)
    sd = reach / 2
    alike, left = {}, {}
    if fitted:
        own, carried = _spread(slopes, errors, reach, fitted)
        sd = own
        sd[list(fitted)] = np.hypot(own[list(fitted)] * max(1.0, quality) ** 0.5, carried)
        found = {
            place: _alike(scaled, place, fitted)
            for place in range(len(x))
            if place not in fitted and alone[place] >= DETERMINED
        }
        alike = {place: others for place, (others, _) in found.items()}
        left = {place: size for place, (_, size) in found.items()}
    told = tuple(float(one) for one in alone)
    return Solution(x, sd, fitted, told, alike, left, deviations / errors, quality, singular)


def _alike(scaled: Array, place: int, fitted: Sequence[int]) -> tuple[tuple[int, ...], float]:
    """Those fitted that together imitate a held one, who does most of it first; and how many
    standard errors it moves the data in a way that they cannot.
    """
    import numpy as np

    own, others = scaled[:, place], scaled[:, list(fitted)]
    parts = np.linalg.lstsq(others, own, rcond=None)[0]
    left = float(np.linalg.norm(own - others @ parts))
    sizes = np.abs(parts) * np.linalg.norm(others, axis=0)
    least = _TAKES_PART * float(np.linalg.norm(own))
    chosen = [(size, one) for size, one in zip(sizes, fitted, strict=True) if size >= least]
    return tuple(one for _, one in sorted(chosen, key=lambda pair: -pair[0])), left
