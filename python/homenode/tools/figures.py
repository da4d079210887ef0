"""Figures that several tools print, as exact numbers: shares of capacity, cores consumed, speed.

Percentages of a shared partition are relative to the larger of what it consumed and what it is
entitled to, so that `%idle` holds the unused entitlement; those of a dedicated partition are
relative to its cores.
"""

from __future__ import annotations

from typing import NamedTuple

from homenode.tools.configuration import SystemConfiguration
from homenode.tools.intervals import Counters

FULL = 100.0


class Shares(NamedTuple):
    """Where a capacity went [percent]; the four add up to 100."""

    user: float
    sys: float
    wait: float
    idle: float


def percent(part: float, whole: float, otherwise: float = 0.0) -> float:
    """Part of a whole in percent; of nothing, `otherwise`."""
    return FULL * part / whole if whole > 0 else otherwise


def shares(counters: Counters, whole_ns: float) -> Shares:
    """Shares of `whole_ns` of core time; what is neither user, sys nor wait is idle."""
    user, sys, wait = (
        percent(counters[f"{state}_ns"], whole_ns) for state in ("user", "sys", "wait")
    )
    return Shares(user, sys, wait, max(0.0, FULL - user - sys - wait))


def capacity_ns(configuration: SystemConfiguration, counters: Counters, elapsed_ns: int) -> float:
    """The core time to which a partition's percentages relate [ns]."""
    entitled_ns = configuration.ent * elapsed_ns
    if configuration.is_shared:
        return max(counters["busy_ns"], entitled_ns)
    return entitled_ns


def partition_shares(
    configuration: SystemConfiguration, counters: Counters, elapsed_ns: int
) -> Shares:
    """`%user`, `%sys`, `%wait`, `%idle` of a partition."""
    return shares(counters, capacity_ns(configuration, counters, elapsed_ns))


def cores(core_ns: int, elapsed_ns: int) -> float:
    """Mean number of cores that a core time is over an interval."""
    return core_ns / elapsed_ns if elapsed_ns > 0 else 0.0


def consumed_pct(configuration: SystemConfiguration, core_ns: int, elapsed_ns: int) -> float:
    """Core time in percent of the entitlement (`%entc`, `%ec`)."""
    return percent(core_ns, configuration.ent * elapsed_ns)


def charged_ns(counters: Counters, scaled: bool = False) -> int:
    """PURR (or SPURR, if `scaled`) of all states [ns]."""
    prefix = "s" if scaled else ""
    return sum(counters[f"{prefix}{state}_ns"] for state in ("user", "sys", "wait", "idle"))


def speed_pct(counters: Counters) -> float:
    """`%nsp`: mean clock in percent of the nominal one, SPURR / PURR."""
    return percent(charged_ns(counters, scaled=True), charged_ns(counters), otherwise=FULL)


def turbo_pct(counters: Counters) -> float:
    """`%utcyc`: cycles above the nominal clock that PURR does not show, in percent of all."""
    return max(0.0, FULL - percent(FULL, speed_pct(counters), otherwise=FULL))
