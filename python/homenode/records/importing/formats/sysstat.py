"""Recordings of sysstat for programs: JSON and XML of `sadf` (`-j`, `-x`), JSON of `mpstat` and of
`iostat` (`-o JSON`).

Their figures are those of sar's text. Use is all time but idle, waiting for I/O and stolen time, of
all processors together.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from homenode import _engine
from homenode.records.importing.facts import Beside, Facts, Told, Took
from homenode.records.importing.formats.aixfacts import tell_architecture
from homenode.records.importing.formats.topology import MOST_BYTES, PROLOGUE, load_json
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, Notice, head_text
from homenode.records.importing.shared.forms import FileFormat, text_of
from homenode.records.importing.shared.objects import Objects, amount
from homenode.records.importing.shared.samples import Use, add_use, on_one_clock
from homenode.records.importing.shared.words import unread

_JSON = re.compile(r'\A\s*\{\s*"sysstat"\s*:\s*\{')
_XML = re.compile(PROLOGUE + r"<sysstat[\s>]", re.DOTALL)
_SAMPLE = re.compile(r'\{\s*"(?:timestamp|avg-cpu|cpu-load)"\s*:')
_HEADER = re.compile(
    r'"(nodename|machine|number-of-cpus|file-date|date)"\s*:\s*(?:"([^"\n]{0,200})"|(\d{1,6}))'
)
_STATES = {
    "user": ("user", "usr"),
    "sys": ("system", "sys"),
    "wait": ("iowait",),
    "idle": ("idle",),
}
_BUSY = ("user", "usr", "nice", "system", "sys", "irq", "soft", "guest", "gnice")
_DATES = ("%Y-%m-%d", "%m/%d/%y", "%m/%d/%Y", "%d.%m.%Y")
_TIMES = ("%H:%M:%S", "%I:%M:%S %p")
_MOST_PROCESSORS = 65_536
_LONGEST_S = 1e7
_APART_S = 1.0
_DAY = dt.timedelta(days=1)
_UNDATED = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - clocks of recordings tell no zone


@dataclass
class _Sample:
    """What one interval tells."""

    line: int
    stamp: object
    """As it is written: an object of date, time and interval, or a text."""
    shares: Mapping[str, float]
    """Percent by state, of all processors; empty if it does not tell."""
    rows: int
    """Single processors that it tells of."""
    switches: float | None = None
    is_iostat: bool = False


@dataclass
class _Host:
    """A host with its samples."""

    name: str
    line: int
    told: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Texts of its heading, with their lines."""
    samples: list[_Sample] = field(default_factory=list)


@dataclass
class SysstatFormat:
    """A form of these recordings."""

    name: str
    begins: re.Pattern[str]
    hosts: Callable[[Input, Facts], tuple[list[_Host], int]]
    """All hosts of a file, and how much of it was not sound."""

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        return bool(self.begins.match(head_text(head)))

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat.read`."""
        hosts, dropped = self.hosts(source, facts)
        what = []
        for host in hosts:
            told, lost = _Reading(source, facts, host).tell(self.name)
            what += told
            dropped += lost
        if not what:
            raise ListingError(
                "it tells no use of processors",
                where=source.at(),
                next_step="on its host: sadf -j FILE -- -u -w -P ALL",
            )
        facts.took.append(Took(source.file, self.name, "; ".join(what), dropped))


def _of_json(source: Input, facts: Facts) -> tuple[list[_Host], int]:
    """Headings stand before the samples of their host."""
    text = text_of(source, MOST_BYTES, facts)
    objects, found = Objects(text, _SAMPLE), [_Host("", 1)]
    place, lines = 0, 1
    for start, line, one in objects:
        _heading(text[place:start], lines, found)
        place, lines = start, line
        found[-1].samples.append(_of_object(one, line))
    broken = "a sample that is no sound JSON is left out"
    facts.notices.extend(Notice(broken, source.at(at)) for at in objects.broken)
    return [host for host in found if host.samples], len(objects.broken)


def _heading(text: str, line: int, hosts: list[_Host]) -> None:
    """Take what stands between two samples, which begins at a line."""
    for match in _HEADER.finditer(text):
        key, at = match[1], line + text.count("\n", 0, match.start())
        value = match[2] if match[2] is not None else match[3]
        if key == "nodename":
            hosts.append(_Host(value, at))
        hosts[-1].told.setdefault(key.removeprefix("file-"), (value, at))


def _of_object(one: Mapping[str, object], line: int) -> _Sample:
    rows = one.get("cpu-load", one.get("cpu-load-all"))
    every = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    means = one.get("avg-cpu")
    is_iostat = isinstance(means, dict)
    shares, count = _shares(every, "cpu") if not isinstance(means, dict) else (_numbers(means), 0)
    counts = one.get("process-and-context-switch")
    switches = amount(counts.get("cswch")) if isinstance(counts, dict) else None
    return _Sample(line, one.get("timestamp"), shares, count, switches, is_iostat)


def _shares(rows: Iterable[Mapping[str, object]], key: str) -> tuple[dict[str, float], int]:
    """Shares of all processors, of their own row or as the mean of theirs; how many rows there are
    of single ones.
    """
    whole: dict[str, float] = {}
    single = []
    for row in rows:
        numbers = _numbers({name: value for name, value in row.items() if name != key})
        if row.get(key) in ("all", "-1", -1):
            whole = numbers
        else:
            single.append(numbers)
    if not whole and single:
        names = set.intersection(*(set(one) for one in single))
        whole = {name: sum(one[name] for one in single) / len(single) for name in sorted(names)}
    return whole, len(single)


def _numbers(told: Mapping[str, object]) -> dict[str, float]:
    found = {name: amount(value) for name, value in told.items()}
    return {name: value for name, value in found.items() if value is not None}


def _of_xml(source: Input, facts: Facts) -> tuple[list[_Host], int]:
    """Elements `host` with their `timestamp`s."""
    try:
        answer = _engine.read_xml(text_of(source, MOST_BYTES, facts))
    except _engine.CaptureError as fault:
        raise unread(fault, source.at) from fault
    roots, dropped, notices = load_json(answer, source.at)
    facts.notices.extend(notices)
    return [_host(one) for root in roots for one in _named(root, "host")], dropped


def _named(element: Mapping[str, Any], *names: str) -> Iterator[Mapping[str, Any]]:
    """Elements of these names, however deep."""
    for child in element["children"]:
        if child["name"] in names:
            yield child
        else:
            yield from _named(child, *names)


def _host(element: Mapping[str, Any]) -> _Host:
    host = _Host(dict(element["attributes"]).get("nodename", ""), element["line"])
    for child in element["children"]:
        key = str(child["name"]).removeprefix("file-")
        host.told.setdefault(key, (str(child["text"]), child["line"]))
    for one in _named(element, "timestamp"):
        rows = [
            dict(row["attributes"])
            for load in _named(one, "cpu-load", "cpu-load-all")
            for row in load["children"]
        ]
        shares, count = _shares(rows, "number")
        counts = next(_named(one, "process-and-context-switch"), None)
        switches = None if counts is None else amount(dict(counts["attributes"]).get("cswch"))
        stamp = dict(one["attributes"])
        host.samples.append(_Sample(one["line"], stamp, shares, count, switches))
    return host


class _Reading:
    """What is made of one host."""

    def __init__(self, source: Input, facts: Facts, host: _Host) -> None:
        self.source, self.facts, self.host = source, facts, host
        self.partition = facts.partition(None, host.name or source.name.split(".")[0])
        self.dropped = 0
        self.ahead_s: float | None = None

    def tell(self, form: str) -> tuple[list[str], int]:
        """Add facts, use and switches; what it is in words, and how many samples were not sound."""
        import polars as pl

        samples = self._samples()
        count = self._processors(samples)
        uses, switches = [], []
        for sample, (end, seconds) in zip(samples, self._times(samples), strict=True):
            if end is None:
                self.dropped += 1
                continue
            busy = [sample.shares[name] for name in _BUSY if name in sample.shares]
            if busy and count and sum(busy) <= 100 + len(busy):
                cores = {
                    state: max(sample.shares.get(name, 0.0) for name in names) / 100 * count
                    for state, names in _STATES.items()
                }
                row = {"time": end, "seconds": seconds, "cores": sum(busy) / 100 * count}
                uses.append({"name": self.partition.name, **row, "line": sample.line, **cores})
            elif sample.switches is None:
                self.dropped += 1
            if sample.switches is not None and seconds:
                rate = {"context_switches_per_s": sample.switches}
                switches.append({"time": end, "seconds": seconds, **rate})
        what = []
        if uses:
            table = pl.DataFrame(uses).with_columns(pl.col("time").cast(pl.Datetime("us")))
            if table["seconds"].null_count():
                table = table.drop("seconds")
            note = f"busy shares of {count} logical processors"
            added = add_use(self.facts, self.source, None, Use(table, "used", note, self.ahead_s))
            self.dropped += added.dropped
            what.append(f"{added.samples} samples of {self.partition.name}")
        if switches:
            frame = pl.DataFrame(switches).with_columns(pl.col("time").cast(pl.Datetime("us")))
            frame = frame.unique("time", keep="first").sort("time")
            told = Beside(self.partition.name, None, frame, self.source.file, form)
            self.facts.beside.append(told)
        return what, self.dropped

    def _samples(self) -> list[_Sample]:
        """Without iostat's first report, which is of all time since the start of the system."""
        every = self.host.samples
        where = self.source.at(every[0].line if every else None)
        is_since = bool(every) and every[0].is_iostat
        if len(every) == 1:
            text = "one sample only: it may be the mean since the system started"
            self.facts.notices.append(Notice(text, where))
        elif is_since:
            text = "iostat's first report is of all time since the system started: left out"
            self.facts.notices.append(Notice(text, where))
        return every[1:] if is_since and len(every) > 1 else every

    def _processors(self, samples: list[_Sample]) -> int | None:
        """As the heading tells, else as many as have rows; facts are told besides."""
        told, line = self.host.told.get("number-of-cpus", ("", self.host.line))
        count = int(told) if told.isdecimal() and 0 < int(told) <= _MOST_PROCESSORS else 0
        if not count:
            counted = max(samples, key=lambda one: one.rows, default=None)
            count, line = (counted.rows, counted.line) if counted else (0, line)
        told_aside = self.facts.processors
        where = self.source.at(line)
        if not count and told_aside is not None:
            count, where = told_aside.value, told_aside.where
        self.facts.tell(self.partition, "os", Told("linux", where))
        if count:
            self.facts.tell(self.partition, "logical", Told(count, where))
        machine, line = self.host.told.get("machine", ("", 0))
        tell_architecture({"architecture": machine, "line": line}, self.facts, self.source.at)
        return count or None

    def _times(self, samples: list[_Sample]) -> list[tuple[dt.datetime | None, float | None]]:
        """End and length of each; no end where a time cannot be read."""
        day, is_dated = self._day()
        if all(sample.stamp is None for sample in samples):
            text = f"no times are told: samples are taken as {_APART_S:g} s apart from 1970 on"
            self.facts.notices.append(Notice(text, self.source.at()))
            step = dt.timedelta(seconds=_APART_S)
            return [(_UNDATED + step * (place + 1), _APART_S) for place in range(len(samples))]
        found: list[tuple[dt.datetime | None, float | None]] = []
        last = None
        for sample in samples:
            told, seconds, whole = _moment(sample.stamp, day)
            end = None if told is None else told.replace(tzinfo=None)
            zone = None if told is None else told.tzinfo
            if end is not None and not whole and last is not None:
                while end < last - _DAY / 2:
                    day, end = day + _DAY, end + _DAY
            last = end if end is not None else last
            found.append((None if end is None else end.replace(tzinfo=zone), seconds))
        if not is_dated and last is not None and last.year == _UNDATED.year:
            text = "no date is told: days count from 1970-01-01"
            self.facts.notices.append(Notice(text, self.source.at(self.host.line)))
        ends, self.ahead_s = on_one_clock([end for end, _ in found])
        return [(end, seconds) for end, (_, seconds) in zip(ends, found, strict=True)]

    def _day(self) -> tuple[dt.datetime, bool]:
        text, _ = self.host.told.get("date", ("", 0))
        day = _parsed(text, _DATES)
        return (day or _UNDATED, day is not None)


def _moment(stamp: object, day: dt.datetime) -> tuple[dt.datetime | None, float | None, bool]:
    """End, length and whether a date was told; no end if it cannot be read or is of no length."""
    if isinstance(stamp, dict):
        date, time = _parsed(stamp.get("date"), _DATES), _parsed(stamp.get("time"), _TIMES)
        seconds = amount(stamp.get("interval"))
        if time is None or seconds is None or not 0 < seconds < _LONGEST_S:
            return None, None, False
        zone = dt.UTC if str(stamp.get("utc")) == "1" else None
        return _together(date or day, time).replace(tzinfo=zone), seconds, date is not None
    if not isinstance(stamp, str):
        return None, None, False
    try:
        return dt.datetime.fromisoformat(stamp), None, True
    except ValueError:
        pass
    plain = stamp.removesuffix(" UTC")
    first, _, rest = plain.partition(" ")
    date = _parsed(first, _DATES)
    time = _parsed(rest if date else plain, _TIMES)
    if time is None:
        return None, None, False
    zone = None if plain == stamp else dt.UTC
    return _together(date or day, time).replace(tzinfo=zone), None, date is not None


def _together(day: dt.datetime, time: dt.datetime) -> dt.datetime:
    return dt.datetime.combine(day.date(), time.time())


def _parsed(text: object, forms: Iterable[str]) -> dt.datetime | None:
    for form in forms if isinstance(text, str) else ():
        try:
            return dt.datetime.strptime(str(text), form)  # noqa: DTZ007 - clocks tell no zone
        except ValueError:
            continue
    return None


FORMATS: tuple[FileFormat, ...] = (
    SysstatFormat("sysstat JSON", _JSON, _of_json),
    SysstatFormat("sysstat XML", _XML, _of_xml),
)
