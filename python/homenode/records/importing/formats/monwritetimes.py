"""What z/VM's processors did between two records of a MONWRITE file.

That these records are laid out as they are read is checked: what a processor worked and waited must
add up to the time between them. Times are 8 bytes each, of which IBM's description does not say for
all that they count up: that of emulation (not read) starts high and counts down. Time never goes
back, so the sign of a difference tells which way the system time counts; the sum is checked either
way. A processor that is parked, or that PR/SM takes away, for a part of an interval may not add up
either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from homenode.records.importing.shared.words import counted

TICKS_PER_US = 4096
SUM = 0.05
"""How far sums may be from each other, as a share of them."""
_EPOCH = datetime(1900, 1, 1, tzinfo=UTC)

Ticks = tuple[int, int, int, int]
"""When, worked for users, worked for nobody, waited [4096ths of a microsecond]."""


@dataclass(frozen=True)
class Span:
    """Time between the records of two intervals of which all processors are known."""

    first: int
    """Number of the interval whose records begin it."""
    last: int
    """Number of that whose records end it."""
    end: int
    """When it ended, since 1900 [4096ths of a microsecond]."""
    ticks: int
    """How long it was [the same]."""
    charged: float
    """Time that processors worked for users, of all [the same]."""
    worked: float
    """Time that they worked [the same]."""


@dataclass
class Lost:
    """Intervals without a span: a sum that lacks a processor would tell too little use."""

    changed: int = 0
    """Intervals at whose two ends not the same processors have records."""
    unsure: int = 0
    """Intervals with processors whose times do not add up."""
    odd: int = 0
    """Records of such processors."""

    @property
    def intervals(self) -> int:
        """How many there are."""
        return self.changed + self.unsure

    def told(self) -> Iterator[str]:
        """What is said of them."""
        if self.unsure:
            yield (
                f"times of {counted(self.odd, 'processor record')} do not add up: "
                f"{counted(self.unsure, 'interval')} left out"
            )
        if self.changed:
            yield (
                "processors came, went or lack a record: "
                f"{counted(self.changed, 'interval')} left out"
            )


def spans_of(processors: Iterable[Mapping[str, Any]]) -> tuple[list[Span], Lost]:
    """A span for each interval of which all processors are known; what of others was wrong."""
    spans, lost = [], Lost()
    begin, before = 0, dict[int, Ticks]()
    for number, now in _intervals(processors):
        (first, then), (begin, before) = (begin, before), (number, now)
        if not then:
            continue
        if then.keys() != now.keys():
            lost.changed += 1
            continue
        end = max(one[0] for one in now.values())
        ticks = end - max(one[0] for one in then.values())
        shares = [_shares(then[one], now[one], ticks) for one in now]
        odd = sum(share is None for share in shares)
        if odd or all(then[one][1:] == now[one][1:] for one in now):
            lost.odd += odd or len(shares)
            lost.unsure += 1
            continue
        charged, idle = (sum(share[at] for share in shares if share) * ticks for at in (0, 1))
        spans.append(Span(first, number, end, ticks, charged, charged + idle))
    return spans, lost


def moment(ticks: int) -> datetime:
    """A time of day, in UTC without its zone."""
    return (_EPOCH + timedelta(microseconds=ticks // TICKS_PER_US)).replace(tzinfo=None)


def seconds(ticks: float) -> float:
    """A time in seconds."""
    return ticks / TICKS_PER_US / 1e6


def _intervals(
    processors: Iterable[Mapping[str, Any]],
) -> Iterator[tuple[int, dict[int, Ticks]]]:
    """Records of processors, by their addresses, interval by interval with its number."""
    number, found = 0, dict[int, Ticks]()
    for one in processors:
        if one["interval"] != number and found:
            yield number, found
            found = {}
        number = one["interval"]
        found[one["address"]] = (one["time_of_day"], one["user"], one["system"], one["wait"])
    if found:
        yield number, found


def _shares(then: Ticks, now: Ticks, span: int) -> tuple[float, float] | None:
    """Parts of an interval for which a processor worked, for users and for nobody; none if its
    times don't add up to it. One whose times all stand still, as a parked one's may, did not work.
    """
    elapsed, user, system, wait = (after - before for before, after in zip(then, now, strict=True))
    system = abs(system)
    if span <= 0 or abs(elapsed - span) > SUM * span or min(user, wait) < 0:
        return None
    if user + system + wait == 0:
        return 0.0, 0.0
    adds_up = abs(user + system + wait - elapsed) <= SUM * elapsed
    return (user / elapsed, system / elapsed) if adds_up else None
