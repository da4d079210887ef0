"""`virsh domstats`, once or again and again: domains with their processors and memory, and what
they used between two looks.

Its counters tell no time. A line with one (`date +%s`, `date -Is`, `date`) stands before each look,
or there is no use.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from homenode.records.importing.facts import Facts, Told, Took
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, Notice, head_text
from homenode.records.importing.shared.forms import FileFormat, text_of
from homenode.records.importing.shared.objects import amount
from homenode.records.importing.shared.samples import Use, add_use, on_one_clock
from homenode.records.importing.shared.words import counted

_MOST_BYTES = 1 << 28
_DOMAIN = re.compile(r"^Domain: '(.{1,200}?)'\s*$")
_FIRST = re.compile(
    r"^Domain: '.+'\s*\n\s+(?:state|cpu|vcpu|balloon|block|net|dirtyrate|iothread|perf|memory)\.",
    re.MULTILINE,
)
_PAIR = re.compile(r"\s*([a-z][\w.+-]*)=(\S*)$")
_VCPU = re.compile(r"vcpu\.(\d{1,5})\.time$")
_EPOCH = re.compile(r"\d{10}(?:\.\d+|\d{3})?$")
_DATES = ("%a %b %d %H:%M:%S %Y", "%a %d %b %H:%M:%S %Y", "%a %d %b %Y %I:%M:%S %p")
_ZONE = re.compile(r" (?:[A-Z]{2,5}|[+-]\d{2,4})(?= \d{4}$|$)")
_UTC = re.compile(r"\b(?:UTC|GMT|Z)\b|[+-]00:?(?:00)?\b")
_KIB = 1024
_RUNNING = 1
_MOST_REMARKS = 20


@dataclass
class _Look:
    """A domain in one look."""

    name: str
    line: int
    moment: dt.datetime | None
    values: dict[str, float] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    @property
    def times(self) -> Mapping[int, float]:
        """Nanoseconds of each virtual processor, or of the whole domain under -1."""
        found = {
            int(match[1]): value
            for name, value in self.values.items()
            if (match := _VCPU.match(name))
        }
        whole = self.values.get("cpu.time")
        return found or ({} if whole is None else {-1: whole})


class DomainStats:
    """Looks of `virsh domstats`."""

    name = "virsh domstats"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        return bool(_FIRST.search(head_text(head)))

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat.read`."""
        reading = _Reading(source, facts)
        looks = list(reading.looks(text_of(source, _MOST_BYTES, facts)))
        if not any(look.values for look in looks):
            raise ListingError("it tells nothing of its domains", where=source.at())
        moments, reading.ahead_s = on_one_clock([look.moment for look in looks])
        for look, moment in zip(looks, moments, strict=True):
            look.moment = moment
        by_name: dict[str, list[_Look]] = {}
        for look in looks:
            by_name.setdefault(look.name, []).append(look)
        for every in by_name.values():
            reading.tell(every)
        what = counted(len(by_name), "domain")
        taken = reading.use(by_name)
        what = f"{taken} of {what}" if taken else f"{what}, no use"
        facts.took.append(Took(source.file, self.name, what, reading.dropped))


class _Reading:
    """What is made of one file."""

    def __init__(self, source: Input, facts: Facts) -> None:
        self.source, self.facts = source, facts
        self.dropped = 0
        self.ahead_s: float | None = None

    def looks(self, text: str) -> Iterator[_Look]:
        """Domains in the order of the text, each with the moment of its look."""
        moment: dt.datetime | None = None
        look: _Look | None = None
        names: set[str] = set()
        for number, line in enumerate(text.splitlines(), 1):
            domain = _DOMAIN.match(line)
            pair = _PAIR.match(line)
            if domain:
                # A domain that comes again begins a look whose moment nothing tells.
                moment, names = (None, set()) if domain[1] in names else (moment, names)
                names.add(domain[1])
                if look is not None:
                    yield look
                look = _Look(domain[1], number, moment)
            elif pair and look is not None:
                value = amount(pair[2])
                if value is not None:
                    look.values.setdefault(pair[1], value)
                    look.lines.setdefault(pair[1], number)
                elif _VCPU.match(pair[1]) or pair[1] == "cpu.time":
                    self._drop(number, f"{pair[1]} is no number")
            elif (told := _moment(line.strip())) is not None:
                moment, names = told, set()
        if look is not None:
            yield look

    def _drop(self, line: int, why: str) -> None:
        self.dropped += 1
        if self.dropped <= _MOST_REMARKS:
            self.facts.notices.append(Notice(f"left out: {why}", self.source.at(line)))

    def tell(self, looks: list[_Look]) -> None:
        """Facts of a domain, as its last look tells them."""
        last = looks[-1]
        partition = self.facts.partition(None, last.name)
        counts = {"vcpu.current": ("virtual", 1), "balloon.current": ("memory_bytes", _KIB)}
        for name, (attribute, unit) in counts.items():
            value = last.values.get(name, 0.0)
            if value >= 1:
                told: Told[object] = Told(round(value) * unit, self.source.at(last.lines[name]))
                if attribute == "virtual":
                    self.facts.tell(partition, "logical", told)
                if getattr(partition, attribute) is None:
                    self.facts.tell(partition, attribute, told)
        for name, attribute in (("vcpu.maximum", "virtual"), ("balloon.maximum", "memory_bytes")):
            telling = [look for look in looks if look.values.get(name, 0.0) >= 1]
            if telling:
                unit = _KIB if attribute == "memory_bytes" else 1
                value, line = telling[-1].values[name], telling[-1].lines[name]
                told_most = Told(value * unit, self.source.at(line))
                partition.maximum.setdefault(attribute, told_most)
        if "state.state" in last.values:
            where = self.source.at(last.lines["state.state"])
            running = round(last.values["state.state"]) == _RUNNING
            self.facts.tell(partition, "running", Told(running, where))
        here = self.source.at(last.line)

        def guess() -> None:
            # XML of the same domain tells whose guest it is.
            if partition.hypervisor is None:
                partition.hypervisor = Told("virtual machine", here)
            most = partition.maximum.get("memory_bytes")
            if partition.memory_bytes is None and most is not None:
                partition.memory_bytes = Told(round(most.value), most.where)
                text = f"{last.name}: no balloon.current to go by, its memory is balloon.maximum"
                self.facts.notices.append(Notice(text, most.where))

        self.facts.afterwards.append(guess)

    def use(self, by_name: Mapping[str, list[_Look]]) -> str:
        """Add what was used between looks; in words how much that is."""
        import polars as pl

        rows = []
        timeless = None
        for name, looks in by_name.items():
            for before, after in pairwise(looks):
                if before.moment is None or after.moment is None:
                    timeless = timeless or after
                    continue
                seconds = (after.moment - before.moment).total_seconds()
                same = before.times.keys() & after.times.keys()
                more = [after.times[one] - before.times[one] for one in same]
                if seconds <= 0 or not more or min(more) < 0:
                    why = "the clock goes back" if seconds <= 0 else "counters go back, or none"
                    self._drop(after.line, f"{name}: {why}")
                    continue
                cores = sum(more) / 1e9 / seconds
                rows.append((name, after.moment, seconds, cores, after.line))
        if timeless is not None or not rows:
            text = (
                "nothing tells when its looks were taken: no use; write date +%s before each"
                if timeless
                else "one look tells no use: take several, with date +%s before each"
            )
            where = self.source.at(timeless.line if timeless else None)
            self.facts.notices.append(Notice(text, where))
        if not rows:
            return ""
        schema = ["name", "time", "seconds", "cores", "line"]
        table = pl.DataFrame(rows, schema=schema, orient="row")
        table = table.with_columns(pl.col("time").cast(pl.Datetime("us")))
        note = "differences of the time of virtual processors, over that between looks"
        added = add_use(self.facts, self.source, None, Use(table, "used", note, self.ahead_s))
        self.dropped += added.dropped
        return counted(added.samples, "sample")


def _moment(line: str) -> dt.datetime | None:
    """A time that stands alone in its line, with its zone where that is told."""
    if _EPOCH.match(line):
        seconds = float(line) if "." in line or len(line) == 10 else float(line) / 1000
        return dt.datetime.fromtimestamp(seconds, dt.UTC)
    if not 15 <= len(line) <= 40:
        return None
    try:
        return dt.datetime.fromisoformat(line)
    except ValueError:
        pass
    plain = " ".join(_ZONE.sub("", line).split())
    for form in _DATES:
        try:
            moment = dt.datetime.strptime(plain, form)  # noqa: DTZ007 - clocks of hosts
        except ValueError:
            continue
        return moment.replace(tzinfo=dt.UTC) if _UTC.search(line) else moment
    return None


FORMATS: tuple[FileFormat, ...] = (DomainStats(),)
