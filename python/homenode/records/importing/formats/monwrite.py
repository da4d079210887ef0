"""Files of z/VM's MONWRITE: where z/VM runs, what its processors did by interval, what its virtual
machines were charged, and which partitions are beside it.

Of the monitor records those are read whose fields are known: the system's configuration (domain 1,
record 4), each processor's times (domain 0, record 2), partitions (domain 0, records 15 and 16) and
virtual processors (domain 4, record 3). Whether they are laid out as they are read is checked by
what they add up to.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from homenode import _engine
from homenode.records.importing.facts import Facts, PartitionFacts, Quantity, Told, Took
from homenode.records.importing.formats.monwritebeside import (
    PartitionOf,
    Row,
    machines_of,
    partitions_of,
)
from homenode.records.importing.formats.monwritetimes import Span, moment, seconds, spans_of
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, Notice
from homenode.records.importing.shared.forms import FileFormat
from homenode.records.importing.shared.samples import Added, Use, add_use
from homenode.records.importing.shared.words import counted

_MOST_BYTES = 1 << 30
_FRAME, _MESSAGE, _HEADER = 4096, 40, 20
_DOMAINS = 10
_TYPES = {"CP": "cp", "IFL": "ifl", "ICF": "icf", "ZIIP": "ziip", "IIP": "ziip"}


class Monwrite:
    """Frames of 4096 bytes, one that tells of those behind it first."""

    name = "MONWRITE"

    def recognises(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the content tells
        """See `FileFormat`."""
        if len(head) < 2 * _FRAME:
            return False
        first, last = struct.unpack_from(">II", head, _MESSAGE + 4)
        at = _FRAME + first % _FRAME
        length, zeros, domain = struct.unpack_from(">HHB", head[: 3 * _FRAME] + bytes(8), at)
        fits = _HEADER <= length <= _FRAME - first % _FRAME
        return bool(0 < first < last and fits and zeros == 0 and domain <= _DOMAINS)

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat`."""
        found = json.loads(_engine.read_monwrite(source.read(_MOST_BYTES)))
        for remark in found["remarks"]:
            text = f"frame {remark['line']}: {remark['text']}"
            facts.notices.append(Notice(text, source.at()))
        reading = _Reading(source, facts, found["found"])
        what, dropped = reading.tell()
        facts.took.append(Took(source.file, self.name, what, found["dropped"] + dropped))


@dataclass
class _Reading:
    """What is made of one file."""

    source: Input
    facts: Facts
    recording: Mapping[str, Any]

    def tell(self) -> tuple[str, int]:
        """Adds all facts; what was taken, and how many samples were left out."""
        told = self.recording["configuration"]
        stem = self.source.name.split(".")[0]
        key = told["serial"] or stem if told else stem
        name = told["partition"] or "zvm" if told else "zvm"
        if told:
            self._tell_system(key, told)
        self._tell_partition(key, name, told)
        spans, lost = spans_of(self.recording["processors"])
        records, seen = self.recording["records"], len(self.recording["processors"])
        if not spans:
            raise ListingError(
                "no interval in which the times of all processors add up",
                asked=f"{counted(records, 'record')}, {seen} of processors",
                where=self.source.at(),
                next_step="record two intervals at least; other releases may lay records out "
                "in another way, and processors that are parked or held up for a part of an "
                "interval do not add up: give reports of the Performance Toolkit",
            )
        self.facts.notices.extend(Notice(text, self.source.at()) for text in lost.told())
        rows = [
            (name, moment(one.end), one.worked / one.ticks, seconds(one.ticks), 0) for one in spans
        ]
        note = "user and system time of z/VM's processors"
        added = [add_use(self.facts, self.source, key, _use(rows, "used", note))]
        beside = self._tell_beside(key, told["partition"] if told else "", spans)
        added += [] if beside is None else [beside]
        self._tell_inside(self.facts.partition(key, name), spans)
        both = Added(*(sum(part) for part in zip(*map(astuple, added), strict=True)))
        return f"{both} in {counted(records, 'record')}", lost.intervals + both.dropped

    def _tell_system(self, key: str, told: Mapping[str, Any]) -> None:
        facts, system, where = self.facts, self.facts.system(key), self.source.at()
        facts.tell(system, "model", Told(f"{told['machine']} {told['model']}".strip(), where))
        facts.tell(system, "architecture", Told("s390x", where))
        facts.tell(system, "hypervisor", Told("pr/sm", where))

    def _tell_partition(self, key: str, name: str, told: Mapping[str, Any] | None) -> None:
        facts, where = self.facts, self.source.at()
        partition = facts.partition(key, name)
        facts.tell(partition, "os", Told("z/vm", where))
        if told and told["logical"]:
            facts.tell(partition, "virtual", Told(told["logical"], where))
        if told and (told["dedicated"] or told["shared"]):
            mode = "dedicated" if told["dedicated"] and not told["shared"] else "shared"
            facts.tell(partition, "mode", Told(mode, where))

    def _tell_inside(self, partition: PartitionFacts, spans: Sequence[Span]) -> None:
        """Virtual machines of z/VM."""
        found, why = machines_of(self.recording["users"], spans, self.source.at())
        if why is not None:
            self.facts.notices.append(Notice(why, self.source.at()))
        if not partition.machines:
            partition.machines = found

    def _tell_beside(self, key: str, own: str, spans: Sequence[Span]) -> Added | None:
        """Partitions of the machine, and what those without this z/VM used."""
        facts, where = self.facts, self.source.at()
        if self.recording["physical"]:
            facts.tell(facts.system(key), "cores", Told(self.recording["physical"], where))
        found, rows, why = partitions_of(self.recording["partitions"], spans, own)
        if why is not None:
            facts.notices.append(Notice(why, where))
        for one in found:
            self._tell_one(facts.partition(key, one.name), one)
        note = "time for which PR/SM gave its logical processors one"
        return add_use(facts, self.source, key, _use(rows, "physc", note)) if rows else None

    def _tell_one(self, partition: PartitionFacts, one: PartitionOf) -> None:
        facts, where = self.facts, self.source.at()
        told: list[tuple[str, object]] = [("number", one.number), ("virtual", one.logical)]
        told += [("core_type", _TYPES[one.kind])] if one.kind in _TYPES else []
        told += [("weight", one.weight)] if one.weight else []
        for attribute, value in told:
            facts.tell(partition, attribute, Told(value, where))
        if one.others:
            text = f"{one.name} has processors of several types; {', '.join(one.others)}: left out"
            facts.notices.append(Notice(text, where))


def _use(rows: Sequence[Row], quantity: Quantity, note: str) -> Use:
    import polars as pl

    names = ["name", "time", "cores", "seconds", "line"]
    table = pl.DataFrame(rows, schema=names, orient="row")
    return Use(table.with_columns(pl.col("time").cast(pl.Datetime("us"))), quantity, note, 0.0)


FORMATS: tuple[FileFormat, ...] = (Monwrite(),)
