"""The test that decides: by ranks, which a few slow outliers cannot sway.

Independent runs by Mann and Whitney's test, pairs by Wilcoxon's signed ranks. Neither can ever
reach 5 % with too few runs (3 against 3: at best 10 %), and then nothing is decided.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

ALPHA = 0.05
"""Chance of a wrong call on equal systems, two-sided."""
MOST_WAYS = 20_000
"""That are counted one by one where values tie, for which tables do not hold; beyond it the normal
law is near enough."""


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
    from scipy import stats

    tied = len(set(values)) < len(values)
    if not tied or math.comb(len(values), count) > MOST_WAYS:
        found = stats.mannwhitneyu(values[:count], values[count:], alternative="two-sided")
        return float(found.pvalue)
    ranks = [float(rank) for rank in stats.rankdata(values)]
    sums = [math.fsum(chosen) for chosen in itertools.combinations(ranks, count)]
    return _as_far_out(sums, math.fsum(ranks[:count]), math.fsum(ranks) * count / len(ranks))


def _of_signs(differences: Sequence[float]) -> float:
    """Wilcoxon: of all ways to give the differences signs, how many have a sum of ranks of those
    above zero as far out.
    """
    from scipy import stats

    if 2 ** len(differences) > MOST_WAYS:
        return float(stats.wilcoxon(differences, alternative="two-sided").pvalue)
    ranks = [float(rank) for rank in stats.rankdata([abs(one) for one in differences])]
    sums = [
        math.fsum(rank for rank, sign in zip(ranks, signs, strict=True) if sign)
        for signs in itertools.product((False, True), repeat=len(ranks))
    ]
    above = math.fsum(rank for rank, one in zip(ranks, differences, strict=True) if one > 0.0)
    return _as_far_out(sums, above, math.fsum(ranks) / 2.0)


def _as_far_out(sums: Sequence[float], found: float, middle: float) -> float:
    """Share of the sums at least as far from the middle as the one that was found."""
    away = abs(found - middle) - 1e-9
    return sum(abs(one - middle) >= away for one in sums) / len(sums)
