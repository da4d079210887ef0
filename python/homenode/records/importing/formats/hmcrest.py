"""Answers of an HMC's REST interface: feeds and entries of `ManagedSystem`, `LogicalPartition` and
`VirtualIOServer` (XML).

Partitions name their server by the identity of its entry. Where no file has that entry, they belong
to the only server that is told of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from homenode import _engine
from homenode.records.importing.facts import Facts, Took
from homenode.records.importing.formats.hmc import MB, HmcReader
from homenode.records.importing.formats.topology import MOST_BYTES, PROLOGUE, load_json
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, head_text
from homenode.records.importing.shared.forms import FileFormat, text_of
from homenode.records.importing.shared.servers import to_the_only_server
from homenode.records.importing.shared.words import counted, number, unread

_ROOT = re.compile(
    PROLOGUE + r"<(?:\w+:)?(feed|entry|ManagedSystem|LogicalPartition|VirtualIOServer)[\s>]",
    re.DOTALL,
)
_OF_HMC = re.compile(r"<(?:\w+:)?(?:ManagedSystem|LogicalPartition|VirtualIOServer)[\s>]")
_IDENTITY = re.compile(r"ManagedSystem/([0-9A-Fa-f-]{30,40})")
_PROCESSORS = "PartitionProcessorConfiguration"
_SHARED = f"{_PROCESSORS}/CurrentSharedProcessorConfiguration"
_DEDICATED = f"{_PROCESSORS}/CurrentDedicatedProcessorConfiguration"
_MEMORY = "PartitionMemoryConfiguration"
_FIELDS = {
    "lpar_id": "PartitionID",
    "os_version": "OperatingSystemVersion",
    "curr_proc_units": f"{_SHARED}/CurrentProcessingUnits",
    "curr_min_proc_units": f"{_SHARED}/CurrentMinimumProcessingUnits",
    "curr_max_proc_units": f"{_SHARED}/CurrentMaximumProcessingUnits",
    "curr_uncap_weight": f"{_SHARED}/CurrentUncappedWeight",
    "curr_shared_proc_pool_id": f"{_SHARED}/CurrentSharedProcessorPoolID",
    "curr_mem": f"{_MEMORY}/CurrentMemory",
    "curr_min_mem": f"{_MEMORY}/CurrentMinimumMemory",
    "curr_max_mem": f"{_MEMORY}/CurrentMaximumMemory",
}
"""What the commands of the console call the elements of a partition."""
_COUNTS = {
    "curr_procs": ("AllocatedVirtualProcessors", "CurrentProcessors"),
    "curr_min_procs": ("CurrentMinimumVirtualProcessors", "CurrentMinimumProcessors"),
    "curr_max_procs": ("CurrentMaximumVirtualProcessors", "CurrentMaximumProcessors"),
}
"""The same, of shared and of dedicated processors."""
_SHARING = {"capped": "cap", "uncapped": "uncap"}
_RUNNING = ("running", "open firmware", "starting")


@dataclass
class _Feeds:
    """All that was read, until it is known which server is which."""

    facts: Facts
    serials: dict[str, str] = field(default_factory=dict)
    """Of servers, by the identity of their entries."""
    partitions: list[tuple[Input, Mapping[str, Any]]] = field(default_factory=list)

    @classmethod
    def of(cls, facts: Facts) -> _Feeds:
        """The one that is called when all files are read."""
        found = next((one for one in facts.afterwards if isinstance(one, cls)), None)
        if found is None:
            found = cls(facts)
            facts.afterwards.append(found)
        return found

    def __call__(self) -> None:
        for source, element in self.partitions:
            link = next((one for one in _inside(element, "AssociatedManagedSystem")), None)
            href = dict(link["attributes"]).get("href", "") if link else ""
            identity = _IDENTITY.search(href)
            key = self.serials.get(identity[1].lower()) if identity else None
            _tell_partition(HmcReader(source, self.facts, key), element)
        if any(key is None for key, _ in self.facts.partitions):
            to_the_only_server(self.facts)


class RestFeed:
    """Feeds and entries."""

    name = "HMC REST XML"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        text = head_text(head)
        return bool(_ROOT.match(text) and _OF_HMC.search(text))

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat.read`."""
        try:
            answer = _engine.read_xml(text_of(source, MOST_BYTES, facts))
        except _engine.CaptureError as fault:
            raise unread(fault, source.at) from fault
        roots, dropped, notices = load_json(answer, source.at)
        facts.notices.extend(notices)
        feeds, servers, partitions = _Feeds.of(facts), 0, 0
        for kind, identity, element in _entries(roots):
            if kind == "ManagedSystem":
                serial = _tell_server(source, facts, element)
                servers += serial is not None
                if serial is not None and identity:
                    feeds.serials[identity.lower()] = serial
            elif _text(element, "PartitionName") is not None:
                feeds.partitions.append((source, element))
                partitions += 1
        if not servers and not partitions:
            raise ListingError("it names no server and no partition", where=source.at())
        told = ((servers, "server"), (partitions, "partition"))
        what = " and ".join(counted(count, kind) for count, kind in told if count)
        facts.took.append(Took(source.file, self.name, what, dropped))


def _entries(
    elements: list[Mapping[str, Any]], identity: str = ""
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Servers and partitions with the identity of their entries, however deep."""
    for element in elements:
        name = _plain(element)
        if name in ("ManagedSystem", "LogicalPartition", "VirtualIOServer") and element["children"]:
            told = next((one["text"] for one in _inside(element, "AtomID")), "")
            yield name, told or identity, element
        else:
            own = next((one["text"] for one in element["children"] if _plain(one) == "id"), "")
            yield from _entries(element["children"], own if name == "entry" else identity)


def _plain(element: Mapping[str, Any]) -> str:
    """Its name without what stands before the colon."""
    return str(element["name"]).rpartition(":")[2]


def _inside(element: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    for child in element["children"]:
        if _plain(child) == name:
            yield child
        yield from _inside(child, name)


def _at(element: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    """The element at the end of a path of names."""
    found: Mapping[str, Any] | None = element
    for name in path.split("/"):
        children = found["children"] if found else ()
        found = next((one for one in children if _plain(one) == name), None)
    return found


def _text(element: Mapping[str, Any], path: str) -> str | None:
    found = _at(element, path)
    return str(found["text"]) if found and found["text"] else None


def _tell_server(source: Input, facts: Facts, element: Mapping[str, Any]) -> str | None:
    """Facts of a server; its serial number."""
    begin = "MachineTypeModelAndSerialNumber"
    serial = _text(element, f"{begin}/SerialNumber")
    if serial is None:
        return None
    reader = HmcReader(source, facts, serial)
    system = reader.server(element["line"])
    kind, model = _text(element, f"{begin}/MachineType"), _text(element, f"{begin}/Model")
    if kind and model:
        reader.tell(system, "model", f"{kind}-{model}", element["line"])
    processors, memory = (
        "AssociatedSystemProcessorConfiguration",
        "AssociatedSystemMemoryConfiguration",
    )
    amounts = {
        "cores": (f"{processors}/ConfigurableSystemProcessorUnits", 1),
        "installed_cores": (f"{processors}/InstalledSystemProcessorUnits", 1),
        "memory_bytes": (f"{memory}/ConfigurableSystemMemory", MB),
    }
    for attribute, (path, unit) in amounts.items():
        found = _at(element, path)
        value = number(found["text"]) if found else None
        if found and value:
            reader.tell(system, attribute, round(value) * unit, found["line"])
    return serial


def _tell_partition(reader: HmcReader, element: Mapping[str, Any]) -> None:
    """Facts of a partition under the names of the console's commands."""
    found = {name: _text(element, path) for name, path in _FIELDS.items()}
    dedicated = _text(element, f"{_PROCESSORS}/CurrentHasDedicatedProcessors") == "true"
    for name, (of_shared, of_dedicated) in _COUNTS.items():
        path = f"{_DEDICATED}/{of_dedicated}" if dedicated else f"{_SHARED}/{of_shared}"
        found[name] = _text(element, path)
    mode = _text(element, f"{_PROCESSORS}/CurrentSharingMode")
    if mode is not None:
        donates = "share_idle_procs" if mode.startswith("sre") else "keep_idle_procs"
        found["curr_sharing_mode"] = _SHARING.get(mode.lower(), donates)
    fields = {name: text for name, text in found.items() if text is not None}
    line = element["line"]
    of = reader.partition(_text(element, "PartitionName") or "", fields, line)
    if _plain(element) == "VirtualIOServer":
        reader.tell(of, "os", "aix", line)
    state = _text(element, "PartitionState")
    if state is not None:
        reader.tell(of, "running", state.lower() in _RUNNING, line)


FORMATS: tuple[FileFormat, ...] = (RestFeed(),)
