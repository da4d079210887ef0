"""Topologies of hosts: hwloc XML, dumps of `/sys` and `/proc`, `lscpu`, `/proc/cpuinfo` alone,
`virsh capabilities`.

What a guest sees of its processors says little of the hardware: such a topology is marked as
virtual, and where the guest is named it is told as a partition instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePath
from typing import Any

from homenode import _engine
from homenode.errors import Where
from homenode.records.importing.facts import Facts, Told, Took, TopologyFacts, TopologyObject
from homenode.records.importing.formats.lparcfg import identity
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, Notice, head_text
from homenode.records.importing.opening.trees import Tree
from homenode.records.importing.shared.forms import FileFormat, TreeFormat, text_of
from homenode.records.importing.shared.words import unread

MOST_BYTES = 64 << 20
"""Of one file; the largest known topologies have a few MiB."""
PROLOGUE = r"\A(?>\s+|<\?xml[^>]*>|<!DOCTYPE[^>\[]*(?:\[[^\]]*\]\s*)?>|(?><!--.*?-->))*+"
"""What stands before the root element of an XML text; never gone back over."""
_HWLOC = re.compile(PROLOGUE + r"<topology[\s>]", re.DOTALL)
_CAPABILITIES = re.compile(PROLOGUE + r"<capabilities[\s>]", re.DOTALL)
_LSCPU = re.compile(
    r"\A\s*\{\s*\"(?:lscpu|cpus)\"\s*:\s*\[|^# ?CPU,(?:Core|Socket|Node)\b|"
    r"^CPU +(?:NODE|SOCKET|CORE|DRAWER|BOOK)\b",
    re.MULTILINE,
)
_SUMMARY = tuple(
    re.compile(rf"^ *(?:{label}): +\d", re.MULTILINE)
    for label in (r"CPU\(s\)", r"(?:Thread|Core)\(s\) per \w+|On-line CPU\(s\) list")
)
_CPUINFO = "cpuinfo"
_PROCESSOR = re.compile(r"^processor\s*: \d+\s*$", re.MULTILINE)
_KERNELS = re.compile(
    r"^(?:vendor_id|cpu family|model name|cpu|BogoMIPS|CPU implementer|arch|bogomips)\s*: ",
    re.MULTILINE,
)
_IBM_Z = re.compile(r"^vendor_id\s*: IBM/S390", re.MULTILINE)
_CPU_FOLDER = re.compile(r"sys/devices/system/cpu/cpu\d+/")
_NEEDED = (
    "sys/devices/system/cpu/",
    "sys/devices/system/node/",
    "sys/class/dmi/id/",
    "sys/devices/virtual/dmi/id/",
    "sys/kernel/mm/hugepages/",
    "sys/hypervisor/type",
    "proc/cpuinfo",
    "proc/meminfo",
    "proc/hwloc-nofile-info",
    "proc/device-tree/ibm,partition-name",
)
"""Beginnings of the paths that are read of a dump."""


@dataclass(frozen=True)
class Loaded:
    """A host as a listing tells of it."""

    host: Mapping[str, Any]
    """See `homenode_captures::topology::Host`."""
    dropped: int
    notices: tuple[Notice, ...]

    def console(self) -> str:
        """The tree as `lstopo -v` prints it; `ListingError` if only numbers are told."""
        return _engine.topology_console(self.tree_json())

    def tree_json(self) -> str:
        """The tree; `ListingError` if only numbers are told."""
        if self.host["topology"] is None:
            notices = "; ".join(str(notice) for notice in self.notices)
            raise ListingError("it tells no tree of processors", there=notices or None)
        return json.dumps(self.host["topology"])

    def in_words(self) -> str:
        """How many of what there are."""
        return str(self.host["summary"]) or "no tree"


def load_json(text: str, at: Callable[[int | None], Where]) -> tuple[Any, int, tuple[Notice, ...]]:
    """What a reader found, how much it dropped, and its remarks with their places."""
    answer = json.loads(text)
    remarks = answer["remarks"]
    notices = tuple(Notice(one["text"], at(one["line"] or None)) for one in remarks)
    return answer["found"], int(answer["dropped"]), notices


@dataclass
class HostFormat:
    """A file that describes a host."""

    name: str
    recogniser: Callable[[str], bool]
    reader: Callable[[str], str]
    """The compiled reader."""

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        return self.recogniser(head_text(head))

    def load(self, source: Input, facts: Facts) -> Loaded:
        """The host; notices about the text's encoding go to `facts`."""
        text = text_of(source, MOST_BYTES, facts)
        try:
            answer = self.reader(text)
        except _engine.CaptureError as fault:
            raise unread(fault, source.at) from fault
        return Loaded(*load_json(answer, source.at))

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat.read`."""
        loaded = self.load(source, facts)
        name = loaded.host["name"] or None
        _tell(loaded, _Owner(name, name), (self.name, source.file), source.at(), facts)


@dataclass
class DumpFormat:
    """A dump of `/sys` and `/proc`."""

    name: str = "dump of /sys and /proc"

    def recognises(self, tree: Tree) -> bool:
        """See `TreeFormat.recognises`."""
        return any(_CPU_FOLDER.match(path) for path in tree.files) or "proc/cpuinfo" in tree.files

    def load(self, tree: Tree) -> Loaded:
        """The host's topology, from the files of the tree that tell of it."""
        files = {path: tree.files[path] for path in tree.files if path.startswith(_NEEDED)}
        try:
            answer = json.loads(_engine.read_sysfs(files))
        except _engine.CaptureError as fault:
            raise ListingError(
                "it names no processors",
                where=Where(tree.file),
                there="neither sys/devices/system/cpu/cpu0 nor processors in proc/cpuinfo",
                next_step="gather it with hwloc-gather-topology, or tar sys/devices/system whole",
            ) from fault
        notices = tuple(_in_file(one["text"], tree) for one in answer["remarks"])
        return Loaded(answer["found"], int(answer["dropped"]), notices)

    def read(self, tree: Tree, facts: Facts) -> None:
        """See `TreeFormat.read`."""
        loaded = self.load(tree)
        key, name = _identity(tree, loaded)
        owner = _Owner(key, name)
        _tell(loaded, owner, (self.name, tree.file), Where(tree.file), facts)


def _in_file(text: str, tree: Tree) -> Notice:
    """A remark that begins with the path it is about."""
    path, colon, rest = text.partition(": ")
    if colon and path.startswith(("sys/", "proc/")):
        return Notice(rest, tree.at(path))
    return Notice(text, Where(tree.file))


@dataclass(frozen=True)
class _Owner:
    """Key of the server and name of the partition that a listing is of, where it says them."""

    system: str | None
    partition: str | None


def _identity(tree: Tree, loaded: Loaded) -> tuple[str | None, str | None]:
    """As the other files of the dump are told."""
    if "proc/ppc64/lparcfg" in tree.files:
        return identity(tree)
    name = loaded.host["name"] or None
    return name, name


def _tell(
    loaded: Loaded, owner: _Owner, source: tuple[str, str], where: Where, facts: Facts
) -> None:
    """Add a host to the facts; `source` is the format and the file."""
    host = loaded.host
    form, file = source
    if form == _CPUINFO and not _tells_cores(host):
        text = "it does not say which processors are threads of one core: each counts as a core"
        facts.notices.append(Notice(f"{text}; lscpu beside it tells", where))
    facts.notices.extend(loaded.notices)
    topology = topology_facts(host, owner.system, where)
    if topology is not None:
        facts.topologies.append(topology)
    if owner.system is not None:
        _tell_host(host, owner, topology, where, facts)
    else:
        stem = PurePath(file.rsplit(":", 1)[-1]).name.split(".")[0] or "host"
        alone = _Owner(stem, stem)
        _Nameless.of(facts).hosts.append(partial(_tell_host, host, alone, topology, where, facts))
    what = [loaded.in_words()]
    if is_virtual(host):
        what.append(f"as a guest of {host['hypervisor'] or 'a hypervisor'} sees it")
    facts.took.append(Took(file, form, ", ".join(what), loaded.dropped))


@dataclass
class _Nameless:
    """Hosts whose names are not told: they count as servers with a partition each only if nothing
    else names one, for they may be those that other recordings are of.
    """

    facts: Facts
    hosts: list[Callable[[], None]] = field(default_factory=list)

    @classmethod
    def of(cls, facts: Facts) -> _Nameless:
        """The one that is called when all files are read."""
        found = next((one for one in facts.afterwards if isinstance(one, cls)), None)
        if found is None:
            found = cls(facts)
            facts.afterwards.append(found)
        return found

    def __call__(self) -> None:
        if not self.facts.partitions:
            for tell in self.hosts:
                tell()


def _tell_host(
    host: Mapping[str, Any],
    owner: _Owner,
    topology: TopologyFacts | None,
    where: Where,
    facts: Facts,
) -> None:
    """The server, and the partition that sees it so; a bare host is one on all its cores."""
    _tell_system(host, owner.system or "", where, facts)
    if topology is None or owner.partition is None:
        return
    _tell_partition(owner, topology, where, facts)
    if not is_virtual(host):
        partition = facts.partition(owner.system, owner.partition)
        facts.tell(partition, "mode", Told("dedicated", where))
        cores = sum(one.kind == "Core" for one in topology.root.walk())
        if cores:
            facts.tell(facts.system(owner.system or ""), "cores", Told(cores, where))


def _tells_cores(host: Mapping[str, Any]) -> bool:
    return "Core" in str(host["summary"])


def topology_facts(
    host: Mapping[str, Any], system: str | None, where: Where
) -> TopologyFacts | None:
    """The tree; None if only numbers are told."""
    tree = host["topology"]
    if tree is None:
        return None
    said = ("architecture", "processor", "model")
    about: dict[str, str | int] = {key: host[key] for key in said if host[key]}
    if host["clock_mhz"]:
        about["clock_hz"] = round(float(host["clock_mhz"]) * 1e6)
    root = _object(tree["root"])
    root = TopologyObject(root.kind, root.os_index, {**root.attributes, **about}, root.children)
    return TopologyFacts(system, root, where, _distances(tree, root), is_virtual(host))


def is_virtual(host: Mapping[str, Any]) -> bool:
    """Whether it is what a guest sees; on IBM Z there always is a hypervisor."""
    return host["hypervisor"] is not None or host["architecture"] in ("s390x", "s390")


def _object(given: Mapping[str, Any]) -> TopologyObject:
    """An object as the readers hand it over."""
    sizes = {"bytes": "memory" if given["kind"] == "NUMANode" else "size"}
    names = {**sizes, "line_bytes": "line", "ways": "ways"}
    attributes: dict[str, str | int] = {
        name: given[key] for key, name in names.items() if key in given
    }
    attributes.update({one["name"]: one["value"] for one in given.get("infos", ())})
    kind = given.get("subtype") if given.get("subtype") in ("Drawer", "Book") else given["kind"]
    children = tuple(_object(child) for child in given.get("children", ()))
    return TopologyObject(str(kind), given.get("os_index"), attributes, children)


def _distances(tree: Mapping[str, Any], root: TopologyObject) -> tuple[tuple[float, ...], ...]:
    """Between all memory nodes in the order of their numbers; empty if not all are told."""
    nodes = [one for one in root.walk() if one.kind == "NUMANode"]
    order = sorted(range(len(nodes)), key=lambda place: nodes[place].os_index or 0)
    for matrix in tree["distances"]:
        if matrix["of"] != "NUMANode" or not matrix["meaning"] & 4:
            continue
        place = {node: row for row, node in enumerate(matrix["objects"])}
        if len(place) == len(nodes) and all(node in place for node in order):
            rows = matrix["rows"]
            return tuple(tuple(float(rows[place[a]][place[b]]) for b in order) for a in order)
    return ()


def _tell_system(host: Mapping[str, Any], key: str, where: Where, facts: Facts) -> None:
    system = facts.system(key)
    architecture = str(host["architecture"] or "")
    if architecture:
        family = "power" if architecture.startswith("ppc") else architecture
        facts.tell(system, "architecture", Told(family, where))
    model = str(host["model"] or "").removeprefix("CHRP ").removeprefix("IBM,")
    for attribute, value in (("model", model), ("processor", host["processor"])):
        if value:
            facts.tell(system, attribute, Told(value, where))
    if host["clock_mhz"]:
        facts.tell(system, "clock_hz", Told(float(host["clock_mhz"]) * 1e6, where))
    if host["hypervisor"]:
        facts.tell(system, "hypervisor", Told(str(host["hypervisor"]).lower(), where))


def _tell_partition(owner: _Owner, topology: TopologyFacts, where: Where, facts: Facts) -> None:
    """The guest itself: its processors are its virtual processors."""
    partition = facts.partition(owner.system, owner.partition or "")
    every = list(topology.root.walk())
    logical = sum(one.kind == "PU" for one in every)
    cores = sum(one.kind == "Core" for one in every)
    facts.tell(partition, "os", Told("linux", where))
    facts.tell(partition, "logical", Told(logical, where))
    if cores and logical % cores == 0:
        facts.tell(partition, "virtual", Told(cores, where))
        facts.tell(partition, "smt", Told(logical // cores, where))
    memory = [one for one in every if one.kind == "NUMANode"]
    sizes = {one.os_index or 0: int(one.attributes.get("memory", 0)) for one in memory}
    if sum(sizes.values()):
        facts.tell(partition, "memory_bytes", Told(sum(sizes.values()), where))
    if len(memory) < 2:
        return
    for number, size in sizes.items():
        if size:
            partition.memory_by_node.setdefault(number, Told(size, where))
    for number, count in _processors_by_node(topology.root).items():
        partition.processors_by_node.setdefault(number, Told(count, where))


def _processors_by_node(root: TopologyObject) -> dict[int, int]:
    """How many processors are beside each memory node that stands alone beside them."""
    found: dict[int, int] = {}
    for one in root.walk():
        beside = [child for child in one.children if child.kind == "NUMANode"]
        if len(beside) == 1:
            count = sum(inner.kind == "PU" for inner in one.walk())
            if count:
                found[beside[0].os_index or 0] = count
    return found


def _is_cpuinfo(text: str) -> bool:
    """Processors with what only the kernel says of them; on IBM Z they stand in one line each."""
    return bool(_IBM_Z.search(text) or (_PROCESSOR.search(text) and _KERNELS.search(text)))


def _read_cpuinfo(text: str) -> str:
    try:
        return _engine.read_sysfs({"proc/cpuinfo": text.encode()})
    except _engine.CaptureError as fault:
        raise ListingError("it names no processor", next_step="copy /proc/cpuinfo whole") from fault


def _is_lscpu(text: str) -> bool:
    return bool(_LSCPU.search(text)) or all(part.search(text) for part in _SUMMARY)


FORMATS: tuple[FileFormat, ...] = (
    HostFormat("hwloc XML", lambda text: bool(_HWLOC.match(text)), _engine.read_hwloc),
    HostFormat("lscpu", _is_lscpu, _engine.read_lscpu),
    HostFormat(_CPUINFO, _is_cpuinfo, _read_cpuinfo),
    HostFormat(
        "virsh capabilities",
        lambda text: bool(_CAPABILITIES.match(text)),
        _engine.read_capabilities,
    ),
)
TREE_FORMATS: tuple[TreeFormat, ...] = (DumpFormat(),)
