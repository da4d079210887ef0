"""What lparstat reports of a partition, as exact numbers."""

from __future__ import annotations

from typing import NamedTuple

from homenode.tools.configuration import SystemConfiguration
from homenode.tools.figures import (
    FULL,
    consumed_pct,
    cores,
    partition_shares,
    percent,
    speed_pct,
    turbo_pct,
)
from homenode.tools.intervals import Counters, Sample

_TICKS = ("ticks_user", "ticks_sys", "ticks_wait", "ticks_idle")
_HZ_PER_GHZ = 1e9


class Utilisation(NamedTuple):
    """One report; the fields stand for the columns that `NAMES` gives."""

    user: float
    sys: float
    wait: float
    idle: float
    physc: float
    entc: float
    lbusy: float
    app: float
    vcsw: int
    phint: int
    hypv: float
    hcalls: int
    nsp: float
    utcyc: float
    idon: float
    bdon: float
    istol: float
    bstol: float


NAMES = {
    "user": "%user", "sys": "%sys", "wait": "%wait", "idle": "%idle", "physc": "physc",
    "entc": "%entc", "lbusy": "lbusy", "app": "app", "vcsw": "vcsw", "phint": "phint",
    "hypv": "%hypv", "hcalls": "hcalls", "nsp": "%nsp", "utcyc": "%utcyc", "idon": "%idon",
    "bdon": "%bdon", "istol": "%istol", "bstol": "%bstol",
}  # fmt: skip
"""Field of `Utilisation` to lparstat's heading."""


def utilisation(configuration: SystemConfiguration, sample: Sample) -> Utilisation:
    """The figures of one interval.

    Switches, phantom interrupts and hypervisor calls are counts over the interval; `%hypv` is what
    the calls of `-H` have of the total time. Busy donated
    and stolen cycles do not occur in the model: only idle cycles are given away.
    """
    counted, elapsed_ns = sample.partition, sample.elapsed_ns
    shares = partition_shares(configuration, counted, elapsed_ns)
    calls = calls_made(counted).values()
    return Utilisation(
        *shares,
        physc=cores(counted["busy_ns"], elapsed_ns),
        entc=consumed_pct(configuration, counted["busy_ns"], elapsed_ns),
        lbusy=percent(
            counted["ticks_user"] + counted["ticks_sys"], sum(counted[ticks] for ticks in _TICKS)
        ),
        app=cores(sample.pool.get("idle_ns", 0), elapsed_ns),
        vcsw=counted["vcsw"],
        phint=counted["phint"],
        hypv=percent(sum(one.time_ns for one in calls), whole_ns(configuration, sample)),
        hcalls=sum(one.calls for one in calls),
        nsp=speed_pct(counted),
        utcyc=turbo_pct(counted),
        idon=consumed_pct(configuration, counted["donated_ns"], elapsed_ns),
        bdon=0.0,
        istol=0.0,
        bstol=0.0,
    )


class Called(NamedTuple):
    """What an interval saw of one hypervisor call; times in ns."""

    calls: int
    time_ns: int
    longest_ns: int
    """0 where each takes as long as any other."""


def calls_made(counted: Counters) -> dict[str, Called]:
    """The hypervisor calls that the model knows: the one account of `-h` and `-H`. The time of a
    cede is the time away.
    """
    return {
        name: Called(counted[f"{name}_calls"], counted[f"{name}_ns"], longest)
        for name, longest in (("cede", counted["cede_max_ns"]), ("confer", 0), ("prod", 0))
    }


def whole_ns(configuration: SystemConfiguration, sample: Sample) -> int:
    """Time of all logical processors, to which shares of total time relate."""
    return configuration.lcpu * sample.elapsed_ns


class Normalised(NamedTuple):
    """`-E`: cores by state from PURR and from SPURR; the states add up to at least the
    entitlement.
    """

    user: float
    sys: float
    wait: float
    idle: float
    frequency_ghz: float
    frequency_pct: float
    nuser: float
    nsys: float
    nwait: float
    nidle: float


def normalised(configuration: SystemConfiguration, sample: Sample) -> Normalised:
    """Cores by state; unused entitlement is idle in both halves."""
    counted, elapsed_ns = sample.partition, sample.elapsed_ns
    idle_cores = 0.0
    if configuration.is_shared:
        idle_cores = max(0.0, configuration.ent - cores(counted["busy_ns"], elapsed_ns))
    speed = speed_pct(counted)

    def by_state(state: str) -> float:
        return cores(counted[f"{state}_ns"], elapsed_ns)

    return Normalised(
        user=by_state("user"),
        sys=by_state("sys"),
        wait=by_state("wait"),
        idle=by_state("idle") + idle_cores,
        frequency_ghz=configuration.clock_hz / _HZ_PER_GHZ * speed / FULL,
        frequency_pct=speed,
        nuser=by_state("suser"),
        nsys=by_state("ssys"),
        nwait=by_state("swait"),
        nidle=by_state("sidle") + idle_cores,
    )
