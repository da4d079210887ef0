"""The time of a logical processor as the clock ticks of its operating system have it."""

from __future__ import annotations

from homenode.tools.figures import FULL, Shares, percent
from homenode.tools.intervals import Counters


def tick_shares(cpu: Counters, elapsed_ns: int) -> Shares:
    """Shares of an interval. Ticks are user or system time in the ratio of the work's own time; the
    rest is idle.
    """
    busy = min(percent(cpu["ticks_busy_ns"], elapsed_ns), FULL)
    user = busy * percent(cpu["user_ns"], cpu["user_ns"] + cpu["sys_ns"]) / FULL
    return Shares(user, busy - user, 0.0, FULL - busy)
