r"""Counters as Windows' performance monitor and VMware's `esxtop -b` write them: CSV (or TSV) whose
first heading is `(PDH-CSV 4.0) (zone)(minutes)`, and whose others are counters:
`\\host\object(instance)\name`.

Of ESXi the time for which groups of virtual machines ran, of Hyper-V that of virtual processors, of
Windows alone its busy processors.
"""

from __future__ import annotations

import codecs
import csv
import datetime as dt
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homenode.errors import listed
from homenode.records.importing.facts import Beside, Facts, Told, Took
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, Notice, head_text
from homenode.records.importing.shared.forms import FileFormat
from homenode.records.importing.shared.samples import PIECE, Use, add_use
from homenode.records.importing.shared.servers import NO_SERVER
from homenode.records.importing.shared.words import counted

if TYPE_CHECKING:
    import polars as pl

_BEGIN = re.compile(r'\A\ufeff?\s*"?\(PDH-([CT])SV 4\.0\)')
_HEADING = re.compile(r'^\ufeff?\s*"?\(PDH-[CT]SV 4\.0\)')
_ZONE = re.compile(r"\((-?\d{1,4})\)")
_MB = 1 << 20
_LONGEST_LINE = 16 << 20
_MOST_REMARKS = 20
_TIMES = ("%m/%d/%Y %H:%M:%S.%f", "%m/%d/%Y %H:%M:%S")
_NUMBERED = re.compile(r"(?:\d+,)?\d+$")
_VIRTUAL = re.compile(r"^(.*?):Hv VP \d+$", re.IGNORECASE)
_WORLD = re.compile(r"^(\d+):(.*):\d+:vmx-vcpu-\d+", re.IGNORECASE)
_GROUP = re.compile(r"^(\d+):(.*)$")
_RUN = ("% run", "% used")
"""Time on processors; `% Used` is that at nominal clock, with what the kernel did for it."""
_OWN = ("% processor time",)
_SWITCHES = "context switches/sec"


@dataclass(frozen=True)
class _Counter:
    """A column."""

    place: int
    host: str
    object: str
    instance: str
    name: str


@dataclass
class _Target:
    """What is used by one partition or host, as the columns of one heading tell it."""

    name: str
    host: str | None
    """Of a virtual machine its host."""
    places: list[int]
    factor: float = 1.0
    """Cores of all these columns together at 100 %."""
    processors: int | None = None
    memory: int | None = None
    """Column of its memory [MB]."""
    switches: int | None = None
    """Column of its switches of threads [1/s]."""


class PdhCsv:
    """Both programs' tables."""

    name = "PDH CSV"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        return bool(_BEGIN.match(head_text(head)))

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat.read`."""
        _Reading(source, facts).read()


class _Reading:
    """What is made of one file."""

    def __init__(self, source: Input, facts: Facts) -> None:
        self.source, self.facts = source, facts
        found = _BEGIN.match(head_text(source.head))
        self.delimiter = "\t" if found and found[1] == "T" else ","
        self.rows: dict[str | None, list[tuple[str, dt.datetime, float, int]]] = {}
        self.switches: dict[str, list[tuple[dt.datetime, float]]] = {}
        self.dropped = self.remarked = 0
        self.ahead_s: float | None = None
        """How far the clock was ahead of UTC when the recording began, as the last heading says."""
        self.unknown: list[str] = []

    def read(self) -> None:
        """Line by line; a heading comes again where files were put together."""
        targets: list[_Target] = []
        width = 0
        for line, text in _lines(self.source):
            if not text.strip():
                continue
            try:
                cells = next(csv.reader([text], delimiter=self.delimiter))
            except csv.Error as fault:
                self._drop(line, str(fault))
                continue
            if _HEADING.match(text):
                width = len(cells)
                zone = _ZONE.search(cells[0])
                self.ahead_s = None if zone is None else -60.0 * int(zone[1])
                targets = self._targets([_counter(*one) for one in enumerate(cells)][1:], line)
                continue
            self._row(cells, width, targets, line)
        self._add()

    def _row(self, cells: Sequence[str], width: int, targets: Sequence[_Target], line: int) -> None:
        moment = _moment(cells[0])
        # Programs end rows with a comma, or leave the last counters out where they stopped.
        if moment is None or len(cells) > width + 1:
            return self._drop(line, "no time" if moment is None else f"{len(cells)} cells")
        sound = False
        for target in targets:
            values = [_number(cells[place]) for place in target.places if place < len(cells)]
            if len(values) < len(target.places) or None in values:
                continue
            sound = True
            cores = sum(value or 0.0 for value in values) / 100 * target.factor
            self.rows.setdefault(target.host, []).append((target.name, moment, cores, line))
            self._facts_of(target, cells, moment, line)
        # The first row of rates is blank.
        said = [_cell(cells, place).strip() for one in targets for place in one.places]
        if any(said) and not sound:
            self._drop(line, "no number under the counters that are read")
        return None

    def _facts_of(
        self, target: _Target, cells: Sequence[str], moment: dt.datetime, line: int
    ) -> None:
        partition = self.facts.partition(target.host, target.name)
        size = None if target.memory is None else _number(_cell(cells, target.memory))
        if size and partition.memory_bytes is None:
            told: Told[object] = Told(round(size * _MB), self.source.at(line))
            self.facts.tell(partition, "memory_bytes", told)
        rate = None if target.switches is None else _number(_cell(cells, target.switches))
        if rate is not None:
            self.switches.setdefault(target.name, []).append((moment, rate))

    def _drop(self, line: int, why: str) -> None:
        self.dropped += 1
        self.remarked += 1
        if self.remarked <= _MOST_REMARKS:
            text = f"the row is left out: {why}"
            self.facts.notices.append(Notice(text, self.source.at(line)))

    def _targets(self, counters: Sequence[_Counter], line: int) -> list[_Target]:
        known = [one for one in counters if one.name]
        self.unknown = self.unknown or [f"{one.object}\\{one.name}" for one in known[:5]]
        machines = _of_esx(known) or _of_hyperv(known)
        if not machines:
            return self._hosts(known, line)
        for target in machines:
            self._tell_machine(target, known, line)
        return machines

    def _tell_machine(self, target: _Target, known: Sequence[_Counter], line: int) -> None:
        """Facts of a virtual machine and its host."""
        where = self.source.at(line)
        host = self.facts.system(target.host or "")
        is_esx = any(one.object == "group cpu" for one in known)
        self.facts.tell(host, "architecture", Told("x86_64", where))
        self.facts.tell(host, "hypervisor", Told("vmware" if is_esx else "virtual machine", where))
        own = [one for one in known if one.host == target.host]
        logical = {one.instance for one in own if one.object == "physical cpu"} - {"_total"}
        logical = {one for one in logical if one.isdecimal()}
        threads = 2 if any(one.name == "% core util time" for one in own) else 1
        if logical:
            self.facts.tell(host, "cores", Told(len(logical) // threads or 1, where))
            self.facts.tell(host, "threads_per_core", Told(threads, where))
        partition = self.facts.partition(target.host, target.name)
        self.facts.tell(partition, "hypervisor", Told("virtual machine", where))
        if target.processors:
            self.facts.tell(partition, "virtual", Told(target.processors, where))

    def _hosts(self, known: Sequence[_Counter], line: int) -> list[_Target]:
        """Systems that count their own processors."""
        targets = []
        for host in dict.fromkeys(one.host for one in known):
            own = [one for one in known if one.host == host and one.name in _OWN]
            for kind in ("processor information", "processor"):
                every = {one.instance: one.place for one in own if one.object == kind}
                single = [place for name, place in every.items() if _NUMBERED.match(name)]
                target = self._host(host, single, every.get("_total"), line)
                if target is not None:
                    rates = (one for one in known if one.host == host and one.name == _SWITCHES)
                    target.switches = next((one.place for one in rates), None)
                    targets.append(target)
                    break
        return targets

    def _host(self, host: str, single: list[int], total: int | None, line: int) -> _Target | None:
        where = self.source.at(line)
        if not single and total is None:
            return None
        partition = self.facts.partition(None, host)
        self.facts.tell(partition, "os", Told("windows", where))
        if self.facts.system(NO_SERVER).architecture is None:
            text = "Windows is taken to run on x86-64, which its counters do not tell"
            self.facts.notices.append(Notice(text, where))
            self.facts.system(NO_SERVER).architecture = Told("x86_64", where)
        if single:
            self.facts.tell(partition, "logical", Told(len(single), where))
            return _Target(host, None, single)
        told = self.facts.processors
        if told is None:
            text = f"{host} counts all its processors together, not how many there are: no cores"
            self.facts.notices.append(Notice(f"{text}; --cpus N tells", where))
            return None
        logical: Told[object] = Told(told.value, told.where)
        self.facts.tell(partition, "logical", logical)
        return _Target(host, None, [total or 0], float(told.value))

    def _add(self) -> None:
        import polars as pl

        what = []
        for host, rows in self.rows.items():
            schema = ["name", "time", "cores", "line"]
            table = pl.DataFrame(rows, schema=schema, orient="row")
            table = table.with_columns(pl.col("time").cast(pl.Datetime("us")))
            use = Use(table, "used", _note(host), self.ahead_s)
            added = add_use(self.facts, self.source, host, use)
            self.dropped += added.dropped
            kind = "system" if host is None else "virtual machine"
            on = "" if host is None else f" on {host}"
            what.append(f"{added.samples} samples of {counted(added.names, kind)}{on}")
        for name, rates in self.switches.items():
            self.facts.beside.append(Beside(name, None, _rates(rates), self.source.file, "perfmon"))
        if not what:
            said = [one.text for one in self.facts.notices if "--cpus" in one.text]
            raise ListingError(
                said[0] if said else "none of its counters tells the use of processors",
                there=f"it has {listed(self.unknown)}" if self.unknown and not said else None,
                where=self.source.at(),
                next_step="log Processor(*) % Processor Time with English names, or all of esxtop",
            )
        self.facts.took.append(Took(self.source.file, PdhCsv.name, "; ".join(what), self.dropped))


def _note(host: str | None) -> str:
    return "busy time of processors" if host is None else "time that virtual processors ran"


def _rates(rates: Sequence[tuple[dt.datetime, float]]) -> pl.DataFrame:
    import polars as pl

    frame = pl.DataFrame(rates, schema=["time", "context_switches_per_s"], orient="row")
    frame = frame.with_columns(pl.col("time").cast(pl.Datetime("us")))
    frame = frame.unique("time", keep="first").sort("time")
    seconds = (pl.col("time").diff().dt.total_microseconds() / 1e6).alias("seconds")
    return frame.with_columns(seconds).filter(pl.col("seconds") > 0)


def _of_esx(known: Sequence[_Counter]) -> list[_Target]:
    """Groups that have virtual processors or memory of their own: those of the kernel have none."""
    vcpus: dict[tuple[str, str], int] = {}
    for one in known:
        world = _WORLD.match(one.instance) if one.object == "vcpu" else None
        if world and one.name in _RUN[:1]:
            key = (one.host, f"{world[1]}:{world[2]}")
            vcpus[key] = vcpus.get(key, 0) + 1
    memory = {
        (one.host, one.instance): one.place
        for one in known
        if one.object == "group memory" and one.name == "memory size mbytes"
    }
    targets: dict[tuple[str, str], _Target] = {}
    for name in _RUN:
        for one in known:
            key = (one.host, one.instance)
            group = _GROUP.match(one.instance)
            is_own = key in vcpus or key in memory
            if one.object == "group cpu" and one.name == name and group and is_own:
                target = _Target(group[2], one.host, [one.place], 1.0, vcpus.get(key))
                target.memory = memory.get(key)
                targets.setdefault(key, target)
    names = [(target.host, target.name) for target in targets.values()]
    for (_, instance), target in targets.items():
        if names.count((target.host, target.name)) > 1:
            target.name = f"{target.name}-{instance.split(':')[0]}"
    return list(targets.values())


def _of_hyperv(known: Sequence[_Counter]) -> list[_Target]:
    """Virtual machines by their virtual processors."""
    targets: dict[tuple[str, str], _Target] = {}
    for one in known:
        is_processor = one.object == "hyper-v hypervisor virtual processor"
        machine = _VIRTUAL.match(one.instance)
        if is_processor and one.name == "% total run time" and machine:
            target = targets.setdefault((one.host, machine[1]), _Target(machine[1], one.host, []))
            target.places.append(one.place)
            target.processors = len(target.places)
    return list(targets.values())


def _counter(place: int, heading: str) -> _Counter:
    """A heading taken apart; names in lower case, but for hosts and instances."""
    parts = heading.strip().removeprefix("\\\\").split("\\")
    if len(parts) < 3:
        return _Counter(place, "", "", "", "")
    host, inner, name = parts[0], "\\".join(parts[1:-1]), parts[-1]
    kind, _, instance = inner.partition("(")
    plain = instance.removesuffix(")")
    is_name = _GROUP.match(plain) or _VIRTUAL.match(plain)
    return _Counter(place, host, kind.lower(), plain if is_name else plain.lower(), name.lower())


def _lines(source: Input) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, each bounded, in UTF-8, UTF-16 or Latin-1."""
    wide = source.head.startswith((b"\xff\xfe", b"\xfe\xff"))
    decoder = codecs.getincrementaldecoder("utf-16" if wide else "utf-8")("replace")
    rest, number = "", 0
    with source.open() as stream:
        while piece := stream.read(PIECE):
            *whole, rest = (rest + decoder.decode(piece)).split("\n")
            for line in whole:
                number += 1
                yield number, line.replace("\r", "")
            if len(rest) > _LONGEST_LINE:
                raise ListingError(
                    "a line is longer than any of these", where=source.at(number + 1)
                )
    if rest.strip():
        yield number + 1, rest.replace("\r", "")


def _cell(cells: Sequence[str], place: int) -> str:
    return cells[place] if place < len(cells) else ""


def _number(text: str) -> float | None:
    try:
        value = float(text.replace(",", ".") if text.count(",") == 1 else text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value < 1e12 else None


def _moment(text: str) -> dt.datetime | None:
    for form in _TIMES:
        try:
            return dt.datetime.strptime(text.strip(), form)  # noqa: DTZ007 - the host's own clock
        except ValueError:
            continue
    return None


FORMATS: tuple[FileFormat, ...] = (PdhCsv(),)
