"""How far the peer's clock is apart from ours, found by round trips as NTP does (RFC 5905, §8).

Of one exchange nothing is known but that the answer was written between its sending and its return:
half of what the way took is how far the offset can be off, so the quickest exchange tells most.
Both clocks are the kernel's monotonic ones, which run apart by some parts in a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Exchange:
    """One question and its answer; the middle two by the peer's clock [s]."""

    sent: float
    received: float
    answered: float
    back: float

    @property
    def way_s(self) -> float:
        """Both ways together, without the time the peer took."""
        return max(0.0, (self.back - self.sent) - (self.answered - self.received))

    @property
    def offset_s(self) -> float:
        """The peer's clock less ours, if both ways took equally long."""
        return ((self.received - self.sent) + (self.answered - self.back)) / 2


@dataclass(frozen=True)
class Reading:
    """The offset at one moment of ours."""

    at: float
    offset_s: float
    uncertainty_s: float
    """It is off by no more than this, however unequal the ways."""


def reading(exchanges: Sequence[Exchange]) -> Reading:
    """What the quickest of several exchanges says; of one at least."""
    best = min(exchanges, key=lambda exchange: exchange.way_s)
    return Reading((best.sent + best.back) / 2, best.offset_s, best.way_s / 2)


@dataclass(frozen=True)
class Clocks:
    """The offset before and after a repetition."""

    before: Reading
    after: Reading

    @property
    def drift_ppm(self) -> float:
        """By which the peer's clock runs faster than ours [parts in a million]."""
        return 1e6 * (self.after.offset_s - self.before.offset_s) / self._apart_s

    @property
    def drift_uncertainty_ppm(self) -> float:
        """How far that can be off, by the uncertainty of both readings."""
        return 1e6 * (self.after.uncertainty_s + self.before.uncertainty_s) / self._apart_s

    @property
    def uncertainty_s(self) -> float:
        """The worse of the two."""
        return max(self.before.uncertainty_s, self.after.uncertainty_s)

    def ours(self, peers_s: float) -> float:
        """A moment of the peer's clock by ours: the offset drifts evenly between the readings."""
        rate = (self.after.offset_s - self.before.offset_s) / self._apart_s
        about = peers_s - self.before.offset_s
        return peers_s - self.before.offset_s - rate * (about - self.before.at)

    @property
    def _apart_s(self) -> float:
        return max(self.after.at - self.before.at, 1e-9)
