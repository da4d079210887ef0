"""Reports of `lparstat`, `mpstat`, `vmstat`, `sar`, `iostat` and `lssrad`, of AIX and of Linux, and
`sar` of HP-UX, alone or one after another in the text of a session.

A file belongs to the tool whose report comes first in it; all of them are read whichever that is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from homenode import _engine
from homenode.records.importing.facts import Beside, Facts, PartitionFacts, Told, Took
from homenode.records.importing.formats import aixaffinity, aixbeside, aixfacts, aixlists, aixseries
from homenode.records.importing.formats.aixseries import ReportTable, Timed, Use
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, Notice, head_text
from homenode.records.importing.shared.forms import FileFormat
from homenode.records.importing.shared.words import counted, named_after, unread

_PIECE = 1 << 20
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_MOST_WIDE = 64 << 20
"""UTF-16 has to be held whole; everything else is read in pieces."""
HP_UX = "HP-UX"
_TOOLS = ("lparstat", "mpstat", "vmstat", "sar", "iostat", "lssrad")
_PREFERENCE = ("lparstat", "mpstat", "sar", "vmstat", "iostat")


@lru_cache(maxsize=8)
def kind_of(head: bytes) -> str | None:
    """Which text of a tool this is the beginning of: a name of `_engine.recognise_text`."""
    kind: str | None = _engine.recognise_text(head)
    return kind


class ReportFormat:
    """Reports of one tool, and of others behind it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        return kind_of(head) == self.name

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat.read`."""
        found, columns = _parsed(source)
        recording = found["found"]
        tables = aixseries.tables_of(recording, columns)
        for remark in found["remarks"]:
            facts.notices.append(Notice(remark["text"], source.at(remark["line"])))
        session = _Session(source, facts, recording)
        what = session.listings()
        uses, dropped = session.uses(tables)
        moves, unsound = session.affinity(tables)
        what += uses + moves
        session.beside(tables)
        dropped += unsound
        if aixlists.holds_lists(source.head):
            text = head_text(source.head).replace("\r", "")
            listed, lost = aixlists.tell_lists(source, facts, text, session.owner(1))
            what.append(listed)
            dropped += lost
        if recording["tunables"]:
            count = counted(len(recording["tunables"]), "tunable")
            what.append(f"{count}, of which nothing is made")
        text = "; ".join(what) or "nothing that a scenario is made of"
        facts.took.append(Took(source.file, self.name, text, found["dropped"] + dropped))


def _parsed(source: Input) -> tuple[dict[str, Any], Sequence[Sequence[bytes]]]:
    reader = _engine.ReportReader()
    wide, total = source.head[:2] in _WIDE_MARKS, 0
    with source.open() as stream:
        while piece := stream.read(_PIECE):
            total += len(piece)
            if wide and total > _MOST_WIDE:
                raise ListingError(
                    f"it is UTF-16 and longer than {_MOST_WIDE >> 20} MiB",
                    where=source.at(),
                    next_step="save it as UTF-8",
                )
            reader.feed(piece)
    try:
        text, columns = reader.finish()
    except _engine.CaptureError as fault:
        raise unread(fault, source.at) from fault
    return json.loads(text), columns


class _Session:
    """One file: which partition its parts are about, and what they say."""

    def __init__(self, source: Input, facts: Facts, recording: Mapping[str, Any]) -> None:
        self.source, self.facts, self.recording = source, facts, recording
        self.named = [
            (listing["line"], name)
            for listing in recording["information"]
            if (name := _name(listing)) is not None
        ]
        told = aixlists.name_of(head_text(source.head).replace("\r", ""))
        self.named += [(1, told)] if told and not self.named else []
        self.hosts = [(banner["line"], banner["host"]) for banner in recording["banners"]]
        self.stem = named_after(source.file)
        self.said: set[str] = set()

    def owner(self, line: int) -> PartitionFacts:
        """The partition that a line is about: of the listing above it, of the first line of its
        tool, of the first listing, else of the name of the file.
        """
        above = [name for at, name in self.named if at <= line]
        hosts = [name for at, name in self.hosts if at <= line]
        anywhere = [name for _, name in self.named] + [name for _, name in self.hosts]
        name = (above[-1:] or hosts[-1:] or anywhere[:1] or [self.stem])[0]
        return self.facts.partition(None, name)

    def listings(self) -> list[str]:
        """Add what is no use over time; what it is, in words."""
        what = []
        for listing in self.recording["information"]:
            owner = self.owner(listing["line"])
            aixfacts.tell_information(listing, self.facts, self.source.at, partition=owner)
            what.append(f"lparstat -i of {owner.name}")
        for configuration in self.recording["configurations"]:
            owner = self.owner(configuration["line"])
            aixfacts.tell_configuration(configuration, owner, self.facts, self.source.at)
        for listing in self.recording["affinity"]:
            owner = self.owner(listing["line"])
            aixfacts.tell_srads(listing, owner, self.facts, self.source.at)
            what.append(f"{counted(len(listing['domains']), 'affinity domain')} of {owner.name}")
        for banner in self.recording["banners"]:
            system = Told(banner["system"].lower(), self.source.at(banner["line"]))
            owner = self.owner(banner["line"])
            self.facts.tell(owner, "os", system)
            self._counted_processors(banner, owner)
            aixfacts.tell_architecture(banner, self.facts, self.source.at)
            if banner["processors"]:
                processors = Told(banner["processors"], self.source.at(banner["line"]))
                self.facts.tell(owner, "logical", processors)
        return what

    def _counted_processors(self, banner: Mapping[str, Any], owner: PartitionFacts) -> None:
        """HP-UX's sar and Linux's sadf tell of processors by their rows only; of HP-UX each is a
        core of its own unless hyperthreads are switched on, of which it says nothing.
        """
        if banner["processors"] or banner["system"] not in (HP_UX, "Linux"):
            return
        if banner["system"] == HP_UX:
            self.facts.tell(owner, "smt", Told(1, self.source.at(banner["line"])))
        for table in self.recording["tables"]:
            rows = [part for part in table["parts"] if part["name"].isdigit()]
            if rows and self.owner(table["line"]) is owner and table["report"] == "sar":
                self.facts.tell(owner, "logical", Told(len(rows), self.source.at(table["line"])))

    def uses(self, tables: Sequence[ReportTable]) -> tuple[list[str], int]:
        """Add use over time; what it is, in words, and how many rows were not sound."""
        by_owner: dict[str, list[tuple[ReportTable, Use]]] = {}
        what, dropped = [], 0
        for table in tables:
            owner = self.owner(table.meta["line"])
            use = aixseries.use_of(table, _smt(owner), self._processors(table))
            if (use is None or not use.cores) and aixaffinity.tells_affinity(table):
                continue
            if use is None or not use.cores:
                samples = counted(len(table.lines), "sample")
                switches = f"{samples} of switches of {table.report}"
                told = aixbeside.tells_switches_only(table)
                what.append(switches if told else f"{table.report}, which tells no use of cores")
                if aixseries.has_shares(table):
                    text = f"{table.report} does not say how many processors there are: no cores"
                    is_hpux = owner.os is not None and owner.os.value == HP_UX.lower()
                    of_linux = "--cpus N tells, or a text of mpstat or lscpu beside it"
                    text = f"{text}; {'sar -M of HP-UX tells' if is_hpux else of_linux}"
                    self._say_once(table.meta["line"], text)
            else:
                by_owner.setdefault(owner.name, []).append((table, use))
        for name, both in by_owner.items():
            chosen = _chosen([table for table, _ in both])
            others = sorted({table.report for table, _ in both} - {chosen})
            if others:
                text = f"use of {name} is taken of {chosen}; that of {', '.join(others)} is left"
                self.facts.notices.append(Notice(text, self.source.at()))
            mine = [(table, use) for table, use in both if table.report == chosen]
            rows, seconds, bad = self._series(self.facts.partition(None, name), mine)
            what.append(f"{counted(rows, 'sample')} of {chosen} of {name}, {seconds:g} s in all")
            dropped += bad
        return what, dropped

    def affinity(self, tables: Sequence[ReportTable]) -> tuple[list[str], int]:
        """Add how far threads were moved; what it is, in words; how many rows were not sound."""
        by_owner: dict[str, list[ReportTable]] = {}
        for table in filter(aixaffinity.tells_affinity, tables):
            by_owner.setdefault(self.owner(table.meta["line"]).name, []).append(table)
        what, dropped = [], 0
        for name, mine in by_owner.items():
            found, bad = aixaffinity.affinity_of(name, None, mine, self.source.file)
            dropped += bad
            if found is not None:
                self.facts.affinity.append(found)
                what.append(aixaffinity.told(found))
        return what, dropped

    def beside(self, tables: Sequence[ReportTable]) -> None:
        """Add what reports tell beside use."""
        by_owner: dict[str, list[ReportTable]] = {}
        for table in tables:
            by_owner.setdefault(self.owner(table.meta["line"]).name, []).append(table)
        for name, mine in by_owner.items():
            for report, frames in aixbeside.beside(mine, self._is_linux(name, mine)):
                told = (Beside(name, None, frame, self.source.file, report) for frame in frames)
                self.facts.beside.extend(told)

    def _is_linux(self, name: str, tables: Sequence[ReportTable]) -> bool:
        """Whether reports are of Linux, whose tools count in kB."""
        told = self.facts.partition(None, name).os
        sizes = [table.configuration.get("mem", "") for table in tables]
        return (told is not None and told.value == "linux") or any(
            size.lower().endswith("kb") for size in sizes
        )

    def _say_once(self, line: int, text: str) -> None:
        if text not in self.said:
            self.said.add(text)
            self.facts.notices.append(Notice(text, self.source.at(line)))

    def _series(
        self, owner: PartitionFacts, mine: Sequence[tuple[ReportTable, Use]]
    ) -> tuple[int, float, int]:
        """Add tables that follow each other; rows, seconds and rows that were left out."""
        rows, seconds, bad, last = 0, 0.0, 0, float("-inf")
        for table, use in sorted(mine, key=lambda pair: _start(pair[0])):
            if use.doubt:
                self._say_once(table.meta["line"], use.doubt)
            done: Timed = aixseries.timed(table, use, last)
            bad += done.dropped
            for line, text in done.remarks:
                self._say_once(line, text)
            if not len(done.frame):
                continue
            rows += len(done.frame)
            seconds += float(done.frame["seconds"].sum())
            last = done.frame["time"].to_physical()[-1] / 1e6
            told = aixseries.series(owner.name, None, use, done.frame, self.source.file)
            self.facts.series.append(told)
        if rows == 1 and all(table.meta["start"] is None for table, _ in mine):
            text = f"one row of {owner.name} only: it may be the mean since the system started"
            self.facts.notices.append(Notice(text, self.source.at(int(mine[0][0].lines[0]))))
        return rows, seconds, bad

    def _processors(self, table: ReportTable) -> int | None:
        """As the first line of the tool says; sar -M of HP-UX and sadf have a row for each."""
        index = table.meta["banner"]
        if index is not None:
            count: int | None = self.recording["banners"][index]["processors"]
            rows = [part for part in table.meta["parts"] if part["name"].isdigit()]
            if count is None and table.tool == "sar":
                count = len(rows) or None
            if count is not None:
                return count
        if "swpd" in table.values:
            here = self.source.at(table.meta["line"])
            self.facts.tell(self.owner(table.meta["line"]), "os", Told("linux", here))
        told = self.facts.processors
        if told is None or not aixseries.has_shares(table) or table.configuration:
            return None
        logical: Told[object] = Told(told.value, told.where)
        self.facts.tell(self.owner(table.meta["line"]), "logical", logical)
        return told.value


def _name(listing: Mapping[str, Any]) -> str | None:
    told = {label: value for label, value, _ in listing["facts"]}
    return told.get("Partition Name") or told.get("Node Name")


def _smt(owner: PartitionFacts) -> int | None:
    return owner.smt.value if owner.smt is not None else None


def _chosen(tables: Sequence[ReportTable]) -> str:
    """The report whose rows count, if several say the same: the one with most rows."""
    rows: dict[str, int] = {}
    for table in sorted(tables, key=lambda table: _PREFERENCE.index(table.tool)):
        rows[table.report] = rows.get(table.report, 0) + len(table.lines)
    return max(rows, key=rows.__getitem__)


def _start(table: ReportTable) -> float:
    """When a table begins; those without a clock keep their order."""
    return next((time for time in table.times if time == time), 0.0)


FORMATS: tuple[FileFormat, ...] = tuple(ReportFormat(name) for name in _TOOLS)
