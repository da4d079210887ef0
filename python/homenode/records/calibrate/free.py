"""The free parameters of a profile, each on a scale on which a step means the same everywhere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from homenode.model.catalog import ProfileDescription

_LEAST_SHARE = 1e-4
_LEAST_WIDTH = 0.05


@dataclass(frozen=True)
class Free:
    """A number of a profile that a recording may determine."""

    name: str
    """As in a profile file."""
    words: str
    scale: Literal["log", "logit"]
    spread: float
    """How far it may be off on that scale, to either side, where its file gives no range."""

    def to_scale(self, value: float) -> float:
        """A value on the parameter's scale, as logarithm or logit."""
        if self.scale == "log":
            return math.log(max(value, 1e-12))
        share = min(max(value, _LEAST_SHARE), 1.0 - _LEAST_SHARE)
        return math.log(share / (1.0 - share))

    def from_scale(self, x: float) -> float:
        """In its own unit."""
        if self.scale == "log":
            return math.exp(x)
        return 1.0 / (1.0 + math.exp(-x))

    def start(self, base: ProfileDescription) -> float:
        """The base's value on the scale."""
        return self.to_scale(float(getattr(base, self.name).value))

    def ends(self, base: ProfileDescription) -> tuple[float, float]:
        """What is plausible before anything was recorded, on the scale: the range of the base's
        file, which need not reach as far to both sides.
        """
        told = getattr(base, self.name).range
        at = self.start(base)
        if told is None:
            return at - self.spread, at + self.spread
        low, high = (self.to_scale(float(end)) for end in told)
        return min(low, at), max(high, at)

    def range(self, base: ProfileDescription) -> tuple[float, float]:
        """The same in its own unit, as the file has it."""
        told = getattr(base, self.name).range
        if told is None:
            low, high = self.ends(base)
            return self.from_scale(low), self.from_scale(high)
        value = float(getattr(base, self.name).value)
        return min(float(told[0]), value), max(float(told[1]), value)

    def width(self, base: ProfileDescription) -> float:
        """Half of what is plausible, on the scale."""
        low, high = self.ends(base)
        return max((high - low) / 2, _LEAST_WIDTH)

    def reach(self, base: ProfileDescription) -> float:
        """How far it may be from the base's value, to the side on which that is farther."""
        low, high = self.ends(base)
        at = self.start(base)
        return max(high - at, at - low, _LEAST_WIDTH)


FREE = (
    Free("instructions", "instructions per unit", "log", math.log(10)),
    Free("miss_m0", "stall share, by the misses of an instruction", "log", math.log(3)),
    Free("sharing", "sharing", "logit", 1.5),
    Free("footprint", "footprint", "log", math.log(8)),
)
"""In the order in which they are kept where two look alike: what most recordings tell first."""
NAMES = tuple(one.name for one in FREE)
