"""Reports of z/VM's Performance Toolkit, as `homenode fcx` prints them, as performance reports
quote them, and as the Toolkit lists them itself.

A scenario holds the machine's type and cores, its partitions with cores, type, weight and cap, and
what they used: of a partition with z/VM by interval (PUCFGLOG, else SYSSUMLG), of others on the
whole (LPAR). Virtual machines (USER, else USTAT) are taken where no report tells of partitions.
What else reports show, of whatever number, is said and kept by `homenode import --tables`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode import _engine
from homenode.records.importing.facts import Facts, Quantity, Told, Took
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import Notice, head_text
from homenode.records.importing.shared.forms import FileFormat, text_of
from homenode.records.importing.shared.samples import Use, add_use
from homenode.records.importing.shared.words import counted, named_after

if TYPE_CHECKING:
    import polars as pl

_MOST_BYTES = 1 << 26
_HEADING = re.compile(
    r"^[1\f ]*FCX\d{3} +(CPU|Run|Data for) |\(From FCX\d{3}\b|<-- Device Descr\. -->", re.MULTILINE
)
_DATE = re.compile(r"(\d{4})/(\d\d)/(\d\d)")
_CLOCK = re.compile(r"(?<!\d)([01]?\d|2[0-3]):([0-5]\d):([0-5]\d(?:\.\d+)?)(?!\d)")
_TYPES = ("cp", "ifl", "ziip", "icf")
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - reports tell no day, nor a zone
_DAY = timedelta(days=1)
_TYPE = re.compile(r"\d{4}")
"""A machine's type."""
_LPAR, _USER, _USTAT, _PHYSLOG, _PRCLOG = "FCX126", "FCX112", "FCX114", "FCX302", "FCX304"
_CPU = "FCX100"
_LOGS = {
    "FCX299": ("Util %", None, "Online", "utilisation of z/VM's processors"),
    "FCX225": ("Pct Busy", "On-line", "On-line", "busy of z/VM's processors"),
}
"""Reports on the partition with z/VM by interval, the one that counts first: percent, of how many
processors (of one if none), how many there are, what it is.
"""
_SHOWN = {
    "FCX102": "SYSTEM",
    "FCX108": "DEVICE",
    "FCX113": "UPAGE",
    "FCX154": "SYSSET",
    "FCX176": "CTLUNIT",
    "FCX239": "PROCSUM",
    "FCX265": "LOCKLOG",
    "FCX287": "TOPOLOG",
    "FCX326": "LOCKACT",
}
"""Reports of which a scenario that is made of recordings holds nothing."""

Row = Mapping[str, str]


@dataclass(frozen=True)
class _Line:
    """A row of a report by column; what is blank is not there."""

    line: int
    cells: Row

    def number(self, column: str) -> float | None:
        """A figure that is not below zero; none if it is none."""
        try:
            value = float(self.cells.get(column, ""))
        except ValueError:
            return None
        return value if 0 <= value < float("inf") else None

    def whole(self, column: str) -> int:
        """A count; 0 if it is none."""
        return int(self.number(column) or 0)


class PerformanceToolkit:
    """All reports that are known, one or several in a file."""

    name = "Performance Toolkit"

    def recognises(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the content tells
        """See `FileFormat`."""
        return _HEADING.search(head_text(head)) is not None

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat`."""
        found = json.loads(_engine.read_fcx(text_of(source, _MOST_BYTES, facts)))
        for remark in found["remarks"]:
            facts.notices.append(Notice(remark["text"], source.at(remark["line"])))
        reading = _Reading(source, facts, found["found"]["reports"])
        what = reading.tell()
        facts.took.append(Took(source.file, self.name, what, found["dropped"] + reading.dropped))

    def write_tables(self, source: Input, folder: Path) -> list[Path]:
        """A Parquet file a report, as printed; figures as numbers, blanks as nothing."""
        found = json.loads(_engine.read_fcx(text_of(source, _MOST_BYTES, Facts())))
        written: list[Path] = []
        for report in found["found"]["reports"]:
            again = sum(path.stem.startswith(report["number"]) for path in written)
            path = folder / f"{report['number']}{f'-{again + 1}' if again else ''}.parquet"
            _frame(report).write_parquet(path)
            written.append(path)
        return written


def _frame(report: Mapping[str, Any]) -> pl.DataFrame:
    import polars as pl

    columns: dict[str, Any] = {"line": [row["line"] for row in report["rows"]]}
    for place, name in enumerate(report["columns"]):
        cells = [row["cells"][place] or None for row in report["rows"]]
        column = pl.Series(cells, dtype=pl.String)
        figures = column.cast(pl.Float64, strict=False)
        columns[name] = figures if figures.null_count() == column.null_count() else column
    return pl.DataFrame(columns)


@dataclass
class _Reading:
    """What is made of the reports of one file."""

    source: Input
    facts: Facts
    reports: list[dict[str, Any]]
    dropped: int = 0

    def tell(self) -> str:
        """Adds all facts; what was taken, in words."""
        for report in self.reports:
            if report["number"] in _SHOWN:
                name = f"{report['number']} {_SHOWN[report['number']]}"
                text = "no scenario that is imported holds anything of it; --tables keeps it"
                self._notice(f"{name} is only shown: {text}", report)
            elif report["number"] not in (_LPAR, _USER, _USTAT, _PHYSLOG, _PRCLOG, _CPU, *_LOGS):
                text = "is not known; nothing of it is taken, --tables keeps it"
                self._notice(f"{report['number']} {text}", report)
        partitions = list(_by_partition(self._rows(_LPAR)))
        zvm = self._log(partitions)
        if partitions:
            self._tell_partitions(partitions, zvm)
        elif zvm is None:
            self._tell_machines()
        if partitions or zvm:
            for number, name in ((_USER, "USER"), (_USTAT, "USTAT")):
                if any(self._rows(number)):
                    text = "virtual machines within a partition are left out; give"
                    self._notice(f"{text} {number} {name} by itself", self._report(number))
        if self._names_machine or partitions or zvm is not None or self._tells_machines:
            self._tell_system(partitions)
        rows = sum(len(report["rows"]) for report in self.reports)
        return f"{counted(rows, 'row')} of {counted(len(self.reports), 'report')}"

    @property
    def key(self) -> str:
        """The serial number, else the file's name stands for the machine."""
        told = (report["serial"] for report in self.reports)
        return next(filter(None, told), self.source.name.split(".")[0])

    @property
    def _tells_machines(self) -> bool:
        """Whether virtual machines of this file, and not only of others, are known: by the server
        that its name or its serial number stands for.
        """
        return any(system == self.key for system, _ in self.facts.partitions)

    @property
    def _names_machine(self) -> dict[str, Any] | None:
        """The report that tells the machine's type; of listings the title may have "CPU" too."""
        return next((one for one in self.reports if _TYPE.fullmatch(one["machine"])), None)

    def _notice(self, text: str, report: Mapping[str, Any] | None) -> None:
        line = report["line"] if report else None
        self.facts.notices.append(Notice(text, self.source.at(line)))

    def _report(self, number: str) -> dict[str, Any] | None:
        return next((one for one in self.reports if one["number"] == number), None)

    def _column(self, number: str, name: str) -> str:
        """The column of that name; where several have it, such as those of the vector facility,
        the name of their group stands before it, and the first is meant.
        """
        report = self._report(number)
        columns = report["columns"] if report else []
        return next((one for one in columns if one == name or one.endswith(f" {name}")), name)

    def _rows(self, number: str) -> Iterator[_Line]:
        """Rows of the reports of that number."""
        for report in self.reports:
            if report["number"] == number:
                for row in report["rows"]:
                    cells = zip(report["columns"], row["cells"], strict=True)
                    yield _Line(row["line"], {name: cell for name, cell in cells if cell})

    def _tell_system(self, partitions: list[_Line]) -> None:
        facts, system = self.facts, self.facts.system(self.key)
        named = self._names_machine
        where = self.source.at((named or self.reports[0])["line"])
        if named:
            facts.tell(system, "model", Told(named["machine"], where))
        facts.tell(system, "architecture", Told("s390x", where))
        guests = self._report(_USER) or self._report(_USTAT)
        virtual = not partitions and guests and not self._logged
        facts.tell(system, "hypervisor", Told("z/vm" if virtual else "pr/sm", where))
        physical = self._rows(_PHYSLOG)
        kind = [(row.cells.get("Pool") or row.cells.get("Type", ""), row) for row in physical]
        pools = dict(kind)
        shared = sum(row.whole("PU Num") for row in pools.values())
        if shared and partitions:
            own = sum(row.whole("#Proc") for row in partitions if row.cells.get("Weight") == "DED")
            line = next(iter(pools.values())).line
            facts.tell(system, "cores", Told(shared + own, self.source.at(line)))

    @property
    def _logged(self) -> bool:
        return any(any(self._rows(number)) for number in (*_LOGS, _PRCLOG, _CPU))

    def _tell_partitions(self, rows: list[_Line], logged: str | None) -> None:
        """Partitions of the machine; what one used is known better where it was logged."""
        used = []
        for row in rows:
            name, where = row.cells.get("Partition", ""), self.source.at(row.line)
            partition = self.facts.partition(self.key, name)
            cores, weight = row.whole("#Proc"), row.whole("Weight")
            if cores:
                self.facts.tell(partition, "virtual", Told(cores, where))
            if row.cells.get("Weight") == "DED":
                self.facts.tell(partition, "mode", Told("dedicated", where))
            elif weight:
                self.facts.tell(partition, "mode", Told("shared", where))
                self.facts.tell(partition, "weight", Told(weight, where))
            if row.cells.get("Cap") in ("YES", "NO"):
                self.facts.tell(partition, "capped", Told(row.cells["Cap"] == "YES", where))
            self._tell_type(name, row)
            for column in ("TypeCap", "GrpCapNm"):
                if column in row.cells:
                    text = f"{column} {row.cells[column]} of {name} is left out"
                    self.facts.notices.append(Notice(text, where))
            busy = row.number("%Busy")
            if busy is not None and name != logged:
                # Where each processor has a row of its own it is their sum already.
                many = 1 if "CPU" in row.cells else cores
                used.append((name, busy / 100.0 * many, row.line))
        self._add_whole(used, _LPAR, "physc", "%Busy of LPAR times its logical cores")

    def _tell_type(self, name: str, row: _Line) -> None:
        kind = row.cells.get("Type", "").lower()
        if kind in _TYPES:
            told: Told[object] = Told(kind, self.source.at(row.line))
            self.facts.tell(self.facts.partition(self.key, name), "core_type", told)

    def _log(self, partitions: list[_Line]) -> str | None:
        """The partition with z/VM and its use by interval; its name, none if no report is on it."""
        rows = {number: list(self._rows(number)) for number in (*_LOGS, _PRCLOG)}
        processors = rows[_PRCLOG] = self._processors(rows[_PRCLOG]) or list(self._loads())
        first = next((found[0] for found in rows.values() if found), None)
        if first is None:
            return None
        online = [
            found[0].whole(_LOGS[number][2])
            for number, found in rows.items()
            if found and number in _LOGS
        ]
        name = self._name_of_zvm(partitions, next(iter(online), _at_once(processors)), first)
        if name is None:
            return None
        partition = self.facts.partition(self.key, name)
        self.facts.tell(partition, "os", Told("z/vm", self.source.at(first.line)))
        for number, (_, of, count, _) in _LOGS.items():
            for row in rows[number][:1]:
                # SYSSUMLG counts logical processors, of which a core may have two.
                what = "virtual" if of is None else "logical"
                if row.whole(count):
                    told: Told[object] = Told(row.whole(count), self.source.at(row.line))
                    self.facts.tell(partition, what, told)
                self._tell_type(name, row)
        if processors:
            where = self.source.at(processors[0].line)
            self.facts.tell(partition, "logical", Told(_at_once(processors), where))
            self._tell_type(name, processors[0])
            if {row.cells.get("PPD") for row in processors} == {"Ded"}:
                self.facts.tell(partition, "mode", Told("dedicated", where))
        self._add_log(name, rows)
        return name

    def _processors(self, rows: list[_Line]) -> list[_Line]:
        """Rows of PRCLOG, one of each processor over all of the time, or by interval."""
        if rows and not any({"Total %", "Total"} & row.cells.keys() for row in rows):
            text = 'without a column "Total", how busy a processor was, is not taken'
            self._notice(f"FCX304 PRCLOG {text}; --tables keeps it", self._report(_PRCLOG))
            return []
        return rows

    def _loads(self) -> Iterator[_Line]:
        """Rows of CPU as those of PRCLOG."""
        for row in self._rows(_CPU):
            if "%CPU" in row.cells:
                kind = row.cells.get("TYPE", "")
                yield _Line(row.line, {"Type": kind, "Total %": row.cells["%CPU"]})

    def _add_processors(self, name: str, rows: list[_Line]) -> None:
        """Use of the partition with z/VM by its processors: at the end of each interval, or over
        all of the time.
        """
        if not any("Total %" in row.cells for row in rows):
            self._add_sums(name, rows)
            return
        total = sum((row.number("Total %") or 0.0) / 100.0 for row in rows)
        number, what = next(
            (number, what)
            for number, what in ((_PRCLOG, "Total % of PRCLOG"), (_CPU, "%CPU of CPU"))
            if any(self._rows(number))
        )
        self._add_whole([(name, total, rows[0].line)], number, "used", what)

    def _add_sums(self, name: str, rows: list[_Line]) -> None:
        """PRCLOG has a row a processor at the end of each interval: they are added."""
        sums: dict[str, tuple[float, int]] = {}
        for row in rows:
            end, busy = row.cells.get("Interval End Time"), row.number("Total")
            if end is None or busy is None or _moment(end, self._day) is None:
                self.dropped += 1
                continue
            before, line = sums.get(end, (0.0, row.line))
            sums[end] = (before + busy / 100.0, line)
        used: list[tuple[str, datetime, float, int]] = []
        for end, (cores, line) in sums.items():
            moment = self._after(used, end)
            if moment is not None:
                used.append((name, moment, cores, line))
        self._add(used, "used", "Total of PRCLOG, all processors")

    def _after(self, used: list[tuple[str, datetime, float, int]], text: str) -> datetime | None:
        """A time of day, on the day on which it follows those before it."""
        moment = _moment(text, self._day)
        while moment is not None and used and moment < used[-1][1] - _DAY / 2:
            moment += _DAY
        return moment

    def _add_log(self, name: str, rows: Mapping[str, list[_Line]]) -> None:
        """Use of the partition with z/VM, of the report that tells it best."""
        for number, (percent, of, _, what) in _LOGS.items():
            used: list[tuple[str, datetime, float, int]] = []
            busiest = self._column(number, percent)
            if rows[number] and not any(busiest in row.cells for row in rows[number]):
                text = f'has no column "{percent}"; nothing of it is taken, --tables keeps it'
                self._notice(f"{number} {text}", self._report(number))
                continue
            for row in rows[number]:
                busy, many = row.number(busiest), 1.0 if of is None else row.number(of)
                moment = self._after(used, row.cells.get("Interval End Time", ""))
                if busy is None or many is None or moment is None:
                    self.dropped += 1
                    continue
                used.append((name, moment, busy * many / 100.0, row.line))
            if used:
                self._add(used, "used", what)
                return
        if rows[_PRCLOG]:
            self._add_processors(name, rows[_PRCLOG])

    def _name_of_zvm(self, partitions: list[_Line], count: int, row: _Line) -> str | None:
        """Reports on a z/VM do not name its partition: the only one of that size, or where no
        others are told the file; none if it could be several.
        """
        if not partitions:
            return named_after(self.source.file)
        alike = [
            one.cells.get("Partition", "") for one in partitions if one.whole("#Proc") == count
        ]
        name = alike[0] if len(alike) == 1 else None
        text = f"these are taken for the processors of {name}, the only partition with {count}"
        if name is None:
            text = f"{len(alike)} partitions have {count} processors; whose these are is not told"
        self.facts.notices.append(Notice(text, self.source.at(row.line)))
        return name

    def _tell_machines(self) -> None:
        """Virtual machines of one z/VM, which stands for their server."""
        used = []
        for row in self._rows(_USER):
            name, busy = row.cells.get("Userid", ""), row.number("%CPU")
            if name and busy is not None:
                partition = self.facts.partition(self.key, name)
                if count := row.whole("CPUs"):
                    self.facts.tell(partition, "virtual", Told(count, self.source.at(row.line)))
                used.append((name, busy / 100.0, row.line))
        if used:
            self._add_whole(used, _USER, "physc", "%CPU of USER")
            return
        for row in self._rows(_USTAT):
            name, count, busy = row.cells.get("Userid", ""), row.whole("CPUs"), row.number("%RUN")
            if not count:
                self.dropped += 1
                continue
            partition = self.facts.partition(self.key, name)
            self.facts.tell(partition, "virtual", Told(count, self.source.at(row.line)))
            if busy is not None:
                used.append((name, busy / 100.0 * count, row.line))
        if not used and any(self._rows(_USTAT)):
            text = "without a column CPUs tells samples, not time; give FCX112 USER"
            self._notice(f"FCX114 USTAT {text}", self._report(_USTAT))
        self._add_whole(used, _USTAT, "physc", "%RUN of USTAT times its processors")

    @property
    def _day(self) -> datetime:
        """The day on which the times begin; the first there is where none is told."""
        told = (_dated(report["interval"][0]) for report in self.reports)
        return next(filter(None, told), _EPOCH)

    def _add_whole(
        self, used: list[tuple[str, float, int]], number: str, quantity: Quantity, what: str
    ) -> None:
        """Use over all of a report's time: one sample each."""
        report = self._report(number)
        told = report["interval"] if report else ("", "")
        begin, end = (_moment(text, self._day) for text in told)
        if begin is None or end is None:
            if used:
                self._notice("its interval is not told, what was used is left out", report)
                self.dropped += len(used)
            return
        end += _DAY if end <= begin else timedelta()
        length = (end - begin).total_seconds()
        rows = [(name, end, cores, line) for name, cores, line in used]
        self._add(rows, quantity, what, length)

    def _add(
        self,
        rows: list[tuple[str, datetime, float, int]],
        quantity: Quantity,
        what: str,
        seconds: float | None = None,
    ) -> None:
        import polars as pl

        if not rows:
            return
        table = pl.DataFrame(rows, schema=["name", "time", "cores", "line"], orient="row")
        table = table.with_columns(pl.col("time").cast(pl.Datetime("us")))
        if seconds is not None:
            table = table.with_columns(pl.lit(seconds).alias("seconds"))
        added = add_use(self.facts, self.source, self.key, Use(table, quantity, what))
        self.dropped += added.dropped


def _by_partition(rows: Iterator[_Line]) -> Iterator[_Line]:
    """A row a partition. The Toolkit's own LPAR has one for each processor, the first of which
    tells the partition; their %Busy is added.
    """
    last: _Line | None = None
    for row in rows:
        if "Partition" in row.cells:
            if last is not None:
                yield last
            last = row
        elif last is not None:
            busy = (last.number("%Busy") or 0.0) + (row.number("%Busy") or 0.0)
            last = _Line(last.line, {**row.cells, **last.cells, "%Busy": str(busy)})
    if last is not None:
        yield last


def _at_once(processors: list[_Line]) -> int:
    """Processors, each of which may have a row at the end of each interval."""
    ends = [row.cells.get("Interval End Time") for row in processors]
    return ends.count(ends[0]) if ends else 0


def _moment(text: str, day: datetime) -> datetime | None:
    """A time of day, on the day that stands before it, else on that one."""
    told = _CLOCK.search(text)
    if told is None:
        return None
    hours, minutes, seconds = int(told[1]), int(told[2]), float(told[3])
    since = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return (_dated(text) or day) + since


def _dated(text: str) -> datetime | None:
    """The day that a text tells, if it is one."""
    told = _DATE.search(text)
    try:
        year, month, day = (int(part) for part in told.groups()) if told else (0, 0, 0)
        return datetime(year, month, day) if told else None  # noqa: DTZ001
    except ValueError:
        return None


FORMATS: tuple[FileFormat, ...] = (PerformanceToolkit(),)
