"""`/proc/sysinfo` of Linux on IBM Z, as a file or in a dump: the machine, the partition and, under
z/VM, the virtual machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from homenode import _engine
from homenode.errors import Where
from homenode.records.importing.facts import Facts, PartitionFacts, SystemFacts, Told, Took
from homenode.records.importing.formats.topology import load_json
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import Source, head_text, source_of
from homenode.records.importing.opening.trees import Tree
from homenode.records.importing.shared.forms import FileFormat, TreeFormat, text_of
from homenode.records.importing.shared.words import unread

_FORM = "/proc/sysinfo"
_PATH = "proc/sysinfo"
_MOST_BYTES = 1 << 20
_MACHINE = re.compile(r"^Type: +\w", re.MULTILINE)
_REST = re.compile(r"^(?:CPUs Total|LPAR Number): +\d", re.MULTILINE)

At = Callable[[int | None], Where]


def _found(text: str, at: At) -> tuple[Any, int, Any]:
    try:
        return load_json(_engine.read_sysinfo(text), at)
    except _engine.CaptureError as fault:
        raise unread(fault, at) from fault


@dataclass
class SysInfoFile:
    """`/proc/sysinfo` recorded as a file of its own."""

    name: str = _FORM

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        text = head_text(head)
        return bool(_MACHINE.search(text)) and bool(_REST.search(text))

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat.read`."""
        found = _found(text_of(source, _MOST_BYTES, facts), source.at)
        _tell(found, source.file, source.at, facts)


@dataclass
class SysInfoOfTree:
    """The file in a dump."""

    name: str = _FORM

    def recognises(self, tree: Tree) -> bool:
        """See `TreeFormat.recognises`."""
        return _PATH in tree.files

    def read(self, tree: Tree, facts: Facts) -> None:
        """See `FileFormat.read`."""

        def at(line: int | None) -> Where:
            return tree.at(_PATH, line)

        decoded: Source = source_of(str(tree.at(_PATH)), tree.files[_PATH])
        _tell(_found(decoded.text, at), str(tree.at(_PATH)), at, facts)


def _tell(found: tuple[Any, int, Any], file: str, at: At, facts: Facts) -> None:
    info, dropped, notices = found
    facts.notices.extend(notices)
    machine = _Section(info["machine"], at)
    levels = [_Section(one, at) for one in [info["partition"], *info["virtual_machines"]]]
    named = [one for one in levels if one.text("Name")]
    serial = machine.text("Sequence Code") or "IBM Z"
    system = _tell_machine(machine, serial, facts)
    what = [f"machine {system.model.value if system.model else serial}"]
    if named:
        inner = named[-1]
        outer = named[-2] if len(named) > 1 else None
        partition = _tell_innermost(inner, outer, serial, facts)
        what.append(f"{'virtual machine' if outer else 'partition'} {partition.name}")
    facts.took.append(Took(file, _FORM, ", ".join(what), dropped))


def _tell_machine(machine: _Section, serial: str, facts: Facts) -> SystemFacts:
    system = facts.system(serial)
    kind = machine.text("Type")
    if kind is not None:
        hardware = (machine.text("Model") or "").split()
        model = " ".join([kind, *hardware[-1:]])
        facts.tell(system, "model", Told(model, machine.where("Type")))
    facts.tell(system, "architecture", Told("s390x", machine.where("Type")))
    for label, attribute in (("CPUs Total", "installed_cores"), ("CPUs Configured", "cores")):
        count = machine.count(label)
        if count:
            facts.tell(system, attribute, Told(count, machine.where(label)))
    facts.tell(system, "hypervisor", Told("pr/sm", machine.where("Type")))
    return system


def _tell_innermost(
    inner: _Section, outer: _Section | None, serial: str, facts: Facts
) -> PartitionFacts:
    """The partition the text was read in, or the virtual machine; then the partition around it is
    its server.
    """
    key = serial
    if outer is not None:
        key = f"{serial} {outer.text('Name')}"
        host = facts.system(key)
        facts.tell(host, "architecture", Told("s390x", outer.where("Name")))
        told = facts.systems[serial].model
        if told is not None:
            facts.tell(host, "model", Told(told.value, told.where))
        program = inner.text("Control Program") or "z/vm"
        facts.tell(host, "hypervisor", Told(program.split()[0].lower(), inner.where("Name")))
        count = outer.count("CPUs Configured")
        if count:
            facts.tell(host, "cores", Told(count, outer.where("CPUs Configured")))
        del facts.systems[serial]
    partition = facts.partition(key, inner.text("Name") or "")
    facts.tell(partition, "os", Told("linux", inner.where("Name")))
    number = inner.count("Number")
    if number is not None:
        facts.tell(partition, "number", Told(number, inner.where("Number")))
    configured = inner.count("CPUs Configured")
    if configured:
        facts.tell(partition, "virtual", Told(configured, inner.where("CPUs Configured")))
    _tell_sharing(inner, partition, facts)
    return partition


def _tell_sharing(inner: _Section, partition: PartitionFacts, facts: Facts) -> None:
    shared, dedicated = inner.count("CPUs Shared"), inner.count("CPUs Dedicated")
    if shared is not None and dedicated is not None and shared + dedicated > 0:
        mode = "shared" if shared else "dedicated"
        facts.tell(partition, "mode", Told(mode, inner.where("CPUs Shared")))
    words = (inner.text("Characteristics") or "").split()
    if words:
        limited = "Limited" in words
        facts.tell(partition, "capped", Told(limited, inner.where("Characteristics")))


class _Section:
    """Lines of one part of the text."""

    def __init__(self, given: Mapping[str, Any], at: At) -> None:
        self._texts: Mapping[str, str] = given["texts"]
        self._lines: Mapping[str, int] = given["lines"]
        self._at = at

    def text(self, label: str) -> str | None:
        """What a label says, if it says something."""
        return self._texts.get(label) or None

    def count(self, label: str) -> int | None:
        """The whole number behind a label; None where there is none."""
        text = self._texts.get(label, "")
        return int(text) if text.isdecimal() else None

    def where(self, label: str) -> Where:
        """The line of a label."""
        return self._at(self._lines.get(label))


FORMATS: tuple[FileFormat, ...] = (SysInfoFile(),)
TREE_FORMATS: tuple[TreeFormat, ...] = (SysInfoOfTree(),)
