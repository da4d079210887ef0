"""/proc/device-tree and /sys of Linux in a partition.

Linux on PowerVM does not see the machine but what the hypervisor shows: a core for each virtual
processor, packages and NUMA nodes by home chip. Numbers in the device tree are big-endian words of
32 bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import pack

from homenode.records.exporting.linux_power.lparcfg import purr_ns
from homenode.records.exporting.linux_power.proc import generation
from homenode.records.exporting.linux_power.state import (
    TIMEBASE_HZ,
    Counters,
    Partition,
    State,
    ticks,
)
from homenode.records.exporting.root_tree import cpu_list, cpu_mask, line, siblings
from homenode.tools import Srad

_SYS_CPU = "sys/devices/system/cpu"
_SYS_NODE = "sys/devices/system/node"
_KERNEL_MAX = 2047
_SAME, _SAME_DRAWER, _OTHER_DRAWER = 10, 20, 40
"""Distances between NUMA nodes as Linux on Power prints them."""
_NO_SERVERS = "ibm,ppc-interrupt-server#s"
COUNTERS = ("purr", "spurr", "idle_purr", "idle_spurr")
"""Files of a logical processor that change."""

Entry = tuple[str, bytes]


def device_tree(partition: Partition) -> Iterator[Entry]:
    """The properties that lparstat, ppc64_cpu, lscpu and hwloc read."""
    root, c = "proc/device-tree", partition.configuration
    yield f"{root}/ibm,partition-name", _text(c.name)
    yield f"{root}/ibm,partition-no", pack(">I", c.number)
    yield f"{root}/hmc-managed?", _text("true")
    yield f"{root}/device_type", _text("chrp")
    if partition.model:
        yield f"{root}/model", _text(f"IBM,{partition.model}")
    name, threads = f"PowerPC,{generation(partition)}", partition.threads_per_core
    for core in range(c.vps):
        first = core * threads
        node = f"{root}/cpus/{name}@{first:x}"
        yield f"{node}/name", _text(name)
        yield f"{node}/device_type", _text("cpu")
        yield f"{node}/status", _text("okay")
        yield f"{node}/reg", pack(">I", first)
        yield f"{node}/{_NO_SERVERS}", pack(f">{threads}I", *range(first, first + threads))
        yield f"{node}/timebase-frequency", pack(">I", TIMEBASE_HZ)
        yield f"{node}/ibm,extended-clock-frequency", pack(">Q", round(c.clock_hz))


def _text(value: str) -> bytes:
    return value.encode() + b"\0"


def sys_files(partition: Partition) -> Iterator[Entry]:
    """/sys/devices/system, without the counters of processors."""
    possible, online = partition.possible, partition.online
    yield f"{_SYS_CPU}/possible", line(cpu_list(possible))
    yield f"{_SYS_CPU}/present", line(cpu_list(possible))
    yield f"{_SYS_CPU}/online", line(cpu_list(online))
    yield f"{_SYS_CPU}/offline", line(cpu_list(set(possible) - set(online)))
    yield f"{_SYS_CPU}/kernel_max", line(_KERNEL_MAX)
    nodes = _numa_nodes(partition)
    used = set(online)
    for cpu in possible:
        yield f"{_SYS_CPU}/cpu{cpu}/online", line(int(cpu in used))
    for node in nodes:
        for cpu in node.cpus:
            yield from _topology(partition, cpu, node)
            yield from _caches(partition, cpu)
    yield from _nodes(nodes, len(possible))


def _numa_nodes(partition: Partition) -> list[Srad]:
    """The affinity domains, with the numbers Linux has for processors; those without a home are in
    the first.
    """
    srads = partition.configuration.srads or (
        Srad(0, 0, float(partition.configuration.mem_mb), ()),
    )
    housed = [tuple(partition.number(cpu) for cpu in srad.cpus) for srad in srads]
    homeless = set(partition.online).difference(*housed)
    housed[0] = tuple(sorted({*housed[0], *homeless}))
    return [
        Srad(srad.ref1, srad.srad, srad.mem_mb, cpus)
        for srad, cpus in zip(srads, housed, strict=True)
    ]


def _topology(partition: Partition, cpu: int, node: Srad) -> Iterator[Entry]:
    folder, count = f"{_SYS_CPU}/cpu{cpu}/topology", len(partition.possible)
    yield f"{folder}/core_id", line(partition.core_of(cpu) * partition.threads_per_core)
    yield f"{folder}/physical_package_id", line(node.srad)
    sets = {
        "thread_siblings": partition.threads_of(partition.core_of(cpu)),
        "core_siblings": list(node.cpus),
    }
    for name, members in sets.items():
        for file, content in siblings(name, members, count).items():
            yield f"{folder}/{file}", content


def _caches(partition: Partition, cpu: int) -> Iterator[Entry]:
    """The caches of a core, one a level: what the hypervisor shows of those that chips share is
    the part that is nearest to the core.
    """
    members, count = partition.threads_of(partition.core_of(cpu)), len(partition.possible)
    levels: set[str] = set()
    for cache in partition.machine["caches"]:
        level = "".join(filter(str.isdigit, cache["name"]))
        if not level or level in levels:
            continue
        index = f"{_SYS_CPU}/cpu{cpu}/cache/index{len(levels)}"
        levels.add(level)
        yield f"{index}/level", line(level)
        yield f"{index}/type", line("Data" if level == "1" else "Unified")
        yield f"{index}/size", line(f"{cache['bytes'] >> 10}K")
        yield f"{index}/coherency_line_size", line(partition.machine["line_bytes"])
        for file, content in siblings("shared_cpu_map", members, count).items():
            name = "shared_cpu_list" if file.endswith("_list") else file
            yield f"{index}/{name}", content


def _nodes(nodes: list[Srad], count: int) -> Iterator[Entry]:
    everywhere = cpu_list(node.srad for node in nodes)
    yield f"{_SYS_NODE}/possible", line(everywhere)
    yield f"{_SYS_NODE}/online", line(everywhere)
    yield f"{_SYS_NODE}/has_cpu", line(cpu_list(node.srad for node in nodes if node.cpus))
    for node in nodes:
        folder = f"{_SYS_NODE}/node{node.srad}"
        total = round(node.mem_mb * 1024)
        yield f"{folder}/cpumap", line(cpu_mask(node.cpus, count))
        yield f"{folder}/cpulist", line(cpu_list(node.cpus))
        yield f"{folder}/distance", line(" ".join(str(_distance(node, other)) for other in nodes))
        yield f"{folder}/meminfo", line(f"Node {node.srad} MemTotal:       {total:8} kB")


def _distance(one: Srad, other: Srad) -> int:
    if one.srad == other.srad:
        return _SAME
    return _SAME_DRAWER if one.ref1 == other.ref1 else _OTHER_DRAWER


def cpu_counters(partition: Partition, state: State) -> Iterator[Entry]:
    """PURR and SPURR of each used thread in hexadecimal, in all and idle. The clock is constant, so
    that both agree. The digits are as many as ever needed: a reader that keeps the file open finds
    no rest of a longer number.

    Idle is what the partition was charged and did not use: the idle time of a thread counts in
    proportion to it, since cores that were lent are charged to nobody.
    """
    used = {cpu: _sum(state.cpus[cpu], "user_ns", "sys_ns") for cpu in partition.online}
    unused = {cpu: _sum(state.cpus[cpu], "wait_ns", "idle_ns") for cpu in partition.online}
    charged = max(0, purr_ns(partition.configuration, state) - sum(used.values()))
    whole = max(1, sum(unused.values()))
    for cpu in partition.online:
        idle = unused[cpu] * charged // whole
        for name in COUNTERS:
            value = ticks(idle if name.startswith("idle") else idle + used[cpu])
            yield f"{_SYS_CPU}/cpu{cpu}/{name}", line(f"{value:016x}")


def _sum(counted: Counters, *names: str) -> int:
    return sum(max(0, counted.get(name, 0)) for name in names)
