"""The test that decides: by ranks, which a few slow outliers cannot sway.

Independent runs by Mann and Whitney's test, pairs by Wilcoxon's signed ranks. Neither can ever
reach 5 % with too few runs (3 against 3: at best 10 %), and then nothing is decided. The ways are
counted here because scipy's exact tests take no account of ties, which runs timed in whole ticks
have.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

ALPHA = 0.05
"""Chance of a wrong call on equal systems, two-sided."""
MOST_RUNS = 80
"""Of which all ways are counted, ties included; beyond it the normal law is near enough."""


def fewest_runs(*, paired: bool) -> int:
    """Runs a side below which the test cannot decide whatever it is given.

    The smallest two-sided chance is `2 / C(2n, n)` of independent runs and `2 / 2^n` of pairs.
    """
    count = 1
    while _smallest(count, paired=paired) > ALPHA:
        count += 1
    return count


def _smallest(count: int, *, paired: bool) -> float:
    return 2.0 / (2**count if paired else math.comb(2 * count, count))


def can_decide(first: int, second: int, *, paired: bool) -> bool:
    """Whether so many runs could reach `ALPHA` at all."""
    orders = 2 ** min(first, second) if paired else math.comb(first + second, first)
    return 2.0 / orders <= ALPHA


def holm(ps: Sequence[float]) -> list[bool]:
    """Which of so many tests stand together at `ALPHA`: step-down by Holm (1979), so that the
    chance of any false one among all is no larger.
    """
    found, order = [False] * len(ps), sorted(range(len(ps)), key=lambda i: ps[i])
    for rank, index in enumerate(order):
        if not ps[index] * (len(ps) - rank) < ALPHA:
            break
        found[index] = True
    return found


def rank_p(first: Sequence[float], second: Sequence[float], *, paired: bool) -> float | None:
    """Two-sided chance of such a difference between equal systems; None where so few runs cannot
    decide. Of pairs, `first` and `second` are as long and each index is a pair; their ratios are
    ranked.
    """
    if not can_decide(len(first), len(second), paired=paired):
        return None
    if not paired:
        return _of_sums([*first, *second], len(first))
    moved = [math.log(b / a) for a, b in zip(first, second, strict=True) if a != b]
    if not can_decide(len(moved), len(moved), paired=True):
        # What is left after pairs that are alike to the last digit says no more than they do.
        return 1.0
    return _of_signs(moved)


def _of_sums(values: Sequence[float], count: int) -> float:
    """Mann and Whitney: of all ways to choose so many of the values, how many have a sum of ranks
    as far out as the first ones have.
    """
    import numpy as np

    ranks = _double_ranks(values)
    found, total = sum(ranks[:count]), sum(ranks)
    middle = total * count / len(ranks)
    if len(ranks) > MOST_RUNS:
        mean = total / len(ranks)
        spread = math.fsum((rank - mean) ** 2 for rank in ranks) / (len(ranks) - 1)
        return _normal(found - middle, spread * count * (len(ranks) - count) / len(ranks))
    # How many ways lead to each sum, by how many have been chosen.
    ways = np.zeros((count + 1, total + 1))
    ways[0, 0] = 1.0
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : total + 1 - rank].copy()
    return _as_far_out(ways[count], found, middle)


def _of_signs(differences: Sequence[float]) -> float:
    """Wilcoxon: of all ways to give the differences signs, how many have a sum of ranks of those
    above zero as far out.
    """
    import numpy as np

    ranks = _double_ranks([abs(one) for one in differences])
    found, total = sum(r for r, d in zip(ranks, differences, strict=True) if d > 0.0), sum(ranks)
    if len(ranks) > MOST_RUNS:
        return _normal(found - total / 2.0, math.fsum(rank * rank for rank in ranks) / 4.0)
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in ranks:
        ways[rank:] += ways[: total + 1 - rank].copy()
    return _as_far_out(ways, found, total / 2.0)


def _double_ranks(values: Sequence[float]) -> list[int]:
    """Twice the rank of each; those that tie share the mean of their ranks, which is then whole."""
    order = sorted(values)
    return [bisect_left(order, value) + bisect_right(order, value) + 1 for value in values]


def _as_far_out(ways: np.ndarray, found: float, middle: float) -> float:
    """Share of the ways whose sum is at least as far from the middle as the one that was found."""
    import numpy as np

    away = np.abs(np.arange(len(ways)) - middle) >= abs(found - middle) - 1e-9
    return float(ways[away].sum() / ways.sum())


def _normal(distance: float, variance: float) -> float:
    """Two-sided, less half a step of ranks that count double."""
    if variance == 0.0:
        return 1.0
    return math.erfc(max(abs(distance) - 1.0, 0.0) / math.sqrt(2.0 * variance))
