"""A root folder as Linux in a partition of IBM Z would show it: /proc/sysinfo, /proc/cpuinfo and
the processors of /sys with drawer, book, socket, core, thread and polarization, which lscpu and
lstopo read.

Processors are numbered as Linux does it, the threads of a core one after the other. A logical core
is shown at the home that the scenario gives it: the home chips of a shared partition in turn, the
very core of a dedicated one. Caches, frequencies that change and everything of memory but its size
are not shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.model.spec import MachineSpec, PartitionSpec
from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import Exporter, Kind
from homenode.records.exporting.root_tree import cpu_list, line, siblings, write_tree
from homenode.simulate.engine import load_engine
from homenode.tools.guestview import view_of
from homenode.tools.sysinfo import nodes_of_drawer, sysinfo

if TYPE_CHECKING:
    from homenode.simulate.run import Run

_CPU = "sys/devices/system/cpu"
_KERNEL_MAX = 511

Entry = tuple[str, bytes]


@dataclass(frozen=True)
class LogicalCpu:
    """A logical processor, where its core is at home, and what PR/SM grants it."""

    number: int
    core: int
    chip: int
    node: int
    drawer: int | None
    polarization: str


@dataclass(frozen=True)
class Configuration:
    """What Linux in the partition knows of itself."""

    cpus: tuple[LogicalCpu, ...]
    machine: str
    """Type of the machine, such as 3906; zeros where it is not known."""
    clock_hz: float
    memory_mb: int
    dedicated: bool
    most_threads: int
    """Threads of a core that the machine has."""

    @property
    def vertical(self) -> bool:
        """Whether dispatching is vertical."""
        return any(cpu.polarization.startswith("vertical") for cpu in self.cpus)


@dataclass(frozen=True)
class S390x:
    """The tree of one partition."""

    name: str = "s390x"
    title: str = "root folder of Linux on IBM Z, for lscpu and lstopo"
    kind: Kind = "folder"
    suffix: str = ""
    takes: Collection[str] = ("partition", "replication")

    def write(self, run: Run, target: Path, options: ExportOptions) -> list[Path]:
        """Write the tree. `NotFoundError` if the run has several partitions and none is named,
        `ExportError` on another machine or for a partition with z/VM.
        """
        _refuse_other_machines(run)
        partition = run.partition(options.partition)
        _refuse_zvm(run, partition)
        view = view_of(run, options.replication or 0)
        configuration = configuration_of(run, partition)
        files: dict[str, bytes] = {
            "proc/sysinfo": sysinfo(view, partition).text().encode(),
            "proc/cpuinfo": _cpuinfo(configuration).encode(),
            "proc/meminfo": f"MemTotal:       {configuration.memory_mb << 10:8} kB\n".encode(),
            "proc/stat": _times(view.total("partition", partition)),
            "proc/sys/kernel/hostname": line(_host_name(run, partition)),
            **dict(_sys_files(configuration)),
        }
        return write_tree(target, files)


def configuration_of(run: Run, partition: str) -> Configuration:
    """The partition as its Linux sees it."""
    spec, machine = run.partition_spec(partition), run.spec["machine"]
    details = run.details.get(partition, {})
    smt = int(spec["smt"])
    chips, kinds = _homes(spec, machine), _polarizations(spec)
    per_drawer = nodes_of_drawer(str(run.machine_facts.get("node_name", "")))
    cpus = []
    for core, (chip, kind) in enumerate(zip(chips, kinds, strict=True)):
        node = chip // int(machine["chips_per_node"])
        drawer = None if per_drawer is None else node // per_drawer
        cpus += [
            LogicalCpu(core * smt + thread, core, chip, node, drawer, kind) for thread in range(smt)
        ]
    return Configuration(
        cpus=tuple(cpus),
        machine=str(run.machine_facts.get("model", "")).partition("-")[0] or "0000",
        clock_hz=float(machine["clock_hz"]),
        memory_mb=int(details.get("mem_mb", 0)),
        dedicated=spec["processors"]["mode"] != "shared",
        most_threads=int(machine["threads_per_core"]),
    )


def _homes(spec: PartitionSpec, machine: MachineSpec) -> list[int]:
    """Home chip of each logical core."""
    processors = spec["processors"]
    if processors["mode"] != "shared":
        return [core // int(machine["cores_per_chip"]) for core in processors["cores"]]
    home = spec["home"] or [0]
    return [home[core % len(home)] for core in range(int(processors["virtual"]))]


def _polarizations(spec: PartitionSpec) -> list[str]:
    """What Linux prints of each logical core."""
    processors = spec["processors"]
    if processors["mode"] != "shared":
        return ["vertical:high"] * len(processors["cores"])
    count = int(processors["virtual"])
    more = processors.get("prsm")
    if more is None or more.get("polarization") != "vertical":
        return ["horizontal"] * count
    high, medium, low, _ = load_engine().polarize(float(processors["entitlement"]), count)
    return ["vertical:high"] * high + ["vertical:medium"] * medium + ["vertical:low"] * low


def _cpuinfo(c: Configuration) -> str:
    """/proc/cpuinfo: the list of processors, then a block each."""
    mhz = round(c.clock_hz / 1e6)
    lines = ["vendor_id       : IBM/S390", f"# processors    : {len(c.cpus)}"]
    if c.most_threads > 1:
        lines.append(f"max thread id   : {max(_thread(c, cpu) for cpu in c.cpus)}")
    lines += [
        f"processor {cpu.number}: version = 00,  identification = 000000,  machine = {c.machine}"
        for cpu in c.cpus
    ]
    for cpu in c.cpus:
        of_chip = [other for other in c.cpus if other.chip == cpu.chip]
        lines += [
            "",
            f"cpu number      : {cpu.number}",
            f"physical id     : {cpu.chip}",
            f"core id         : {cpu.core}",
            f"book id         : {cpu.node}",
            f"drawer id       : {cpu.drawer or 0}",
            f"dedicated       : {int(c.dedicated)}",
            f"address         : {cpu.number}",
            f"siblings        : {len(of_chip)}",
            f"cpu cores       : {len({other.core for other in of_chip})}",
            f"version         : 00\nidentification  : 000000\nmachine         : {c.machine}",
            f"cpu MHz dynamic : {mhz}",
            f"cpu MHz static  : {mhz}",
        ]
    return "\n".join(lines) + "\n"


def _thread(c: Configuration, cpu: LogicalCpu) -> int:
    return cpu.number - min(other.number for other in c.cpus if other.core == cpu.core)


def _times(counted: Mapping[str, int]) -> bytes:
    """The first line of /proc/stat, of the whole time that was kept."""
    user, system, idle, wait = (
        round(counted.get(f"ticks_{state}", 0) / 10_000_000)
        for state in ("user", "sys", "idle", "wait")
    )
    return f"cpu  {user} 0 {system} {idle} {wait} 0 0 0 0 0\n".encode()


def _sys_files(c: Configuration) -> Iterator[Entry]:
    numbers = [cpu.number for cpu in c.cpus]
    for name in ("possible", "present", "online"):
        yield f"{_CPU}/{name}", line(cpu_list(numbers))
    yield f"{_CPU}/offline", line("")
    yield f"{_CPU}/kernel_max", line(_KERNEL_MAX)
    yield f"{_CPU}/dispatching", line(int(c.vertical))
    for cpu in c.cpus:
        folder = f"{_CPU}/cpu{cpu.number}"
        yield f"{folder}/online", line(1)
        yield f"{folder}/configure", line(1)
        yield f"{folder}/address", line(cpu.number)
        yield f"{folder}/polarization", line(cpu.polarization)
        yield from _topology(c, cpu, f"{folder}/topology")
    node = "sys/devices/system/node"
    yield f"{node}/online", line(0)
    yield f"{node}/node0/cpulist", line(cpu_list(numbers))
    yield f"{node}/node0/distance", line(10)
    yield f"{node}/node0/meminfo", line(f"Node 0 MemTotal:       {c.memory_mb << 10:8} kB")
    for name, content in siblings("cpumap", numbers, len(numbers)).items():
        if name == "cpumap":
            yield f"{node}/node0/{name}", content


def _topology(c: Configuration, cpu: LogicalCpu, folder: str) -> Iterator[Entry]:
    """Containers, each with its number and the processors in it."""
    yield f"{folder}/core_id", line(cpu.core)
    yield f"{folder}/physical_package_id", line(cpu.chip)
    yield f"{folder}/book_id", line(cpu.node)
    sets = {
        "thread_siblings": [other.number for other in c.cpus if other.core == cpu.core],
        "core_siblings": [other.number for other in c.cpus if other.chip == cpu.chip],
        "book_siblings": [other.number for other in c.cpus if other.node == cpu.node],
    }
    if cpu.drawer is not None:
        yield f"{folder}/drawer_id", line(cpu.drawer)
        sets["drawer_siblings"] = [other.number for other in c.cpus if other.drawer == cpu.drawer]
    for name, members in sets.items():
        for file, content in siblings(name, members, len(c.cpus)).items():
            yield f"{folder}/{file}", content


def _host_name(run: Run, partition: str) -> str:
    return str(run.details.get(partition, {}).get("node_name") or partition)


def _refuse_other_machines(run: Run) -> None:
    machine = run.spec["machine"]
    if machine["hypervisor"]["policy"] != "prsm":
        raise ExportError(
            f"run {run.id} is of {machine['name']}, which is no IBM Z",
            next_step="export trees of Power servers with --as linux-power",
        )


def _refuse_zvm(run: Run, partition: str) -> None:
    if run.partition_spec(partition)["guest"]["os"] != "zvm":
        return
    others = [str(one["name"]) for one in run.spec["partitions"] if one["guest"]["os"] != "zvm"]
    raise ExportError(
        f"partition {partition} of run {run.id} runs z/VM",
        there="the tree is that of Linux in a partition; a virtual machine sees no topology",
        next_step=f"choose another with -p {others[0]}"
        if others
        else f"homenode sysinfo {run.id} shows what its machines see",
    )


EXPORTER: Exporter = S390x()
