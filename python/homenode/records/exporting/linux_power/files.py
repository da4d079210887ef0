"""All files of the tree: those that stand still and those that change."""

from __future__ import annotations

from homenode.records.exporting.linux_power import devices, proc
from homenode.records.exporting.linux_power.lparcfg import lparcfg
from homenode.records.exporting.linux_power.state import Partition, State
from homenode.records.exporting.root_tree import line

STATISTICS = "proc/powerpc/vcpudispatch_stats"


def still(partition: Partition) -> dict[str, bytes]:
    """What a run never changes."""
    c = partition.configuration
    return {
        "proc/cpuinfo": proc.processors(partition),
        "proc/meminfo": proc.memory(partition),
        "proc/sys/kernel/hostname": line(c.node_name or c.name),
        **dict(devices.device_tree(partition)),
        **dict(devices.sys_files(partition)),
    }


def moving(partition: Partition, state: State) -> dict[str, bytes]:
    """Files that readers open anew each time."""
    return {
        "proc/ppc64/lparcfg": lparcfg(partition, state),
        "proc/stat": proc.times(partition, state),
        "proc/interrupts": proc.interrupts(partition, state),
        "proc/uptime": proc.uptime(state),
    }


def held(partition: Partition, state: State) -> dict[str, bytes]:
    """Files that readers keep open: their length never changes."""
    return dict(devices.cpu_counters(partition, state))


def statistics(partition: Partition, state: State) -> bytes:
    """What the kernel shows of dispatches."""
    return proc.dispatch_statistics(state, partition)
