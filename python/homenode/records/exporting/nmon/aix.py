"""The sections of nmon on AIX that hold processor time.

`PCPU` and `SCPU` are cores by PURR and SPURR, `CPU` percentages of what a logical processor was
charged. Of a shared partition the percentages of `CPU_ALL` and `EC_` refer to its entitlement, or
to what it consumed if that is more, `VP_` to its virtual processors; `EC_Idle%` holds idle time on
a core only, `Idle%` of `CPU_ALL` the unused entitlement as well. A dedicated partition has neither
`LPAR` nor `POOLS`.
"""

from __future__ import annotations

from functools import partial

from homenode.records.exporting.nmon.recording import Recording, Section
from homenode.tools import Sample, SystemConfiguration
from homenode.tools.figures import (
    FULL,
    capacity_ns,
    charged_ns,
    cores,
    partition_shares,
    percent,
    shares,
    speed_pct,
)
from homenode.tools.lparstat import utilisation
from homenode.tools.vmstat import figures as vmstat_figures

_STATES = ("user", "sys", "wait", "idle")
_LPAR = (
    "PhysicalCPU,virtualCPUs,logicalCPUs,poolCPUs,entitled,weight,PoolIdle,usedAllCPU%,"
    "usedPoolCPU%,SharedCPU,Capped,EC_User%,EC_Sys%,EC_Wait%,EC_Idle%,VP_User%,VP_Sys%,VP_Wait%,"
    "VP_Idle%,Folded,Pool_id"
)
_POOLS = (
    "shcpus_in_sys,max_pool_capacity,entitled_pool_capacity,pool_max_time,pool_busy_time,"
    "shcpu_tot_time,shcpu_busy_time,Pool_id,entitled"
)
_PROC = (
    "Runnable,Swap-in,pswitch,syscall,read,write,fork,exec,sem,msg,asleep_bufio,asleep_rawio,"
    "asleep_diocio"
)
_NO_AUTHORITY = ",".join(["0.00"] * 4)
"""Times of the pool, for a partition that may not see them."""
_NO_CALLS = ",".join(["0"] * 10)
"""Of PROC, what follows the switches: not modelled."""


def sections(recording: Recording) -> list[Section]:
    """All sections, in the order in which their rows stand in a snapshot."""
    told, host = recording.told, recording.host
    numbers = range(told.cpu_rows)
    found = [
        Section(f"CPU{n + 1:02d}", f"CPU {n + 1} {host},User%,Sys%,Wait%,Idle%", partial(_cpu, n))
        for n in numbers
    ]
    for letter, row in (("P", _pcpu), ("S", _scpu)):
        found += [
            Section(
                f"{letter}CPU{n + 1:02d}",
                f"{letter}CPU {n + 1} {host},User ,Sys ,Wait ,Idle ",
                partial(row, n),
            )
            for n in numbers
        ]
    ends = "User%,Sys%,Wait%,Idle%,Busy,PhysicalCPUs "
    states = "User  ,Sys  ,Wait  ,Idle  "
    found += [
        Section("CPU_ALL", f"CPU Total {host},{ends}", partial(_cpu_all, told)),
        Section(
            "PCPU_ALL",
            f"PCPU Total {host},{states}, Entitled Capacity ",
            lambda sample: f"{_all('', sample)},{sample.during(told).ent:.2f}",
        ),
        Section("SCPU_ALL", f"SCPU Total {host},{states} ", partial(_all, "s")),
    ]
    if told.is_shared:
        found += [
            Section("LPAR", f"Logical Partition {host},{_LPAR}", partial(_lpar, told)),
            Section("POOLS", f"Multiple CPU Pools {host},{_POOLS}", partial(_pools, told)),
        ]
    return [*found, Section("PROC", f"Processes {host},{_PROC}", partial(_proc, told))]


def _cpu(number: int, sample: Sample) -> str:
    counted = sample.cpus[number]
    return ",".join(f"{value:.1f}" for value in shares(counted, charged_ns(counted)))


def _pcpu(number: int, sample: Sample, speed: float = 1.0) -> str:
    counted = sample.cpus[number]
    return ",".join(
        f"{speed * cores(counted[f'{state}_ns'], sample.elapsed_ns):.2f}" for state in _STATES
    )


def _scpu(number: int, sample: Sample) -> str:
    """SPURR is PURR at the clock that the partition had."""
    return _pcpu(number, sample, speed_pct(sample.partition) / FULL)


def _cpu_all(told: SystemConfiguration, sample: Sample) -> str:
    """The time that was neither user nor system is divided as waiting and idle time on cores."""
    told = sample.during(told)
    usage = partition_shares(told, sample.partition, sample.elapsed_ns)
    rest = max(FULL - usage.user - usage.sys, 0.0)
    away = sample.partition["wait_ns"] + sample.partition["idle_ns"]
    wait = rest * sample.partition["wait_ns"] / away if away else 0.0
    figures = (usage.user, usage.sys, wait, rest - wait)
    return f"{','.join(f'{value:.1f}' for value in figures)},,{told.lcpu}"


def _all(prefix: str, sample: Sample) -> str:
    """Cores by state; nmon prints those that wait with one digit."""
    user, sys, wait, idle = (
        cores(sample.partition[f"{prefix}{state}_ns"], sample.elapsed_ns) for state in _STATES
    )
    return f"{user:.2f},{sys:.2f},{wait:.1f},{idle:.2f}"


def _lpar(told: SystemConfiguration, sample: Sample) -> str:
    told = sample.during(told)
    figures = utilisation(told, sample)
    counted = sample.partition
    weight = told.weight if told.mode == "Uncapped" else 0
    head = [
        f"{figures.physc:.3f}",
        f"{told.vps},{told.lcpu},{told.psize}",
        f"{told.ent:.2f},{weight}",
        f"{figures.app if told.pool_authority else 0.0:.2f}",
        f"{percent(figures.physc, told.shared_cores):.2f}",
        f"{percent(figures.physc, told.psize):.2f}",
        f"1,{int(told.mode != 'Uncapped')}",
    ]
    for whole_ns in (
        capacity_ns(told, counted, sample.elapsed_ns),
        float(told.vps * sample.elapsed_ns),
    ):
        head += [f"{percent(counted[f'{state}_ns'], whole_ns):.2f}" for state in _STATES]
    return ",".join([*head, str(told.vps - counted["vps_unfolded"]), str(told.pool)])


def _pools(told: SystemConfiguration, sample: Sample) -> str:
    told = sample.during(told)
    return (
        f"{told.shared_cores},{told.pool_maximum:.2f},{told.pool_entitled:.2f},{_NO_AUTHORITY},"
        f"{told.pool},{told.ent:.2f}"
    )


def _proc(told: SystemConfiguration, sample: Sample) -> str:
    figures = vmstat_figures(told, sample)
    return f"{figures['r']:.2f},0.00,{figures['cs']:.0f},{_NO_CALLS}"
