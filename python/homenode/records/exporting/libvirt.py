"""The layout as domains of libvirt: what each partition would be as a virtual machine of KVM on a
host of the same topology.

A virtual machine has a virtual processor for each thread. Entitlement becomes CPU shares, a hundred
a core, since both are what a guest gets when all want more. A capped partition gets the time of all
threads of that many cores each period and no more (`global_quota`). Homes and memory are pinned: of
a dedicated partition every virtual processor to its thread and memory strictly to its nodes; of a
shared one to the threads of its home chips and memory to its nodes by preference. KVM has no weight
beside shares, pools of processors or lending: they are left out, and the file says so in its
description. Of a partition of a Linux host its weight, quota and pins are written as they are, and
the control group it is in as libvirt's resource partition. KVM on IBM Z shows a guest neither
threads of a core nor NUMA nodes: there each virtual processor is a core of its own, and memory is
bound as a whole.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.scenario.host.groups import SCOPE
from homenode.model.scenario.io_threads import EMULATOR
from homenode.model.spec import (
    CgroupSpec,
    MachineSpec,
    PartitionSpec,
    SharedSpec,
    Spec,
    cores_of,
    processors_of,
    shared_of,
)
from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import Exporter, Kind
from homenode.records.exporting.root_tree import cpu_list

if TYPE_CHECKING:
    from homenode.simulate.run import Run

_SHARES_PER_CORE = 100
_MOST_SHARES = 10_000
"""libvirt's limit where the host uses control groups v2."""
_PERIOD_US = 100_000
_LEAST_QUOTA_US = 1000
_KIB = 1024
_FLAT = "s390x"
"""The architecture whose guests see neither threads of a core nor NUMA nodes."""


@dataclass(frozen=True)
class Host:
    """The machine as its host system numbers it: threads one core after the other, a NUMA node for
    each place that has memory beside it.
    """

    machine: MachineSpec

    @property
    def threads(self) -> int:
        """Hardware threads of a core that it numbers."""
        if self.is_linux:
            return int(self.machine["hypervisor"].get("siblings", 1))
        return int(self.machine["threads_per_core"])

    @property
    def is_linux(self) -> bool:
        """Whether the run's partitions are threads of a Linux or Xen host already."""
        return self.machine["hypervisor"]["policy"] in HOST_POLICIES

    def threads_of(self, core: int) -> list[int]:
        """Numbers of a core's threads."""
        return list(range(core * self.threads, (core + 1) * self.threads))

    def threads_of_chip(self, chip: int) -> list[int]:
        """Numbers of the threads of a chip's activated cores."""
        count = int(self.machine["cores_per_chip"])
        cores = range(chip * count, min((chip + 1) * count, int(self.machine["active_cores"])))
        return [thread for core in cores for thread in self.threads_of(core)]

    def node_of(self, chip: int) -> int:
        """The NUMA node of a chip."""
        if self.machine["memory_beside"] == "chip":
            return chip
        return chip // int(self.machine["chips_per_node"])

    @property
    def kind(self) -> tuple[str, str]:
        """Architecture and machine type; `ExportError` for one that KVM does not know."""
        generation = str(self.machine["generation"]).lower()
        if "itanium" in generation:
            raise ExportError(
                f"KVM does not run on {self.machine['generation']}",
                next_step="vpars is the form for machines of cells",
            )
        if generation.startswith("power"):
            return "ppc64le", "pseries"
        if generation.startswith("z"):
            return "s390x", "s390-ccw-virtio"
        return "x86_64", "q35"


@dataclass(frozen=True)
class Domain:
    """One partition as a virtual machine."""

    name: str
    spec: PartitionSpec
    memory_mb: int
    host: Host
    kind: tuple[str, str]
    groups: tuple[CgroupSpec, ...] = ()
    """Control groups of the host that its threads are in, the innermost first."""
    aside: PartitionSpec | None = None
    """Threads of a host that do its I/O."""
    balloon_bytes: int = 0
    """Of its memory, what its balloon holds."""

    @property
    def own_group(self) -> CgroupSpec | None:
        """The group that its threads have to themselves; None if others are in it too, whose weight
        and quota are not its own.
        """
        inner = self.groups[0] if self.groups else None
        return inner if inner is not None and inner["name"] == self.name + SCOPE else None

    @property
    def kept_to(self) -> list[list[int]]:
        """On a host, the processors of each virtual processor; an empty list is all of them."""
        host = None if self.shared is None else self.shared.get("host")
        if host is not None and host["pins"]:
            return [[*pins] for pins in host["pins"]]
        allowed = next((group["cpuset"] for group in self.groups if group["cpuset"]), None)
        return [[*(allowed or ())]] * (self.cores * self.smt)

    @property
    def shared(self) -> SharedSpec | None:
        """How its processors are shared with others; None if they are its own."""
        return shared_of(self.spec)

    @property
    def flat(self) -> bool:
        """Whether it sees nothing but cores and memory."""
        return self.kind[0] == _FLAT

    @property
    def knows_nodes(self) -> bool:
        """Whether it is shown the nodes of the host that it has memory on."""
        return not self.flat and self.spec["memory_policy"] != "in-order"

    @property
    def cores(self) -> int:
        """Virtual processors, or dedicated cores."""
        return int(processors_of(self.spec))

    @property
    def smt(self) -> int:
        """Threads of each of its cores."""
        return int(self.spec["smt"])

    def home(self, core: int) -> int:
        """Home chip of one of its cores."""
        if self.shared is None:
            per_chip = int(self.host.machine["cores_per_chip"])
            return int(cores_of(self.spec)[core]) // per_chip
        chips = self.spec["home"] or [0]
        return int(chips[core % len(chips)])

    def pinned(self, core: int, thread: int) -> list[int]:
        """Threads of the host on which a virtual processor may run."""
        if self.shared is None:
            return [self.host.threads_of(cores_of(self.spec)[core])[thread]]
        host = self.shared.get("host")
        if host is not None and host["pins"]:
            return [int(cpu) for cpu in host["pins"][core * self.smt + thread]]
        chips = sorted(set(self.spec["home"] or [0]))
        return [one for chip in chips for one in self.host.threads_of_chip(chip)]

    @property
    def memory_kib(self) -> dict[int, int]:
        """Memory by NUMA node of the host [KiB]; interleaved memory evenly."""
        total = sum(part["bytes"] for part in self.spec["memory"])
        found: dict[int, int] = {}
        for part in self.spec["memory"]:
            for domain in part["domains"]:
                share = part["bytes"] / total / len(part["domains"])
                found[domain] = found.get(domain, 0) + round(share * self.memory_mb * _KIB)
        return {node: size for node, size in sorted(found.items()) if size}

    @property
    def cells(self) -> dict[int, list[int]]:
        """Virtual processors by NUMA node of the host, of every node with memory of it; those at
        home where it has none are put into the first.
        """
        nodes: dict[int, list[int]] = {node: [] for node in self.memory_kib}
        for core in range(self.cores):
            node = self.host.node_of(self.home(core))
            place = node if node in nodes else next(iter(nodes))
            nodes[place] += range(core * self.smt, (core + 1) * self.smt)
        return nodes


@dataclass(frozen=True)
class Libvirt:
    """A file a partition."""

    name: str = "libvirt"
    title: str = "libvirt domain XML of each partition, with cputune and numatune"
    kind: Kind = "each"
    suffix: str = ".xml"
    takes: Collection[str] = ("partition",)

    def write(self, run: Run, target: Path, options: ExportOptions) -> list[Path]:
        """Write the files. `ExportError` on a machine that KVM does not run on, or for z/VM."""
        asides = _asides(run.spec)
        names = [name for name in options.partitions(run) if name not in asides]
        if not names:
            raise ExportError(
                f"{options.partition} is threads of the host that do a guest's I/O, and no domain",
                next_step="name the guest with -p",
            )
        domains = [domain_of(run, name) for name in names]
        if options.partition is not None:
            target.write_text(xml(domains[0]), encoding="utf-8")
            return [target]
        target.mkdir()
        files = []
        for domain in domains:
            file = target / f"{domain.name}{self.suffix}"
            file.write_text(xml(domain), encoding="utf-8")
            files.append(file)
        return sorted(files)


def _asides(spec: Spec) -> set[str]:
    """Names of the groups of threads that do a guest's I/O: they are part of its domain."""
    every = spec["partitions"]
    told = (one.get("io_threads") for one in every)
    return {every[one["partition"]]["name"] for one in told if one is not None}


def domain_of(run: Run, name: str) -> Domain:
    """A partition of a run; `ExportError` if it is none for KVM."""
    spec = run.partition_spec(name)
    host = Host(run.spec["machine"])
    kind = host.kind
    if spec["guest"]["os"] == "zvm":
        raise ExportError(
            f"partition {name} of run {run.id} runs z/VM, which is no guest of KVM here",
            next_step="name another with -p, or use the form zvm",
        )
    details = run.details.get(name, {})
    memory, balloon = int(details.get("mem_mb", 0)), int(details.get("balloon", 0))
    threads = spec.get("io_threads")
    aside = None if threads is None else run.spec["partitions"][threads["partition"]]
    return Domain(name, spec, memory, host, kind, _groups(run.spec, spec), aside, balloon)


def _groups(whole: Spec, spec: PartitionSpec) -> tuple[CgroupSpec, ...]:
    """From its own control group up to the root."""
    shared = shared_of(spec)
    host = None if shared is None else shared.get("host")
    every, found = whole.get("cgroups", []), []
    at = None if host is None else host["cgroup"]
    while at is not None:
        found.append(every[at])
        at = every[at]["parent"]
    return tuple(found)


def xml(domain: Domain) -> str:
    """A domain as libvirt's XML."""
    xen = domain.host.machine["hypervisor"]["policy"] == "credit2"
    root = ET.Element("domain", type="xen" if xen else "kvm")
    _text(root, "name", domain.name)
    _text(root, "description", _description(domain))
    _text(root, "memory", domain.memory_mb * _KIB, unit="KiB")
    if domain.balloon_bytes:
        left = domain.memory_mb * _KIB - domain.balloon_bytes // _KIB
        _text(root, "currentMemory", left, unit="KiB")
    _text(root, "vcpu", domain.cores * domain.smt, placement="static")
    if domain.host.is_linux:
        _host_cputune(root, domain)
    else:
        _cputune(root, domain)
    _numatune(root, domain)
    architecture, machine = domain.kind
    _text(ET.SubElement(root, "os"), "type", "hvm", arch=architecture, machine=machine)
    _cpu(root, domain)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _text(parent: ET.Element, tag: str, value: object, **attributes: str) -> None:
    ET.SubElement(parent, tag, attributes).text = str(value)


def _description(domain: Domain) -> str:
    processors = domain.spec["processors"]
    if processors["mode"] == "dedicated":
        lends = ", lends what is idle (KVM cannot)" if processors["donating"] else ""
        return f"{domain.cores} dedicated core{'' if domain.cores == 1 else 's'}{lends}"
    count = f"{domain.cores} virtual processor{'' if domain.cores == 1 else 's'}"
    if domain.host.is_linux:
        return f"{count}, {processors['entitlement']:.3g} of the host's if all want theirs"
    told = f"entitled to {processors['entitlement']:g} cores, {count}"
    if processors["capped"]:
        return f"{told}, capped"
    return f"{told}, weight {processors['weight']} beyond that (KVM has none beside shares)"


def _cputune(root: ET.Element, domain: Domain) -> None:
    shared = domain.shared
    entitled = float(domain.cores if shared is None else shared["entitlement"])
    tune = ET.SubElement(root, "cputune")
    shares = round(_SHARES_PER_CORE * entitled)
    _text(tune, "shares", min(max(shares, 1), _MOST_SHARES))
    if shared is not None and shared["capped"]:
        _text(tune, "global_period", _PERIOD_US)
        quota = round(_PERIOD_US * entitled * domain.smt)
        _text(tune, "global_quota", max(quota, _LEAST_QUOTA_US))
    for core in range(domain.cores):
        for thread in range(domain.smt):
            pinned = cpu_list(domain.pinned(core, thread))
            vcpu = str(core * domain.smt + thread)
            ET.SubElement(tune, "vcpupin", vcpu=vcpu, cpuset=pinned)


def _host_cputune(root: ET.Element, domain: Domain) -> None:
    """Weight, quota and pins of a partition of a host, as they are; under Xen weight and cap."""
    shared = domain.shared
    if shared is None:
        raise AssertionError("a host has no partitions with cores of their own")
    host, own = shared["host"], domain.own_group
    tune = ET.SubElement(root, "cputune")
    _text(tune, "shares", shared["weight"] if own is None else own["weight"])
    if own is not None and own["quota_ns"] is not None:
        _text(tune, "global_period", own["period_ns"] // 1000)
        _text(tune, "global_quota", own["quota_ns"] // 1000)
    elif host["cap"] is not None:
        _text(tune, "global_period", _PERIOD_US)
        _text(tune, "global_quota", round(host["cap"] * _PERIOD_US))
    for vcpu, pins in enumerate(domain.kept_to):
        if pins:
            ET.SubElement(tune, "vcpupin", vcpu=str(vcpu), cpuset=cpu_list(pins))
    _io_tune(root, tune, domain)
    around = domain.groups if own is None else domain.groups[1:]
    outer = [str(group["name"]) for group in reversed(around)]
    if outer:
        resource = ET.SubElement(root, "resource")
        _text(resource, "partition", "/" + "/".join(outer))


def _io_tune(root: ET.Element, tune: ET.Element, domain: Domain) -> None:
    """Threads that do its I/O: QEMU's main loop, or threads of their own, and their pins."""
    shared = None if domain.aside is None else shared_of(domain.aside)
    if domain.aside is None or shared is None:
        return
    pins = shared["host"]["pins"]
    if domain.aside["name"].endswith(EMULATOR):
        for one in pins[:1]:
            ET.SubElement(tune, "emulatorpin", cpuset=cpu_list(one))
        return
    vcpu = root.find("vcpu")
    after = 0 if vcpu is None else list(root).index(vcpu) + 1
    threads = ET.Element("iothreads")
    threads.text = str(shared["virtual"])
    root.insert(after, threads)
    for number, one in enumerate(pins, start=1):
        ET.SubElement(tune, "iothreadpin", iothread=str(number), cpuset=cpu_list(one))


def _numatune(root: ET.Element, domain: Domain) -> None:
    nodes = list(domain.cells)
    mode = "preferred" if domain.shared is not None and len(nodes) == 1 else "strict"
    tune = ET.SubElement(root, "numatune")
    ET.SubElement(tune, "memory", mode=mode, nodeset=cpu_list(nodes))
    if not domain.knows_nodes:
        return
    for cell, node in enumerate(nodes):
        ET.SubElement(tune, "memnode", cellid=str(cell), mode=mode, nodeset=str(node))


def _cpu(root: ET.Element, domain: Domain) -> None:
    """The processors as the guest sees them: a socket, its cores and threads, a NUMA cell for each
    node of the host that it has memory on, if it is shown them.
    """
    cpu = ET.SubElement(root, "cpu")
    flat = domain.flat
    cores, threads = (domain.cores * domain.smt, 1) if flat else (domain.cores, domain.smt)
    ET.SubElement(cpu, "topology", sockets="1", cores=str(cores), threads=str(threads))
    if not domain.knows_nodes:
        return
    numa = ET.SubElement(cpu, "numa")
    sizes = domain.memory_kib
    for cell, (node, vcpus) in enumerate(domain.cells.items()):
        attributes = {"id": str(cell), "memory": str(sizes[node]), "unit": "KiB"}
        if vcpus:
            attributes["cpus"] = cpu_list(vcpus)
        ET.SubElement(numa, "cell", attributes)


EXPORTER: Exporter = Libvirt()
