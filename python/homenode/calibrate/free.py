"""The free parameters of a profile, each on a scale on which a step means the same everywhere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from homenode.catalog import ProfileDescription

_LEAST_SHARE = 1e-4


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
        """On its scale."""
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

    def width(self, base: ProfileDescription) -> float:
        """Half of what is plausible before anything was recorded, on the scale: as far as the
        base's range says.
        """
        told = getattr(base, self.name).range
        if told is None:
            return self.spread
        low, high = (self.to_scale(float(end)) for end in told)
        return max((high - low) / 2, 0.05)


FREE = (
    Free("instructions", "instructions per unit", "log", math.log(10)),
    Free("miss_m0", "stall share, by the misses of an instruction", "log", math.log(3)),
    Free("sharing", "sharing", "logit", 1.5),
    Free("footprint", "footprint", "log", math.log(8)),
)
"""In the order in which they are kept where two look alike: what most recordings tell first."""
NAMES = tuple(one.name for one in FREE)
