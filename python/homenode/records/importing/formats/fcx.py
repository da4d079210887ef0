"""Reports of z/VM's Performance Toolkit, as `homenode fcx` prints them, as performance reports
quote them, and as the Toolkit lists them itself.

A scenario holds the machine's type and cores, its partitions with cores, type, weight and cap, and
what they used: of a partition with z/VM by interval (PUCFGLOG, else SYSSUMLG), of others on the
whole (LPAR). Virtual machines (USER) are those of the partition with z/VM where its processors are
told too; they (else those of USTAT) are taken alone where no report tells of partitions.
What else reports show, of whatever number, is said and kept by `homenode import --tables`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode import _engine
from homenode.records.importing.facts import Facts, PartitionFacts, Quantity, Told, Took
from homenode.records.importing.formats.fcxmachines import machines_of, percent_of, users_of
from homenode.records.importing.formats.fcxprocessors import (
    Together,
    by_interval,
    by_report,
    own_cores,
    polarizations,
)
from homenode.records.importing.formats.fcxtimes import Line, Times, strange_date
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
_TYPES = ("cp", "ifl", "ziip", "icf")
_POLARIZATIONS = ("vertical", "horizontal")
_UNPARKING = ("large", "medium", "small")
_MOST_PAD = 10000.0
"""CPUPAD that a scenario can have [%]."""
_TYPE = re.compile(r"\d{4}")
"""A machine's type."""
_SERIAL = re.compile(r"[0-9A-Fa-f]+")
"""A machine's serial number; what stands there otherwise hides or lacks it."""
_LPAR, _USER, _USTAT, _PHYSLOG, _PRCLOG = "FCX126", "FCX112", "FCX114", "FCX302", "FCX304"
_CPU, _SYSSET = "FCX100", "FCX154"
_LOGS = {
    "FCX299": ("Util %", None, "Online", "utilisation of z/VM's processors"),
    "FCX225": ("Pct Busy", "On-line", "On-line", "busy of z/VM's processors"),
}
"""Reports on the partition with z/VM by interval, the one that counts first: percent, of how many
processors (of one if none), how many there are, what it is.
"""
_TAKEN = (_LPAR, _USER, _USTAT, _PHYSLOG, _PRCLOG, _CPU, _SYSSET, *_LOGS)
_SHOWN = {
    "FCX102": "SYSTEM",
    "FCX108": "DEVICE",
    "FCX113": "UPAGE",
    "FCX176": "CTLUNIT",
    "FCX239": "PROCSUM",
    "FCX265": "LOCKLOG",
    "FCX287": "TOPOLOG",
    "FCX326": "LOCKACT",
}
"""Reports of which a scenario that is made of recordings holds nothing."""


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
        reports, left = _of_first(found["found"]["reports"])
        dropped = found["dropped"] + sum(len(report["rows"]) for report in left)
        for serial in dict.fromkeys(report["serial"] for report in left):
            where = source.at(next(one["line"] for one in left if one["serial"] == serial))
            text = f"reports of another system, SER {serial}, are left out: those of SER"
            text += f" {_serial(reports)} come first; import a file with those of {serial} alone"
            facts.notices.append(Notice(text, where))
        reading = _Reading(source, facts, reports)
        what = reading.tell()
        facts.took.append(Took(source.file, self.name, what, dropped + reading.dropped))

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


def _serial(reports: list[dict[str, Any]]) -> str | None:
    """The first serial number that is told."""
    told = (report["serial"] or "" for report in reports)
    return next(filter(_SERIAL.fullmatch, told), None)


def _of_first(reports: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Reports of the system that is told first, with those that tell none; and those of others."""
    first = _serial(reports)
    own: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for report in reports:
        (own if _serial([report]) in (None, first) else others).append(report)
    return own, others


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
    times: Times = field(init=False)

    def __post_init__(self) -> None:
        self.times = Times(self.reports)

    def tell(self) -> str:
        """Adds all facts; what was taken, in words."""
        for report in self.reports:
            if report["number"] in _SHOWN:
                name = f"{report['number']} {_SHOWN[report['number']]}"
                text = "no scenario that is imported holds anything of it; --tables keeps it"
                self._notice(f"{name} is only shown: {text}", report)
            elif report["number"] not in _TAKEN:
                text = "is not known; nothing of it is taken, --tables keeps it"
                self._notice(f"{report['number']} {text}", report)
        self._tell_strange_dates()
        partitions = list(_by_partition(self._rows(_LPAR)))
        zvm = self._log(partitions)
        self._tell_settings(zvm)
        if partitions:
            self._tell_partitions(partitions, zvm)
        elif zvm is None:
            self._tell_machines()
        if zvm is not None:
            self._tell_inside(self.facts.partition(self.key, zvm))
        if partitions or zvm:
            for number, name in ((_USER, "USER"), (_USTAT, "USTAT")):
                if any(self._rows(number)) and not (zvm and any(self._rows(_USER))):
                    text = "virtual machines within a partition are left out; give"
                    self._notice(f"{text} {number} {name} by itself", self._report(number))
        if self._names_machine or partitions or zvm is not None or self._tells_machines:
            self._tell_system(partitions)
        rows = sum(len(report["rows"]) for report in self.reports)
        return f"{counted(rows, 'row')} of {counted(len(self.reports), 'report')}"

    def _tell_inside(self, partition: PartitionFacts) -> None:
        """What runs in the partition with z/VM, and how that parks."""
        notices, where_of = self.facts.notices, self.source.at
        found = machines_of(list(self._rows(_USER)), self.times, where_of, notices)
        if found and partition.machines:
            first = partition.machines[0].name.where
            text = f"virtual machines of {partition.name} are told in {first} already; those count"
            self._notice(text, self._report(_USER))
        partition.machines = partition.machines or found
        said = [*self._settings("unparking")]
        for row in self._rows("FCX299"):
            said.append((row.cells.get("Unparking", ""), row))
            self._tell_pad(partition, row)
            break
        for value, row in said:
            if value.lower() in _UNPARKING:
                told: Told[object] = Told(value.lower(), where_of(row.line))
                self.facts.tell(partition, "unparking", told)
            elif value:
                text = f'Unparking "{value}" is none of LARGE, MEDIUM and SMALL; it is left out'
                notices.append(Notice(text, where_of(row.line)))

    def _tell_pad(self, partition: PartitionFacts, row: Line) -> None:
        """Processors that z/VM keeps beside those that it expects to need."""
        cell, pad, where = row.cells.get("CPUPAD %"), row.number("CPUPAD %"), row.line
        if pad is not None and pad <= _MOST_PAD:
            self.facts.tell(partition, "cpupad", Told(pad / 100.0, self.source.at(where)))
        elif cell is not None:
            text = f'CPUPAD "{cell}" is no figure from 0 to {_MOST_PAD:.0f} %; it is left out'
            self.facts.notices.append(Notice(text, self.source.at(where)))

    @property
    def key(self) -> str:
        """The serial number, else the file's name stands for the machine."""
        return _serial(self.reports) or self.source.name.split(".")[0]

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

    def _tell_strange_dates(self) -> None:
        """A day that is none is said of the first report that has one."""
        for report in self.reports:
            if (date := strange_date(report)) is not None:
                day = f"{self.times.day:%Y/%m/%d}"
                text = f'"{date}" is no date in the form year/month/day; {day} is taken'
                self._notice(text, report)
                return

    def _report(self, number: str) -> dict[str, Any] | None:
        return next((one for one in self.reports if one["number"] == number), None)

    def _column(self, number: str, name: str) -> str:
        """The column of that name; where several have it, such as those of the vector facility,
        the name of their group stands before it, and the first is meant.
        """
        report = self._report(number)
        columns = report["columns"] if report else []
        return next((one for one in columns if one == name or one.endswith(f" {name}")), name)

    def _rows(self, number: str) -> Iterator[Line]:
        """Rows of the reports of that number."""
        for report in self.reports:
            if report["number"] == number:
                for row in report["rows"]:
                    cells = zip(report["columns"], row["cells"], strict=True)
                    told = {name: cell for name, cell in cells if cell}
                    yield Line(row["line"], told, report)

    def _tell_system(self, partitions: list[Line]) -> None:
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
            # Each report has a row of each partition.
            each = {row.cells["Partition"]: row for row in reversed(partitions)}.values()
            own = sum(row.whole("#Proc") for row in each if row.cells.get("Weight") == "DED")
            line = next(iter(pools.values())).line
            facts.tell(system, "cores", Told(shared + own, self.source.at(line)))

    @property
    def _logged(self) -> bool:
        return any(any(self._rows(number)) for number in (*_LOGS, _PRCLOG, _CPU))

    def _tell_partitions(self, rows: list[Line], logged: str | None) -> None:
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
                used.append((name, busy / 100.0 * many, row))
        self._add_whole(used, "physc", "%Busy of LPAR times its logical cores")

    def _tell_type(self, name: str, row: Line) -> None:
        kind = row.cells.get("Type", "").lower()
        if kind in _TYPES:
            told: Told[object] = Told(kind, self.source.at(row.line))
            self.facts.tell(self.facts.partition(self.key, name), "core_type", told)

    def _log(self, partitions: list[Line]) -> str | None:
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
            if own_cores(processors):
                self.facts.tell(partition, "mode", Told("dedicated", where))
        self._tell_polarization(partition, processors)
        self._add_log(name, rows)
        return name

    def _settings(self, name: str) -> Iterator[tuple[str, Line]]:
        """What CP's settings say of one of them."""
        for row in self._rows(_SYSSET):
            if row.cells.get("Setting", "").lower() == name:
                yield row.cells.get("Value", ""), row

    def _tell_polarization(self, partition: PartitionFacts, processors: list[Line]) -> None:
        """How the entitlement of the partition with z/VM lies on its processors: all that is said
        of it, CP's settings first.
        """
        said = [(value.lower(), row) for value, row in self._settings("polarization")]
        found = polarizations(processors)
        if len(found) > 1:
            (first, at), (second, row) = found.items()
            text = f"column PPD tells {second} here and {first} in line {at.line}, as where it was"
            text += " changed; neither is taken of it"
            self.facts.notices.append(Notice(text, self.source.at(row.line)))
        else:
            said += found.items()
        for value, row in said:
            if value in _POLARIZATIONS:
                told: Told[object] = Told(value, self.source.at(row.line))
                self.facts.tell(partition, "polarization", told)

    def _tell_settings(self, zvm: str | None) -> None:
        """Of CP's settings a scenario of recorded use has the polarization alone."""
        if (report := self._report(_SYSSET)) is None:
            return
        text = "is only shown: which partition's settings these are is not told"
        if zvm is not None:
            text = f"{self._taken_of_settings(zvm)}; all else is left out, for what is recorded is"
            text += " played without CP"
        self._notice(f"FCX154 SYSSET {text}; --tables keeps it", report)

    def _taken_of_settings(self, zvm: str) -> str:
        """What was; a value that is not understood is said besides."""
        said = dict(self._settings("polarization"))
        strange = {value: row for value, row in said.items() if value.lower() not in _POLARIZATIONS}
        for value, row in strange.items():
            text = f'Polarization "{value}" is neither VERTICAL nor HORIZONTAL; it is left out'
            self.facts.notices.append(Notice(text, self.source.at(row.line)))
        if len(said) == len(strange):
            return "is only shown: it tells of no polarization that is known"
        return f"tells of the polarization of {zvm}"

    def _processors(self, rows: list[Line]) -> list[Line]:
        """Rows of PRCLOG, one of each processor over all of the time, or by interval."""
        known = {"Total %", "Total"}
        for row in rows[:1]:
            report = row.report
            if not known & set(report["columns"]):
                text = 'without a column "Total", how busy a processor was, is not taken'
                self._notice(f"FCX304 PRCLOG {text}; --tables keeps it", report)
                return []
            if not any(one.processor for one in rows):
                text = 'without a column "CPU", whose rows they are, is not known: none is taken'
                self._notice(f"FCX304 PRCLOG {text}; --tables keeps it", report)
                return []
        return rows

    def _loads(self) -> Iterator[Line]:
        """Rows of CPU as those of PRCLOG."""
        for report in self.reports:
            # Without columns there is no table, which is said already.
            if report["number"] == _CPU and report["columns"] and "%CPU" not in report["columns"]:
                text = 'without a column "%CPU", how busy a processor was, is not taken'
                self._notice(f"FCX100 CPU {text}; --tables keeps it", report)
        for row in self._rows(_CPU):
            if "%CPU" in row.report["columns"]:
                columns = {"Type": "TYPE", "Total %": "%CPU"}
                told = {ours: row.cells[own] for ours, own in columns.items() if own in row.cells}
                # What stands under no heading may stand beside the processor.
                told["CPU"] = row.cells.get("PROC", "").split(" ")[0]
                yield Line(row.line, told, row.report)

    def _add_processors(self, name: str, rows: list[Line]) -> None:
        """Use of the partition with z/VM by its processors: at the end of each interval, or over
        all of a report's time.
        """
        if rows[0].report["number"] == _CPU or "Total %" in rows[0].report["columns"]:
            what = "Total % of PRCLOG" if any(self._rows(_PRCLOG)) else "%CPU of CPU"
            sums = self._sums(by_report(rows), "Total %")
            self._add_whole([(name, cores, row) for _, cores, row in sums], "used", what)
            return
        intervals, dropped = by_interval(rows, self.times)
        self.dropped += dropped
        sums = self._sums(intervals, "Total")
        used = [(name, end, cores, row.line) for end, cores, row in sums if end is not None]
        self._add(used, "used", "Total of PRCLOG, all processors")

    def _sums(
        self, intervals: list[Together], column: str
    ) -> list[tuple[datetime | None, float, Line]]:
        """What all processors of an interval used; those of which one is not known are left out."""
        known, left = [], []
        for one in intervals:
            cores = one.cores(column)
            if cores is None:
                left.append(one)
            else:
                known.append((one.moment, cores, one.rows[0]))
        if left:
            # A row with nothing but its processor is one that is dropped already.
            self.dropped += sum(len(row.cells) > 1 for one in left for row in one.rows)
            text = "left out, in which not every processor tells how busy it was"
            where = self.source.at(left[0].rows[0].line)
            self.facts.notices.append(Notice(f"{counted(len(left), 'interval')} {text}", where))
        return known

    def _add_log(self, name: str, rows: Mapping[str, list[Line]]) -> None:
        """Use of the partition with z/VM, of the report that tells it best."""
        for number, (percent, of, _, what) in _LOGS.items():
            used: list[tuple[str, datetime, float, int]] = []
            busiest = self._column(number, percent)
            if rows[number] and not any(busiest in row.cells for row in rows[number]):
                text = f'has no column "{percent}"; nothing of it is taken, --tables keeps it'
                self._notice(f"{number} {text}", self._report(number))
                continue
            before: tuple[Line, datetime] | None = None
            for row in rows[number]:
                # Of one processor it is a mean.
                busy = row.number(busiest) if of is None else row.share(busiest)
                many = 0.01 if of is None else row.number(of)
                moment = self.times.after(before, row)
                before = before if moment is None else (row, moment)
                if busy is None or many is None or moment is None:
                    self.dropped += 1
                    continue
                used.append((name, moment, busy * many, row.line))
            if used:
                self._add(used, "used", what)
                return
        if rows[_PRCLOG]:
            self._add_processors(name, rows[_PRCLOG])

    def _name_of_zvm(self, partitions: list[Line], count: int, row: Line) -> str | None:
        """Reports on a z/VM do not name its partition: the only one of that size, or where no
        others are told the file; none if it could be several.
        """
        if not partitions:
            return named_after(self.source.file)
        sized = (one.cells["Partition"] for one in partitions if one.whole("#Proc") == count)
        alike = list(dict.fromkeys(sized))
        name = alike[0] if len(alike) == 1 else None
        text = f"these are taken for the processors of {name}, the only partition with {count}"
        if name is None:
            text = f"{len(alike)} partitions have {count} processors; whose these are is not told"
        self.facts.notices.append(Notice(text, self.source.at(row.line)))
        return name

    def _tell_machines(self) -> None:
        """Virtual machines of one z/VM, which stands for their server."""
        used = []
        for row in users_of(self._rows(_USER), self.source.at, self.facts.notices):
            name, busy = row.cells["Userid"], percent_of(row)
            self.dropped += busy is None
            if busy is not None:
                partition = self.facts.partition(self.key, name)
                if count := row.whole("CPUs"):
                    self.facts.tell(partition, "virtual", Told(count, self.source.at(row.line)))
                used.append((name, busy / 100.0, row))
        if used:
            self._add_whole(used, "physc", "%CPU of USER")
            return
        for row in self._rows(_USTAT):
            name, count, busy = row.cells.get("Userid", ""), row.whole("CPUs"), row.number("%RUN")
            if not count:
                self.dropped += 1
                continue
            partition = self.facts.partition(self.key, name)
            self.facts.tell(partition, "virtual", Told(count, self.source.at(row.line)))
            if busy is not None:
                used.append((name, busy / 100.0 * count, row))
        if not used and any(self._rows(_USTAT)):
            text = "without a column CPUs tells samples, not time; give FCX112 USER"
            self._notice(f"FCX114 USTAT {text}", self._report(_USTAT))
        self._add_whole(used, "physc", "%RUN of USTAT times its processors")

    def _add_whole(
        self, used: list[tuple[str, float, Line]], quantity: Quantity, what: str
    ) -> None:
        """Use over all of a report's time: one sample each."""
        rows, lengths = [], []
        silent: dict[int, Mapping[str, Any]] = {}
        for name, cores, row in used:
            span = self.times.of(row.report)
            if span is None:
                silent[row.report["line"]] = row.report
                self.dropped += 1
                continue
            rows.append((name, span.end, cores, row.line))
            lengths.append(span.seconds)
        for report in silent.values():
            self._notice("its interval is not told, what was used is left out", report)
        self._add(rows, quantity, what, lengths)

    def _add(
        self,
        rows: list[tuple[str, datetime, float, int]],
        quantity: Quantity,
        what: str,
        seconds: list[float] | None = None,
    ) -> None:
        import polars as pl

        if not rows:
            return
        table = pl.DataFrame(rows, schema=["name", "time", "cores", "line"], orient="row")
        table = table.with_columns(pl.col("time").cast(pl.Datetime("us")))
        if seconds is not None:
            table = table.with_columns(pl.Series("seconds", seconds, dtype=pl.Float64))
        added = add_use(self.facts, self.source, self.key, Use(table, quantity, what))
        self.dropped += added.dropped


def _by_partition(rows: Iterator[Line]) -> Iterator[Line]:
    """A row a partition. The Toolkit's own LPAR has one for each processor, the first of which
    tells the partition; their %Busy is added.
    """
    last: Line | None = None
    for row in rows:
        if "Partition" in row.cells:
            if last is not None:
                yield last
            last = row
        elif last is not None and last.report is row.report:
            busy = (last.number("%Busy") or 0.0) + (row.number("%Busy") or 0.0)
            told = {**row.cells, **last.cells, "%Busy": str(busy)}
            last = Line(last.line, told, last.report)
    if last is not None:
        yield last


def _at_once(processors: list[Line]) -> int:
    """How many processors there are, each of which may have a row at the end of each interval."""
    return len({row.processor for row in processors} - {None})


FORMATS: tuple[FileFormat, ...] = (PerformanceToolkit(),)
