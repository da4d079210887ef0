"""The sections of nmon on Linux that hold processor time: `CPUnnn` and `CPU_ALL`, in percent of the
time of the logical processors, as the kernel's ticks have it, and on shared processors of Power
`LPAR`, which is made of `/proc/ppc64/lparcfg`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from homenode.records.exporting.lparcfg import LPARCFG_VERSION, lparcfg_lines, on_power
from homenode.records.exporting.nmon.recording import Recording, Section
from homenode.records.exporting.ticks import tick_shares
from homenode.simulate.kept.totals import NS_PER_S
from homenode.tools import Sample
from homenode.tools.figures import cores, percent
from homenode.tools.linux.switches import linux_switches

_STATES = ("user", "sys", "wait", "idle")
_FILE = "/proc/ppc64/lparcfg"
_HUNDREDTHS = 100
_WHOLE = (
    "capped",
    "shared_processor_mode",
    "system_potential_processors",
    "system_active_processors",
    "pool_capacity",
)
_CAPACITIES = ("MinEntCap", "partition_entitled_capacity", "partition_max_entitled_capacity")
_REST = (
    "partition_active_processors",
    "partition_potential_processors",
    "capacity_weight",
    "unallocated_capacity_weight",
    "BoundThrds",
    "MinMem",
    "unallocated_capacity",
)
_LPAR = (
    ",".join(
        ("PhysicalCPU", *_WHOLE, *_CAPACITIES, "MinProcs", "Logical CPU", *_REST, "pool_idle_time")
    )
    + ",smt_mode"
)
_NOT_KNOWN = ",".join(["-1.0"] * 3)
"""What nmon prints of a counter that the kernel does not have."""


def sections(recording: Recording) -> list[Section]:
    """All sections, in the order in which their rows stand in a snapshot."""
    host, lcpu = recording.host, recording.told.lcpu
    states = "User%,Sys%,Wait%,Idle%"
    shared = on_power(recording.run) and recording.told.is_shared
    return [
        *(
            Section(f"CPU{n + 1:03d}", f"CPU {n + 1} {host},{states}", partial(_cpu, n))
            for n in range(lcpu)
        ),
        Section("CPU_ALL", f"CPU Total {host},{states},Busy,CPUs", partial(_cpu_all, lcpu)),
        Section(
            "PROC",
            f"Processes {host},Runnable,Blocked,pswitch,syscall,read,write,fork,exec,sem,msg",
            _proc,
        ),
        *([Section("LPAR", f"Shared CPU LPAR Stats {host},{_LPAR}", _lpar(recording))] * shared),
    ]


def configuration_file(recording: Recording) -> Iterator[str]:
    """`BBBP`: the configuration of a partition of Power, as the first sample had it."""
    if not on_power(recording.run):
        return
    told = lparcfg_lines(recording.run, recording.partition, recording.samples[0])
    yield f"BBBP,000,{_FILE}"
    lines = [f"lparcfg {LPARCFG_VERSION}", *(f"{name}={value}" for name, value in told.items())]
    for number, line in enumerate(lines, start=1):
        yield f'BBBP,{number:03d},{_FILE},"{line}"'


def _lpar(recording: Recording) -> Callable[[Sample], str]:
    """Rows of `LPAR`: what changes is the first column and the idle time of the pool."""

    def row(sample: Sample) -> str:
        told = lparcfg_lines(recording.run, recording.partition, sample)
        physc = cores(sample.partition["busy_ns"], sample.elapsed_ns)
        idle = cores(sample.pool.get("idle_ns", 0), sample.elapsed_ns)
        figures = [f"{physc:9.6f}", *(told[name] for name in _WHOLE)]
        figures += [f"{int(told[name]) / _HUNDREDTHS:.2f}" for name in _CAPACITIES]
        figures += [told["MinProcs"], str(recording.told.lcpu), *(told[name] for name in _REST)]
        return ",".join([*figures, f"{idle:.2f}", str(recording.told.smt)])

    return row


def _cpu(number: int, sample: Sample) -> str:
    usage = tick_shares(sample.cpus[number], sample.elapsed_ns)
    return ",".join(f"{value:.1f}" for value in usage)


def _cpu_all(lcpu: int, sample: Sample) -> str:
    whole = lcpu * sample.elapsed_ns
    figures = (percent(sample.partition[f"ticks_{state}"], whole) for state in _STATES)
    return f"{','.join(f'{value:.1f}' for value in figures)},,{lcpu}"


def _proc(sample: Sample) -> str:
    counted, elapsed_ns = sample.partition, sample.elapsed_ns
    runnable = cores(counted["runq_ns"], elapsed_ns)
    blocked = cores(counted["blocked_ns"], elapsed_ns)
    switches = linux_switches(counted) * NS_PER_S / elapsed_ns
    return f"{runnable:.0f},{blocked:.0f},{switches:.1f},{_NOT_KNOWN},0.0,{_NOT_KNOWN}"
