"""Runs needed for a claim, worked out before they are made; and the difference that those at hand
could have shown.

Power of the two-sided t test on logarithms by the noncentral t distribution, for 80 %; the rank
test that decides needs `pi / 3` times the runs where noise is normal (Pitman's efficiency), and
never fewer than `fewest_runs`.
"""

from __future__ import annotations

import math

from homenode.hosts.errors import MeasureError
from homenode.hosts.statistics.ranks import ALPHA, fewest_runs

POWER = 0.8
"""Chance of seeing a difference that is there."""
MOST = 100_000
"""Runs a side at which the search gives up."""
_EFFICIENCY = 3.0 / math.pi


def runs_needed(cv: float, deviation: float, *, paired: bool = False) -> int:
    """Runs of each system to see a deviation [ratio less one] through noise of that coefficient of
    variation. `paired`: `cv` is that of a pair's ratio, and pairs are counted.
    """
    if not (math.isfinite(cv) and 0.0 <= cv <= 1.0):
        raise MeasureError(f"noise of {100 * cv:g} % makes no sense", next_step="name 0 to 100 %")
    if not (math.isfinite(deviation) and deviation > -1.0) or deviation == 0.0:
        raise MeasureError(
            f"a deviation of {100 * deviation:g} % cannot be claimed",
            next_step="name one above -100 %, other than 0",
        )
    least = fewest_runs(paired=paired)
    distance, sd = abs(math.log1p(deviation)), math.sqrt(math.log1p(cv * cv))
    if sd == 0.0 or _power(least, distance / sd, paired=paired) >= POWER:
        return least
    low, high = least, 2 * least
    while _power(high, distance / sd, paired=paired) < POWER:
        if high > MOST:
            raise MeasureError(
                f"a deviation of {100 * deviation:g} % drowns in noise of {100 * cv:g} %: more "
                f"than {MOST:,} runs of each system",
                next_step="quieten the host, lengthen the runs, or claim more",
            )
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle)
            if _power(middle, distance / sd, paired=paired) >= POWER
            else (middle, high)
        )
    return high


def detectable(cv: float, runs: int, *, paired: bool = False) -> float | None:
    """The least gain [ratio less one] that so many runs of each system would show; None where so
    few cannot decide.
    """
    if runs < fewest_runs(paired=paired):
        return None
    sd = math.sqrt(math.log1p(cv * cv))
    low, high = 0.0, 1.0
    while _power(runs, high, paired=paired) < POWER:
        low, high = high, 2.0 * high
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (
            (low, middle) if _power(runs, middle, paired=paired) >= POWER else (middle, high)
        )
    return math.expm1(high * sd)


def _power(runs: int, distance: float, *, paired: bool) -> float:
    """Of the t test, with runs worth a little less since ranks decide; `distance` in standard
    deviations of a run's (or pair's) logarithm.
    """
    from scipy.special import nctdtr, stdtrit

    worth = runs * _EFFICIENCY
    degrees = worth - 1.0 if paired else 2.0 * (worth - 1.0)
    shift = distance * math.sqrt(worth if paired else worth / 2.0)
    edge = float(stdtrit(degrees, 1.0 - ALPHA / 2.0))
    if shift > edge + 30.0:
        # So far out the tail is nothing, and its series need not be summed.
        return 1.0
    return float(1.0 - nctdtr(degrees, shift, edge) + nctdtr(degrees, shift, -edge))
