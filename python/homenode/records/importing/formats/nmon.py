"""nmon: AIX (`topas_nmon`), Linux on Power, Linux on x86.

What is used of a shared-processor partition is `LPAR.PhysicalCPU`; of cores of one's own and of
hosts, the busy part of `CPU_ALL`. How large a partition is and what its server is come from `AAA`
and `BBBL` lines and from what the recorder let `lparstat -i`, `lssrad` and others print (`BBBP`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from homenode import _engine
from homenode.errors import Where
from homenode.records.importing.facts import (
    Beside,
    Facts,
    Gang,
    PartitionFacts,
    Quantity,
    Series,
    SystemFacts,
    Told,
)
from homenode.records.importing.formats import aixaffinity, aixseries, lparcfg, nmonbeside
from homenode.records.importing.formats.aixfacts import (
    tell_configuration,
    tell_information,
    tell_srads,
)
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import Notice
from homenode.records.importing.shared import columns
from homenode.records.importing.shared.forms import FileFormat
from homenode.records.importing.shared.recorded import (
    CLOCK,
    Clock,
    Recorded,
    clock_of,
    read_recording,
    tell_threads,
    timed,
)
from homenode.records.importing.shared.servers import NO_SERVER
from homenode.records.importing.shared.words import counted, named_after, number, whole

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

_OWN = re.compile(
    rb"^\0*(?:\xef\xbb\xbf)?(?:AAA,[A-Za-z]|BBBP,\d+,|ZZZZ,T\d{4,},\d\d[:.]\d\d|"
    rb"(?:CPU_ALL|LPAR|CPU\d+),T\d{4,},)",
    re.MULTILINE,
)
_WANTED = (CLOCK, "LPAR", "CPU_ALL", *nmonbeside.SECTIONS)
_PRINTED = ("lparstat -i", "lparstat -H", "lssrad", "mpstat -d")
_MB = 1 << 20
_TOLD_OF_ROWS = (
    ("virtual", "virtualCPUs", whole),
    ("logical", "logicalCPUs", whole),
    ("entitlement", "entitled", number),
    ("weight", "weight", whole),
)


class NmonFormat:
    """A recording of nmon, or several glued together."""

    name = "nmon"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        return _OWN.search(head) is not None

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat.read`."""
        read_recording(source, facts, "nmon", _WANTED, "recordings", _Recording)

    def write_tables(self, source: Input, folder: Path) -> list[Path]:
        """All sections as Parquet files in an empty folder."""
        return columns.write_tables(source, "nmon", folder)


class _Recording:
    """One run of the recorder."""

    def __init__(
        self, source: Input, facts: Facts, found: Recorded, index: int, recording: dict[str, Any]
    ) -> None:
        self.source, self.facts, self.found = source, facts, found
        self.index, self.recording = index, recording
        self.said = {said["key"]: (said["value"], said["line"]) for said in recording["said"]}
        self.x86 = _pairs(self.said_all("x86"))
        self.bbbl = _pairs(
            (text, line)
            for block in recording["blocks"]
            if block["section"] == "BBBL"
            for line, text in block["lines"]
        )
        self.lpar = found.table(index, "LPAR")
        self.on_power = self.is_aix or "ppc64" in self.text("OS") or self.lpar is not None
        self.lparcfg_lines = self._lines_of_lparcfg()
        self.lparcfg = {
            key.strip(): (value.strip(), line)
            for line, text in self.lparcfg_lines
            for key, _, value in [text.partition("=")]
        }
        self.server = self._server()
        self.partition = facts.partition(self.server.key or None, self._name())

    def said_all(self, key: str) -> list[tuple[str, int]]:
        """All lines that begin with one word."""
        return [(one["value"], one["line"]) for one in self.recording["said"] if one["key"] == key]

    def text(self, key: str) -> str:
        """What an `AAA` line says; nothing if there is none."""
        return str(self.said.get(key, ("", 0))[0])

    @property
    def is_aix(self) -> bool:
        """Whether it is of AIX, not of Linux."""
        entitled = self.lpar is not None and "EC_User%" in self.lpar.columns
        return "AIX" in self.said or self.text("build") == "AIX" or entitled

    def _lines_of_lparcfg(self) -> list[tuple[int, str]]:
        for block in self.recording["blocks"]:
            if block["command"].endswith("lparcfg"):
                return [(line, text) for line, text in block["lines"]]
        return []

    def _server(self) -> SystemFacts:
        serial = self.text("SerialNumber") or self.lparcfg.get("serial_number", ("", 0))[0]
        serial = serial.split(",")[-1].strip()
        if not self.on_power:
            return self.facts.system(self._name())
        return self.facts.system(serial or NO_SERVER)

    def _name(self) -> str:
        lpar = self.text("LPARNumberName").replace(" ", ",").partition(",")[2].strip()
        named = self.bbbl.get("lparname", ("", 0))[0] or self.lparcfg_name()
        host = next(
            (self.text(key) for key in ("host", "NodeName", "runname") if self.text(key)), ""
        )
        return lpar or named or host or named_after(self.source.file)

    def lparcfg_name(self) -> str:
        """The partition's name, where its Linux knows it."""
        return self.lparcfg.get("partition_name", ("", 0))[0]

    def at(self, line: int) -> Where:
        """A line of the file; the first of the recording where it is not known."""
        return self.source.at(line or self.recording["line"])

    def give(self, of: PartitionFacts | SystemFacts, attribute: str, value: Any, line: int) -> None:
        """Tell an attribute, if there is a value; a size below zero is none."""
        negative = isinstance(value, int | float) and value < 0
        if value is not None and value != "" and not negative:
            self.facts.tell(of, attribute, Told(value, self.at(line)))

    def tell(self) -> None:
        """Add what it says of the partition and its server."""
        for block in self.recording["blocks"]:
            if block["command"] in _PRINTED:
                self._printed(block)
        self._sizes()
        if self.lpar is not None and "virtualCPUs" in self.lpar.columns:
            self._rows(self.lpar)
        elif self.lparcfg:
            self._lparcfg()
        self._system()
        if self.on_power:
            if not self.is_aix:
                cpus, line = self.said.get("cpus", ("", 0))
                self.give(self.partition, "logical", whole(cpus.split(",")[0]), line)
            tell_threads(self.facts, self.partition, self.at(0))

    def _printed(self, block: Mapping[str, Any]) -> None:
        """What one of AIX's own tools printed."""
        text = "\n".join(line for _, line in block["lines"]) + "\n"
        lines = [number for number, _ in block["lines"]]

        def at(line: int) -> Where:
            return self.source.at(lines[min(max(line, 1), len(lines)) - 1])

        try:
            read = _engine.read_reports(text.encode())
        except _engine.CaptureError as fault:
            told = f"what {block['command']} printed cannot be read: {fault}"
            where = self.source.at(lines[0]) if lines else self.source.at()
            self.facts.notices.append(Notice(told, where))
            return
        self._reports(_loads(read), at, block["command"])
        if block["command"] == "mpstat -d":
            self._affinity(text, at)

    def _affinity(self, text: str, at: Callable[[int], Where]) -> None:
        """How far threads were moved, since the system was started."""
        import polars as pl

        reader = _engine.ReportReader()
        reader.feed(text.encode())
        read, columns = reader.finish()
        every = aixseries.tables_of(_loads(read)["found"], columns)
        tables = [table for table in every if aixaffinity.tells_affinity(table)]
        found, dropped = aixaffinity.affinity_of(
            self.partition.name, self.server.key or None, tables, self.source.file
        )
        if found is not None:
            line = pl.lit(at(int(found.table["line"][0])).line, dtype=pl.Int64).alias("line")
            table = found.table.with_columns(line)
            up = self._up() if found.since_start else None
            self.facts.affinity.append(replace(found, table=table, up_s=up))
        if dropped and tables:
            where = at(int(tables[0].lines[0])) if len(tables[0].lines) else at(1)
            text = f"mpstat -d: {counted(dropped, 'row')} left out: no sound numbers"
            self.facts.notices.append(Notice(text, where))

    def _up(self) -> float | None:
        """How long the system had been up when the recorder began [s]."""
        blocks = (one for one in self.recording["blocks"] if one["command"] == "uptime")
        lines = [text for block in blocks for _, text in block["lines"]]
        return nmonbeside.up_seconds(lines)

    def _reports(self, read: dict[str, Any], at: Callable[[int], Where], command: str) -> None:
        found, key = read["found"], self.server.key
        for listing in found["information"]:
            tell_information(listing, self.facts, at, key, self.partition)
        for listing in found["affinity"]:
            tell_srads(listing, self.partition, self.facts, at)
        for configuration in found["configurations"]:
            tell_configuration(configuration, self.partition, self.facts, at)
        for remark in read["remarks"]:
            text = f"{command}: {remark['text']}"
            self.facts.notices.append(Notice(text, at(remark["line"])))

    def _sizes(self) -> None:
        """`BBBL` lines."""
        rows: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
            ("number", "lparno", whole),
            ("virtual", "Virtual CPU", whole),
            ("logical", "Logical CPU", whole),
            ("smt", "smt threads", whole),
            ("memory_bytes", "online Memory", _megabytes),
        )
        flags, line = self.bbbl.get("Flags", ("", 0))
        if flags:
            shared = "Shared" in flags.replace(".", " ").split()
            self.give(self.partition, "mode", "shared" if shared else "dedicated", line)
        mode = self.partition.mode
        if mode is None or mode.value == "shared":
            rows += (
                ("capped", "capped", _yes),
                ("entitlement", "Entitled Capacity", number),
                ("weight", "Weight", whole),
                ("pool", "pool id", _plain),
            )
        for attribute, label, value in rows:
            text, line = self.bbbl.get(label, ("", 0))
            if text:
                self.give(self.partition, attribute, value(text), line)

    def _rows(self, lpar: pl.DataFrame) -> None:
        """What stands in every row of AIX's `LPAR`: the first counts, changes are told."""
        import polars as pl

        line = int(lpar["line"][0])
        shared = "SharedCPU" not in lpar.columns or lpar["SharedCPU"][0] == 1
        self.give(self.partition, "mode", "shared" if shared else "dedicated", line)
        if shared and "Capped" in lpar.columns:
            self.give(self.partition, "capped", _yes(str(lpar["Capped"][0])), line)
        for attribute, column, value in _TOLD_OF_ROWS if shared else _TOLD_OF_ROWS[:2]:
            if column not in lpar.columns:
                continue
            first = lpar[column][0]
            if first is None:
                continue
            self.give(self.partition, attribute, value(str(first)), line)
            other = lpar.filter(pl.col(column) != first)
            if other.height:
                text = f"{column} changes from {first:g} to {other[column][0]:g} here"
                where = self.source.at(int(other["line"][0]))
                self.facts.notices.append(Notice(f"{text}; the first counts", where))

    def _lparcfg(self) -> None:
        """`/proc/ppc64/lparcfg`, with the server's number if that stands elsewhere only."""
        lines = list(self.lparcfg_lines)
        if "serial_number" not in self.lparcfg:
            lines.insert(1, (lines[0][0], f"serial_number={self.server.key}"))
        text = "".join(f"{line}\n" for _, line in lines)
        found = lparcfg.parsed(text.encode(), self.source.at(lines[0][0]))

        def at(line: int) -> Where:
            return self.source.at(lines[min(max(line, 1), len(lines)) - 1][0])

        lparcfg.tell(found, self.facts, at, self.partition.name, self.source.file)

    def _system(self) -> None:
        """The server, and what runs in the partition."""
        of, said = self.server, self.said
        self.give(self.partition, "os", "aix" if self.is_aix else "linux", 0)
        if not self.on_power:
            self._x86()
            return
        model, line = said.get("MachineType", self.lparcfg.get("system_type", ("", 0)))
        self.give(of, "model", model.split(",")[-1].strip(), line)
        self.give(of, "architecture", "power", line)
        self.give(of, "hypervisor", "powervm", line)
        family = re.search(r"POWER\d+", said.get("hardware", ("", 0))[0])
        if family:
            self.give(of, "processor", family[0], said["hardware"][1])
        labels = {"cores": "CPU in sys"}
        if self.bbbl.get("pool id", ("", 0))[0] == "0":
            # Other pools than the first are parts of it.
            labels["pool_cores"] = "Pool CPU"
        for attribute, label in labels.items():
            text, line = self.bbbl.get(label, ("", 0))
            self.give(of, attribute, whole(text), line)
        self._clock_speed()

    def _clock_speed(self) -> None:
        """`lsconf` or `/proc/cpuinfo`."""
        clock = re.compile(r"(?:Processor Clock Speed|clock)\s*:\s*([\d.]+) ?MHz")
        for block in self.recording["blocks"]:
            if not block["command"].endswith(("lsconf", "prtconf", "cpuinfo")):
                continue
            for line, text in block["lines"]:
                speed = clock.match(text)
                if speed:
                    self.give(self.server, "clock_hz", float(speed[1]) * 1e6, line)
                    return

    def _x86(self) -> None:
        """A host; whether it is a virtual one the file does not say."""
        self.give(self.server, "architecture", self.text("OS").split(",")[-1].strip(), 0)
        model, line = self.x86.get("ModelName", ("", 0))
        self.give(self.server, "processor", model, line)
        speed, line = self.x86.get("MHz", ("", 0))
        hertz = number(speed)
        self.give(self.server, "clock_hz", None if hertz is None else hertz * 1e6, line)
        logical, line = self.x86.get("VirtualCPUs", self.said.get("cpus", ("", 0)))
        self.give(self.partition, "logical", whole(logical.split(",")[0]), line)
        sizes = [whole(self.x86.get(key, ("", 0))[0]) for key in ("ProcessorChips", "Cores")]
        threads, line = self.x86.get("hyperthreads", ("", 0))
        chips, cores, smt = *sizes, whole(threads)
        if not (chips and cores and smt):
            return
        if chips * cores * smt != whole(logical):
            text = "chips, cores and threads do not make the number of processors"
            self.facts.notices.append(Notice(f"{text}; they are left out", self.at(line)))
            return
        self.give(self.server, "chips", chips, line)
        self.give(self.server, "cores", chips * cores, line)
        self.give(self.server, "threads_per_core", smt, line)

    def series(self) -> tuple[str, int]:
        """Add what was used; what it is in words, and how many samples were left out."""
        name = self.partition.name
        times = self.found.table(self.index, CLOCK)
        use = self._use()
        if times is None or use is None:
            return f"what {name} is; no samples", 0
        interval = number(self.text("interval"))
        clock = clock_of(times, interval or None, self._begun(), self.facts.notices, self.source)
        if clock is None:
            text = "one sample, of which no interval is told, is left out"
            self.facts.notices.append(Notice(text, self.source.at(int(times["line"][0]))))
            return f"what {name} is; no samples", len(times)
        rows, quantity, note = use
        table, left = timed(clock, rows)
        if left:
            text = f"{left} samples of {name} have no time of their own or no cores: left out"
            self.facts.notices.append(Notice(text, self.at(0)))
        if table.is_empty():
            return f"what {name} is; no samples", left
        key = self.server.key or None
        self.facts.series.append(Series(name, key, quantity, table, self.source.file, note))
        self._beside(clock)
        samples = counted(len(table), "sample")
        return f"{samples} of {clock.interval:g} s of partition {name}", left

    def _beside(self, clock: Clock) -> None:
        """Add what was recorded beside its cores."""
        of = self.partition
        smt = of.smt.value if of.smt is not None else None
        for section, table in nmonbeside.beside(self.found, self.index, clock, smt):
            told = Beside(of.name, self.server.key or None, table, self.source.file, section)
            self.facts.beside.append(told)
        for name, threads, line, table in nmonbeside.writers(self.found, self.index, clock):
            report = f"TOP of {self.source.file}"
            most = Told(threads, self.source.at(line))
            gang = Gang(of.name, self.server.key or None, name, most, table, report)
            self.facts.gangs.append(gang)

    def _begun(self) -> float | None:
        """When the recorder began, in seconds since 1970."""
        import datetime as dt

        date, time = self.text("date"), self.text("time").replace(".", ":")
        for form in ("%d-%b-%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S"):
            try:
                begun = dt.datetime.strptime(f"{date} {time}".title(), form).replace(tzinfo=dt.UTC)
            except ValueError:
                continue
            return begun.timestamp()
        return None

    def _use(self) -> tuple[pl.DataFrame, Quantity, str] | None:
        """Rows of `snapshot`, `line`, `cores` and the states of processors."""
        mode = self.partition.mode
        shared = mode is None or mode.value == "shared"
        if self.lpar is not None and shared and "PhysicalCPU" in self.lpar.columns:
            return _physc(self.lpar), "physc", ""
        cpu_all = self.found.table(self.index, "CPU_ALL")
        if cpu_all is None or not {"User%", "Sys%"} <= set(cpu_all.columns):
            return None
        if self.on_power and self.is_aix:
            cores = self.partition.virtual
            if cores is None:
                text = "no line tells how many cores the partition has: its use cannot be told"
                self.facts.notices.append(Notice(text, self.at(0)))
                return None
            return _busy(cpu_all, float(cores.value)), "used", "User% and Sys% of its cores"
        logical = self.partition.logical
        count = next((name for name in ("CPUs", "PhysicalCPUs") if name in cpu_all.columns), None)
        processors = None if logical is None else float(logical.value)
        if count is not None and cpu_all[count][0]:
            processors = float(cpu_all[count][0])
        if processors is None:
            return None
        note = f"User% and Sys% of {processors:g} logical processors"
        return _busy(cpu_all, processors), "used", note


def _physc(lpar: pl.DataFrame) -> pl.DataFrame:
    """Cores consumed; the states are percentages of them or of the entitlement, whichever is
    larger.
    """
    import polars as pl

    columns = [pl.col("snapshot", "line"), pl.col("PhysicalCPU").alias("cores")]
    states = {"user": "EC_User%", "sys": "EC_Sys%", "wait": "EC_Wait%", "idle": "EC_Idle%"}
    if {"entitled", *states.values()} <= set(lpar.columns):
        of = pl.max_horizontal("PhysicalCPU", "entitled") / 100
        columns += [(pl.col(name) * of).alias(state) for state, name in states.items()]
    if "Folded" in lpar.columns:
        columns.append(pl.col("Folded").alias("folded"))
    return lpar.select(columns)


def _busy(cpu_all: pl.DataFrame, processors: float) -> pl.DataFrame:
    """Busy time over elapsed time."""
    import polars as pl

    states = {"user": "User%", "sys": "Sys%", "wait": "Wait%", "idle": "Idle%"}
    there = {state: name for state, name in states.items() if name in cpu_all.columns}
    cores = pl.col("User%", "Sys%") * (processors / 100)
    return cpu_all.select(
        pl.col("snapshot", "line"),
        pl.sum_horizontal(cores, ignore_nulls=False).alias("cores"),
        *((pl.col(name) * (processors / 100)).alias(state) for state, name in there.items()),
    )


def _pairs(lines: Any) -> dict[str, tuple[str, int]]:
    """`key,value` texts with their lines, the first of each key."""
    found: dict[str, tuple[str, int]] = {}
    for text, line in lines:
        key, _, value = text.partition(",")
        found.setdefault(key.strip(), (value.strip(), line))
    return found


def _yes(text: str) -> bool | None:
    value = number(text)
    return None if value not in (0.0, 1.0) else value == 1.0


def _megabytes(text: str) -> int | None:
    value = whole(text)
    return None if value is None else value * _MB


def _plain(text: str) -> str:
    return text


def _loads(text: str) -> dict[str, Any]:
    import json

    found: dict[str, Any] = json.loads(text)
    return found


FORMATS: tuple[FileFormat, ...] = (NmonFormat(),)
