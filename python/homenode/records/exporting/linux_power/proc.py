"""/proc of Linux in a partition, but for lparcfg and the device tree.

Linux counts time by ticks of its clock, a hundred a second, of each logical processor; the same
ticks make `lbusy` of lparstat. What other systems wait for, steal, interrupts by source and
everything of memory but its size are not modelled: 0, or left out.
"""

from __future__ import annotations

from homenode.records.exporting.linux_power.state import TIMEBASE_HZ, Counters, Partition, State
from homenode.tools.linux.switches import linux_switches

_TICK_NS = 10_000_000
_STATES = ("user", "sys", "wait", "idle")
_ALTIVEC_FROM = 6


def processors(partition: Partition) -> bytes:
    """/proc/cpuinfo."""
    clock = f"{partition.configuration.clock_hz / 1e6:.6f}MHz"
    blocks = [
        f"processor\t: {cpu}\ncpu\t\t: {cpu_name(partition)}\nclock\t\t: {clock}\n\n"
        for cpu in partition.online
    ]
    tail = f"timebase\t: {TIMEBASE_HZ}\nplatform\t: pSeries\n"
    if partition.model:
        tail += f"model\t\t: IBM,{partition.model}\nmachine\t\t: CHRP IBM,{partition.model}\n"
    return ("".join(blocks) + tail).encode()


def generation(partition: Partition) -> str:
    """Name of the processor, such as POWER7."""
    return str(partition.machine["generation"]).upper().replace("+", "")


def cpu_name(partition: Partition) -> str:
    """As the kernel calls a processor that it knows by its architecture."""
    name = generation(partition)
    digits = "".join(filter(str.isdigit, name))
    if digits and int(digits) >= _ALTIVEC_FROM:
        return f"{name} (architected), altivec supported"
    return name


def times(partition: Partition, state: State) -> bytes:
    """/proc/stat. The first line is that of the partition, the others split the time of each
    logical processor like the capacity it was charged.
    """
    lines = [_row("cpu ", {name: state.counted[f"ticks_{name}"] for name in _STATES})]
    lines += [
        _row(f"cpu{cpu}", _of_cpu(state.cpus[cpu], state.elapsed_ns)) for cpu in partition.online
    ]
    lines.append(f"intr {state.counted['interrupts']}\n")
    lines.append(f"ctxt {linux_switches(state.counted):.0f}\n")
    return "".join(lines).encode()


def _of_cpu(cpu: Counters, elapsed_ns: int) -> dict[str, int]:
    busy = cpu.get("ticks_busy_ns", 0)
    charged = cpu.get("user_ns", 0) + cpu.get("sys_ns", 0)
    system = busy * cpu.get("sys_ns", 0) // charged if charged else 0
    return {"user": busy - system, "sys": system, "wait": 0, "idle": max(0, elapsed_ns - busy)}


def _row(name: str, spent_ns: dict[str, int]) -> str:
    """Columns user nice system idle iowait irq softirq steal guest guest_nice."""
    user, system, wait, idle = (round(spent_ns[state] / _TICK_NS) for state in _STATES)
    return f"{name} {user} 0 {system} {idle} {wait} 0 0 0 0 0\n"


def interrupts(partition: Partition, state: State) -> bytes:
    """/proc/interrupts: interrupts meant for other partitions (`SPU`, phantom interrupts). They are
    counted for the whole partition; all stand under its first processor.
    """
    heading = "           " + "".join(f"CPU{cpu:<8}" for cpu in partition.online)
    counts = [state.counted["phint"], *([0] * (len(partition.online) - 1))]
    row = "SPU: " + "".join(f"{count:10} " for count in counts) + "  Spurious interrupts"
    return f"{heading}\n{row}\n".encode()


def uptime(state: State) -> bytes:
    """/proc/uptime: seconds since the measured time began, idle seconds of all processors."""
    return f"{state.elapsed_ns / 1e9:.2f} {state.counted['ticks_idle'] / 1e9:.2f}\n".encode()


def memory(partition: Partition) -> bytes:
    """/proc/meminfo."""
    return f"MemTotal:       {partition.configuration.mem_mb << 10:8} kB\n".encode()


def dispatch_statistics(state: State, partition: Partition) -> bytes:
    """/proc/powerpc/vcpudispatch_stats: a line a virtual processor, under its first thread; `off`
    where the run kept no single dispatches.
    """
    if state.dispersion is None:
        return b"off\n"
    lines = []
    for vp, counted in sorted(state.dispersion.items()):
        d = counted.minus(state.dispersion_before[vp]) if state.dispersion_before else counted
        lines.append(
            f"cpu{vp * partition.threads_per_core} {d.total} {d.same_core} {d.same_chip}"
            f" {d.same_node} {d.other_node} {d.home} {d.near} {d.far}\n"
        )
    return "".join(lines).encode()
