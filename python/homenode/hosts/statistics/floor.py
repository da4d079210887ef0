"""The noise floor: what a system deviates from itself.

One system's runs are compared with each other as two systems' runs would be, in every way there is:
of independent runs, all splits into two halves (even against odd, first half against second, ...);
of runs in turn, neighbours as pairs with either one first. The floor is what 95 % of these
comparisons stay below. A half has half the runs, and so its mean `sqrt(2)` times the spread: the
floor is brought back to that of a comparison with as many runs as were made.

Few runs show too little of their own spread: what is found is widened by Student's t over its limit
for many, as an interval of so many runs is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from homenode.hosts.statistics.samples import exponential, logs
from homenode.model.estimate import mean_of, student_t

QUANTILE = 0.95
MOST_RUNS = 12
"""Above it there are too many ways: every run is then dealt in turn to `MOST_RUNS` groups that stay
together."""
_NORMAL = 1.959964
"""Student's t of many runs [97.5 %]."""
LEAST_RUNS = 4
"""Two against two: three splits."""


def noise_floor(values: Sequence[float], *, paired: bool = False) -> float | None:
    """What equal systems deviate by [ratio less one]; None of fewer than four runs. `values` in the
    order in which they were measured.
    """
    if len(values) < LEAST_RUNS:
        return None
    found = logs(values)
    distances = sorted(_of_pairs(found) if paired else _of_halves(_grouped(found)))
    index = math.ceil(QUANTILE * len(distances)) - 1
    # Differences of neighbours are taken about 0: each of them is a degree of freedom.
    degrees = min(len(values) // 2 if paired else len(values) - 1, MOST_RUNS - 1)
    widened = distances[index] * student_t(degrees) / _NORMAL
    return exponential(widened / math.sqrt(2.0)) - 1.0


def _grouped(values: Sequence[float]) -> list[float]:
    if len(values) <= MOST_RUNS:
        return list(values)
    groups = [values[i::MOST_RUNS] for i in range(MOST_RUNS)]
    return [mean_of(group) for group in groups]


def _of_halves(values: Sequence[float]) -> Iterator[float]:
    """Between the means of two halves; of an odd count the last is left out."""
    count = len(values) - len(values) % 2
    half, total = count // 2, math.fsum(values[:count])
    # The first run is always in the first half: a split and its mirror are one.
    for others in itertools.combinations(range(1, count), half - 1):
        first = values[0] + math.fsum(values[i] for i in others)
        yield abs(2.0 * first - total) / half


def _of_pairs(values: Sequence[float]) -> Iterator[float]:
    """Means of the differences of neighbours, with either sign."""
    differences = [b - a for a, b in zip(values[::2], values[1::2], strict=False)]
    differences = _grouped(differences)
    for signs in itertools.product((1.0, -1.0), repeat=len(differences) - 1):
        # The first keeps its sign: all signs the other way round are the same distance.
        rest = zip(signs, differences[1:], strict=True)
        total = differences[0] + math.fsum(sign * one for sign, one in rest)
        yield abs(total) / len(differences)
