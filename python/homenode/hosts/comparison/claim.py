"""A claim held against what was measured: "30 % faster"."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from homenode.hosts.errors import MeasureError
from homenode.hosts.statistics.samples import exponential

MOST_PCT = 1e9
"""Of a claim; nothing is ten million times as fast."""
ClaimVerdict = Literal["holds", "does not hold", "undecided"]


@dataclass(frozen=True)
class Claim:
    """That one system is at least so many per cent faster."""

    pct: float
    mean: float
    """Ratio that was measured."""
    low: float | None
    """Lower end of its 95 % interval, the noise floor included."""
    high: float | None

    @property
    def verdict(self) -> ClaimVerdict:
        """By the interval: all of it at or above the claim, all of it below, or neither."""
        least = 1.0 + self.pct / 100.0
        if self.low is None or self.high is None:
            return "undecided"
        if self.low >= least:
            return "holds"
        return "does not hold" if self.high < least else "undecided"

    def as_json(self) -> dict[str, object]:
        """Its part of `--json`."""
        return {
            "claim_pct": self.pct,
            "ratio": self.mean,
            "low": self.low,
            "high": self.high,
            "verdict": self.verdict,
        }


def refuse_senseless_claim(pct: float | None) -> None:
    """Raise for a claim that every system keeps: to do less than nothing."""
    if pct is not None and not -100.0 < pct < MOST_PCT:
        raise MeasureError(
            f"a claim of {pct:g} % cannot be held against anything",
            next_step="claim more than -100 %, as 30",
        )


def claim_of(
    pct: float, mean: float, low: float | None, high: float | None, floor: float | None
) -> Claim:
    """Widen the interval to what a system deviates from itself, where that is more."""
    if low is not None and high is not None and floor is not None:
        wide = math.log1p(floor)
        low = min(low, exponential(math.log(mean) - wide))
        high = max(high, exponential(math.log(mean) + wide))
    return Claim(pct, mean, low, high)
