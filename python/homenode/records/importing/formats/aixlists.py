"""What AIX lists of itself and its server: `prtconf` (`lsconf`) and `lsattr -El` of `sys0`, `proc0`
and `mem0`, alone, one after another, or in a session beside reports.

AIX counts one processor device for each virtual processor, or for each core of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from homenode import _engine
from homenode.errors import Where
from homenode.records.importing.facts import Facts, PartitionFacts, SystemFacts, Told, Took
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import head_text
from homenode.records.importing.shared.forms import FileFormat, text_of
from homenode.records.importing.shared.servers import NO_SERVER, to_the_only_server
from homenode.records.importing.shared.words import named_after, number, size, unsound, whole

_MOST_BYTES = 16 << 20
_KB, _MB = 1 << 10, 1 << 20
_LABELLED = re.compile(
    r"^(System Model|Machine Serial Number|Processor Type|Number Of Processors|LPAR Info"
    r"|Processor Clock Speed|Memory Size|Good Memory Size|Processor Implementation Mode)"
    r": +(\S.*?)\s*$",
    re.MULTILINE,
)
_ATTRIBUTE = re.compile(
    r"^(modelname|systemid|ent_capacity|max_capacity|min_capacity|variable_weight|realmem"
    r"|smt_enabled|smt_threads|type|frequency|size)[ \t]+(\S+)[ \t]+(\S.*?)[ \t]+(?:True|False)$",
    re.MULTILINE,
)
_MEANING = {"type": "Processor type", "frequency": "Processor Speed", "size": "Total amount"}
"""How descriptions begin where attributes of other devices have the same name."""
_FEWEST = 2
_MOST_LINES = 1_000
_SERIAL_LENGTH = 7
_NO_NAME = ("NULL", "-")


@dataclass(frozen=True)
class _Line:
    """A value with its label."""

    label: str
    value: str
    place: int


def _lines(text: str) -> Iterator[_Line]:
    """In the order of the text."""
    found = [_Line(one[1], one[2], one.start()) for one in _LABELLED.finditer(text)]
    found += [
        _Line(one[1], one[2], one.start())
        for one in _ATTRIBUTE.finditer(text)
        if one[3].startswith(_MEANING.get(one[1], ""))
    ]
    # The number of threads is told also where they are switched off.
    off = any(line.label == "smt_enabled" and line.value == "false" for line in found)
    kept = [line for line in found if not (off and line.label == "smt_threads")]
    yield from sorted(kept, key=lambda line: line.place)


def holds_lists(head: bytes) -> bool:
    """Whether a text begins with such lists, or has some beside reports."""
    labels = {line.label for line in _lines(head_text(head).replace("\r", ""))}
    return len(labels) >= _FEWEST


class AixLists:
    """Lists without a report."""

    name = "prtconf"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`; a session with a report belongs to that."""
        del name
        return holds_lists(head) and _engine.recognise_text(head) is None

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat.read`."""
        text = text_of(source, _MOST_BYTES, facts).replace("\r", "")
        what, dropped = tell_lists(source, facts, text, None)
        facts.afterwards.append(lambda: to_the_only_server(facts))
        facts.took.append(Took(source.file, self.name, what, dropped))


def tell_lists(
    source: Input, facts: Facts, text: str, owner: PartitionFacts | None
) -> tuple[str, int]:
    """Add what lists in a text say; in words what it is, and how many values are not sound. The
    partition is `owner`, if a report beside them names it.
    """
    every = list(_lines(text))
    lines = {line.place: text.count("\n", 0, line.place) + 1 for line in every[:_MOST_LINES]}

    def at(line: _Line) -> Where:
        return source.at(lines.get(line.place))

    serial = next((_serial(line) for line in every if _serial(line)), None)
    partition = owner or facts.partition(serial, name_of(text) or named_after(source.file))
    system = facts.system(NO_SERVER if partition.system is None else partition.system)
    reader = _Lists(facts, partition, system, at)
    for line in every:
        reader.take(line)
    first = every[0]
    reader.tell(reader.system, "architecture", "power", first)
    reader.tell(partition, "os", "aix", first)
    if partition.number is not None:
        reader.tell(reader.system, "hypervisor", "powervm", first)
    tools = {"lsattr" if line.label.islower() else "prtconf" for line in every}
    return f"{' and '.join(sorted(tools))} of {partition.name}", reader.dropped


def name_of(text: str) -> str | None:
    """The partition's name, where `LPAR Info` tells one."""
    told = re.search(r"^LPAR Info: +\d+ +(\S+)\s*$", text, re.MULTILINE)
    return told[1] if told and told[1] not in _NO_NAME else None


def _serial(line: _Line) -> str | None:
    if line.label == "Machine Serial Number":
        return line.value if line.value.isalnum() else None
    return line.value[-_SERIAL_LENGTH:] if line.label == "systemid" else None


class _Lists:
    """Takes facts out of lines."""

    def __init__(
        self,
        facts: Facts,
        partition: PartitionFacts,
        system: SystemFacts,
        at: Callable[[_Line], Where],
    ) -> None:
        self.facts, self.partition, self.system, self.at = facts, partition, system, at
        self.dropped = 0

    def tell(
        self, of: PartitionFacts | SystemFacts, attribute: str, value: object, line: _Line
    ) -> None:
        """Tell an attribute."""
        self.facts.tell(of, attribute, Told(value, self.at(line)))

    def take(self, line: _Line) -> None:
        """One value; what is no size is told and left out."""
        value, label = line.value, line.label
        texts = {"System Model": "model", "modelname": "model"}
        if label in texts:
            self.tell(self.system, texts[label], value.removeprefix("IBM,"), line)
        elif label in ("Processor Type", "type"):
            self.tell(self.system, "processor", value.removeprefix("PowerPC_"), line)
        elif label == "LPAR Info":
            told = whole(value.split()[0])
            if told:
                self.tell(self.partition, "number", told, line)
        elif label == "smt_enabled":
            if value == "false":
                self.tell(self.partition, "smt", 1, line)
        elif label in _AMOUNTS:
            of, attribute, read = _AMOUNTS[label]
            amount = read(value)
            if amount is None or amount <= 0:
                self.dropped += 1
                self.facts.notices.append(unsound(label, value, self.at(line)))
            elif of == "limit":
                of_all = self.partition
                limits = of_all.maximum if label == "max_capacity" else of_all.minimum
                limits.setdefault(attribute, Told(float(amount), self.at(line)))
            else:
                target = self.system if of == "system" else self.partition
                self.tell(target, attribute, amount, line)
                if label == "ent_capacity" and self.partition.weight is None:
                    self._shared(line)

    def _shared(self, line: _Line) -> None:
        """An entitlement that is no whole number is one of shared processors."""
        entitled = self.partition.entitlement
        if entitled is not None and entitled.value != int(entitled.value):
            self.tell(self.partition, "mode", "shared", line)


def _kilobytes(text: str) -> int | None:
    told = whole(text)
    return None if told is None else told * _KB


def _megabytes(text: str) -> int | None:
    told = whole(text)
    return None if told is None else told * _MB


def _megahertz(text: str) -> float | None:
    told = number(text.removesuffix("MHz"))
    return None if told is None else told * 1e6


_AMOUNTS: dict[str, tuple[str, str, Callable[[str], float | None]]] = {
    "Number Of Processors": ("partition", "virtual", whole),
    "Processor Clock Speed": ("system", "clock_hz", _megahertz),
    "frequency": ("system", "clock_hz", number),
    "Memory Size": ("partition", "memory_bytes", size),
    "realmem": ("partition", "memory_bytes", _kilobytes),
    "size": ("partition", "memory_bytes", _megabytes),
    "smt_threads": ("partition", "smt", whole),
    "ent_capacity": ("partition", "entitlement", number),
    "variable_weight": ("partition", "weight", whole),
    "max_capacity": ("limit", "entitlement", number),
    "min_capacity": ("limit", "entitlement", number),
}
"""Of whom each is, its attribute, and how it is read."""
FORMATS: tuple[FileFormat, ...] = (AixLists(),)
