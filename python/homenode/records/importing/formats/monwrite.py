"""Files of z/VM's MONWRITE: where z/VM runs and what its processors did by interval.

Of the monitor records two are read, whose fields are known: the system's configuration (domain 1,
record 4) and each processor's times (domain 0, record 2). That they are laid out as they are read
is checked: what a processor worked and waited must add up to the time between two records.

Times are 8 bytes each, of which IBM's description of the record does not say for all that they
count up: that of emulation (not read) starts high and counts down. Time never goes back, so the
sign of a difference tells which way the system time counts; the sum is checked either way. A
processor that is parked, or that PR/SM takes away, for a part of an interval may not add up either.
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
        rows, lost = self._rows(name)
        records, seen = self.recording["records"], len(self.recording["processors"])
        if not rows:
            raise ListingError(
                "no interval in which the times of all processors add up",
                asked=f"{counted(records, 'record')}, {seen} of processors",
                where=self.source.at(),
                next_step="record two intervals at least; other releases may lay records out "
                "in another way, and processors that are parked or held up for a part of an "
                "interval do not add up: give reports of the Performance Toolkit",
            )
        self.facts.notices.extend(Notice(text, self.source.at()) for text in lost.told())
        added = add_use(self.facts, self.source, key, self._use(rows))
        return f"{added} in {counted(records, 'record')}", lost.intervals + added.dropped

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

    def _rows(self, name: str) -> tuple[list[tuple[str, datetime, float, float, int]], _Lost]:
        """A row for each interval of which all processors are known; what of others was wrong."""
        rows, lost = [], _Lost()
        before: dict[int, Ticks] = {}
        for interval in self._intervals():
            then, before = before, interval
            if not then:
                continue
            if then.keys() != interval.keys():
                lost.changed += 1
                continue
            end = max(now[0] for now in interval.values())
            span = end - max(one[0] for one in then.values())
            shares = [_used(then[one], now, span) for one, now in interval.items()]
            odd = sum(share is None for share in shares)
            if odd or all(then[one][1:] == now[1:] for one, now in interval.items()):
                lost.odd += odd or len(shares)
                lost.unsure += 1
                continue
            moment = _EPOCH + timedelta(microseconds=end // _TICKS_PER_US)
            seconds = span / _TICKS_PER_US / 1e6
            cores = sum(share for share in shares if share is not None)
            rows.append((name, moment.replace(tzinfo=None), cores, seconds, 0))
        return rows, lost

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


@dataclass
class _Lost:
    """Intervals without a row: a sum that lacks a processor would tell too little use."""

    changed: int = 0
    """Intervals at whose two ends not the same processors have records."""
    unsure: int = 0
    """Intervals with processors whose times do not add up."""
    odd: int = 0
    """Records of such processors."""

    @property
    def intervals(self) -> int:
        return self.changed + self.unsure

    def told(self) -> Iterator[str]:
        """What is said of them."""
        if self.unsure:
            yield (
                f"times of {counted(self.odd, 'processor record')} do not add up: "
                f"{counted(self.unsure, 'interval')} left out"
            )
        if self.changed:
            yield (
                "processors came, went or lack a record: "
                f"{counted(self.changed, 'interval')} left out"
            )


def _used(then: Ticks, now: Ticks, span: int) -> float | None:
    """Part of an interval for which a processor was used; none if its times don't add up to it.

    One whose times all stand still, as a parked one's may, was not used.
    """
    elapsed, user, system, wait = (after - before for before, after in zip(then, now, strict=True))
    system = abs(system)
    if span <= 0 or abs(elapsed - span) > _SUM * span or min(user, wait) < 0:
        return None
    if user + system + wait == 0:
        return 0.0
    adds_up = abs(user + system + wait - elapsed) <= _SUM * elapsed
    return (user + system) / elapsed if adds_up else None


FORMATS: tuple[FileFormat, ...] = (Monwrite(),)
