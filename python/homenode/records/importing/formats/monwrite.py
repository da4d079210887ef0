"""Files of z/VM's MONWRITE: where z/VM runs and what its processors did by interval.

Of the monitor records two are read, whose fields are known: the system's configuration (domain 1,
record 4) and each processor's times (domain 0, record 2). That they are laid out as they are read
is checked: what a processor worked and waited must add up to the time between two records.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from homenode import _engine
from homenode.records.importing.facts import Facts, Told, Took
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, Notice
from homenode.records.importing.shared.forms import FileFormat
from homenode.records.importing.shared.samples import Use, add_use
from homenode.records.importing.shared.words import counted

_MOST_BYTES = 1 << 30
_FRAME, _MESSAGE, _HEADER = 4096, 40, 20
_DOMAINS = 10
_TICKS_PER_US = 4096
_EPOCH = datetime(1900, 1, 1, tzinfo=UTC)
_SUM = 0.05
"""How far times of a processor may be from the time between its records, as a share of it."""

Ticks = tuple[int, int, int, int]
"""When, worked for users, worked for nobody, waited [4096ths of a microsecond]."""


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
        rows, odd = self._rows(name)
        records, seen = self.recording["records"], len(self.recording["processors"])
        if not rows:
            raise ListingError(
                "no processor's times add up over an interval",
                asked=f"{counted(records, 'record')}, {seen} of processors",
                where=self.source.at(),
                next_step="record two intervals at least; other releases may lay records out "
                "in another way: give reports of the Performance Toolkit",
            )
        if odd:
            text = f"times of {counted(odd, 'processor record')} do not add up; they are left out"
            self.facts.notices.append(Notice(text, self.source.at()))
        added = add_use(self.facts, self.source, key, self._use(rows))
        return f"{added} in {counted(records, 'record')}", odd + added.dropped

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

    def _use(self, rows: list[tuple[str, datetime, float, float, int]]) -> Use:
        import polars as pl

        names = ["name", "time", "cores", "seconds", "line"]
        table = pl.DataFrame(rows, schema=names, orient="row")
        table = table.with_columns(pl.col("time").cast(pl.Datetime("us")))
        return Use(table, "used", "user and system time of z/VM's processors", 0.0)

    def _rows(self, name: str) -> tuple[list[tuple[str, datetime, float, float, int]], int]:
        """A row an interval, and how many records were left out."""
        before: dict[int, Ticks] = {}
        rows, odd = [], 0
        for interval in self._intervals():
            cores, longest, end = 0.0, 0, 0
            for address, now in interval.items():
                then = before.get(address)
                used = None if then is None else _used(then, now)
                odd += then is not None and used is None
                if then is not None and used is not None:
                    cores += used
                    longest, end = max(longest, now[0] - then[0]), max(end, now[0])
            before.update(interval)
            if longest:
                moment = _EPOCH + timedelta(microseconds=end // _TICKS_PER_US)
                seconds = longest / _TICKS_PER_US / 1e6
                rows.append((name, moment.replace(tzinfo=None), cores, seconds, 0))
        return rows, odd

    def _intervals(self) -> Iterator[dict[int, Ticks]]:
        """Records of processors, by their addresses, interval by interval."""
        number, found = None, dict[int, Ticks]()
        for one in self.recording["processors"]:
            if one["interval"] != number and found:
                yield found
                found = {}
            number = one["interval"]
            found[one["address"]] = (one["time_of_day"], one["user"], one["system"], one["wait"])
        if found:
            yield found


def _used(then: Ticks, now: Ticks) -> float | None:
    """Part of a processor that was used between two records; none if its times don't add up."""
    elapsed, user, system, wait = (after - before for before, after in zip(then, now, strict=True))
    if elapsed <= 0 or min(user, system, wait) < 0:
        return None
    return (
        (user + system) / elapsed if abs(user + system + wait - elapsed) <= _SUM * elapsed else None
    )


FORMATS: tuple[FileFormat, ...] = (Monwrite(),)
