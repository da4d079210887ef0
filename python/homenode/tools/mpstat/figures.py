"""What mpstat reports of each logical processor, as exact numbers.

A processor's `us sy wa id` relate to the time that it was charged itself, those of the whole
partition (`ALL`) to its capacity, and the entitlement that nobody used is a row of its own (`U`).
Redispatches of software threads are counted by how far the new processor is from the old one
(`S0rd` same thread ... `S5rd` other node), dispatches by how far it is from the thread's home
(`S3hrd` chip, `S4hrd` node, `S5hrd` beyond); both are shown in percent, and as nothing where
there were none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from homenode.tools.configuration import SystemConfiguration
from homenode.tools.figures import (
    FULL,
    Shares,
    charged_ns,
    consumed_pct,
    cores,
    partition_shares,
    percent,
    shares,
    speed_pct,
)
from homenode.tools.intervals import Counters, Sample
from homenode.tools.text_columns import Value

REDISPATCHES = ("S0rd", "S1rd", "S2rd", "S3rd", "S4rd", "S5rd")
HOME_DISPATCHES = ("S3hrd", "S4hrd", "S5hrd")
_WITHIN_DOMAIN_3 = REDISPATCHES[:4]

NOT_MODELLED = (
    "min", "maj", "mpc", "mpcs", "mpcr", "soft", "dec", "bound", "push", "S3pull", "S3grd", "sysc",
    "istol", "bstol",
)  # fmt: skip
"""Columns that are always 0: page faults, calls between processors, kinds of interrupts, binding,
kinds of migrations, system calls, stolen cycles.
"""

Row = dict[str, Value]


class Processor(NamedTuple):
    """A virtual processor (`Proc`) and its logical ones, in percent of a core (`-s`)."""

    vp: int
    consumed_pct: float
    cpus: tuple[tuple[int, float], ...]
    """Number and share of each logical processor."""


def report(configuration: SystemConfiguration, sample: Sample) -> list[Row]:
    """All rows of one interval by heading: each logical processor, `U` where entitlement is left,
    `ALL`.
    """
    speed = speed_pct(sample.partition)
    online = (cpu for cpu in sample.cpus if configuration.has(cpu))
    rows = [_cpu_row(configuration, cpu, sample.elapsed_ns, speed) for cpu in online]
    unused = _unused_row(configuration, sample)
    rows += [unused] if unused else []
    return [*rows, _all_row(configuration, sample, speed)]


def _cpu_row(
    configuration: SystemConfiguration, cpu: Counters, elapsed_ns: int, speed: float
) -> Row:
    charged = charged_ns(cpu)
    return {
        "cpu": str(cpu["cpu"]),
        **_counts([cpu], elapsed_ns),
        "ph": None,
        **_used(configuration, shares(cpu, charged), charged, elapsed_ns),
        "%nsp": speed,
    }


def _all_row(configuration: SystemConfiguration, sample: Sample, speed: float) -> Row:
    """The partition: counts are sums over logical processors, so switches exceed those of the
    processors.
    """
    counted = sample.partition
    usage = partition_shares(configuration, counted, sample.elapsed_ns)
    return {
        "cpu": "ALL",
        **_counts(sample.cpus, sample.elapsed_ns),
        "ph": counted["phint"],
        "int": counted["interrupts"],
        "dev": counted["interrupts"],
        **_used(configuration, usage, counted["busy_ns"], sample.elapsed_ns),
        "%nsp": speed,
    }


def _unused_row(configuration: SystemConfiguration, sample: Sample) -> Row | None:
    """The entitlement nobody used, all of it idle."""
    entitled_ns = configuration.ent * sample.elapsed_ns
    unused_ns = entitled_ns - sample.partition["busy_ns"]
    if not configuration.is_shared or unused_ns <= 0:
        return None
    unused_pct = percent(unused_ns, entitled_ns)
    names = [*_counts([], 0), "ph", "us", "sy", "%nsp"]
    return {
        "cpu": "U",
        **dict.fromkeys(names),
        "wa": 0.0,
        "id": unused_pct,
        "pc": unused_ns / sample.elapsed_ns,
        "%ec": unused_pct,
    }


def _used(configuration: SystemConfiguration, usage: Shares, core_ns: int, elapsed_ns: int) -> Row:
    """Shares of time, cores, percent of the entitlement."""
    return {
        "us": usage.user,
        "sy": usage.sys,
        "wa": usage.wait,
        "id": usage.idle,
        "pc": cores(core_ns, elapsed_ns),
        "%ec": consumed_pct(configuration, core_ns, elapsed_ns),
    }


def _counts(cpus: Iterable[Counters], elapsed_ns: int) -> Row:
    """Counts over the interval, summed over processors; the run queue is its mean length."""
    counted = list(cpus)

    def total(name: str) -> int:
        return sum(cpu[name] for cpu in counted)

    redispatches = {name: total(name.lower()) for name in REDISPATCHES}
    home = {name: total(name.lower()) for name in HOME_DISPATCHES}
    near = sum(redispatches[name] for name in _WITHIN_DOMAIN_3)
    return {
        **dict.fromkeys(NOT_MODELLED, 0),
        "int": total("interrupts"),
        "dev": total("interrupts"),
        "cs": total("cs"),
        "ics": total("ics"),
        "rq": cores(total("runq_ns"), elapsed_ns),
        "mig": total("migrations"),
        "lpa": _share(near, sum(redispatches.values())),
        **{name: _share(count, sum(redispatches.values())) for name, count in redispatches.items()},
        **{name: _share(count, sum(home.values())) for name, count in home.items()},
        "ilcs": total("ilcs"),
        "vlcs": total("vlcs"),
        "lcs": total("ilcs") + total("vlcs"),
    }


def _share(part: int, whole: int) -> float | None:
    return FULL * part / whole if whole else None


def processors(configuration: SystemConfiguration, sample: Sample) -> list[Processor]:
    """`-s`: the share of a core that each virtual processor and its logical processors were
    charged.
    """
    by_vp: dict[int, list[tuple[int, float]]] = {}
    for cpu in sample.cpus:
        if not configuration.has(cpu):
            continue
        share = FULL * cores(charged_ns(cpu), sample.elapsed_ns)
        by_vp.setdefault(cpu["vp"], []).append((cpu["cpu"], share))
    return [
        Processor(vp, sum(share for _, share in cpus), tuple(cpus))
        for vp, cpus in sorted(by_vp.items())
    ]
