"""Traces of clouds: Azure's virtual machines (2017 and 2019), Google's instances (2019).

Azure's files have no headings: readings are told by five columns, of which the second is an
identity; the table of machines tells how many cores each has. Google's use is in parts of its
largest machine, so that somebody has to say how many processors that has.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from homenode._engine import SampleReader
from homenode.records.importing.facts import Facts, Told, Took
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import Left, ListingError, Notice, head_text
from homenode.records.importing.shared.forms import FileFormat, text_of
from homenode.records.importing.shared.objects import amount
from homenode.records.importing.shared.samples import (
    Use,
    add_use,
    column,
    nothing_sound,
    numbers,
    read_pieces,
    remark_all,
)

if TYPE_CHECKING:
    import polars as pl

_READING = re.compile(
    r"\A(?:timestamp,.*\r?\n)?"
    r"(?:\d{1,8},[\w+/=-]{10,100}(?:,\d+(?:\.\d+)?(?:[eE]-?\d+)?){3}\r?\n){2}",
    re.ASCII | re.IGNORECASE,
)
_MACHINE = re.compile(
    r"^[\w+/=-]{10,100},[\w+/=-]{10,100},[^,]*,\d{1,8},\d{1,8},[\d.eE-]+,[\d.eE-]+,[\d.eE-]+,"
    r"(?:Interactive|Delay-insensitive|Unknown),>?\d{1,3},>?[\d.]{1,7}\r?$",
    re.MULTILINE | re.ASCII,
)
_MOST_BYTES = 1 << 28
_MOST_MACHINES = 1_000
_GB = 1 << 30
_STEP_S = 300.0
_CORES = "azure cores"
_GOOGLE = {"start_time", "end_time", "collection_id", "instance_index"}
_CPUS = re.compile(r"""['"]?cpus['"]?\s*[:=]\s*([\d.eE+-]+)""")


class AzureMachines:
    """`vmtable`: a row a virtual machine."""

    name = "Azure vmtable"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        text = head_text(head)
        return bool(_MACHINE.search(text)) and not _READING.match(text)

    def read(self, source: Input, facts: Facts) -> None:
        """Cores and memory; of what is only told to be more than so many, so many."""
        cores = facts.between.setdefault(_CORES, {})
        memory = facts.between.setdefault("azure memory", {})
        lines = facts.between.setdefault("azure lines", {})
        dropped = taken = 0
        for line, text in enumerate(text_of(source, _MOST_BYTES, facts).splitlines(), 1):
            if not _MACHINE.match(text):
                dropped += bool(text.strip()) and line > 1
                continue
            cells = text.split(",")
            cores.setdefault(cells[0], float(cells[9].lstrip(">")))
            memory.setdefault(cells[0], amount(cells[10].lstrip(">")) or 0.0)
            lines.setdefault(cells[0], float(line))
            taken += 1
            if ">" in cells[9] + cells[10]:
                why = "more than so many cores or so much memory is told: so many count"
                facts.notices.append(Notice(why, source.at(line)))
        if not taken:
            raise ListingError("no virtual machine in it has cores", where=source.at())
        facts.afterwards.append(lambda: _tell_machines(source, facts))
        what = f"cores and memory of {taken} virtual machines"
        facts.took.append(Took(source.file, self.name, what, dropped))


def _tell_machines(source: Input, facts: Facts) -> None:
    """Facts of those machines whose use is told."""
    memory, lines = facts.between["azure memory"], facts.between["azure lines"]
    for identity in {series.partition for series in facts.series} & lines.keys():
        where = source.at(int(lines[identity]))
        if memory[identity] > 0:
            size: Told[object] = Told(round(memory[identity] * _GB), where)
            facts.tell(facts.partition(None, identity), "memory_bytes", size)


class AzureReadings:
    """`vm_cpu_readings`: a row a machine and five minutes."""

    name = "Azure VM readings"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        return bool(_READING.match(head_text(head)))

    def read(self, source: Input, facts: Facts) -> None:
        """Mean percentage of a machine's cores; cores once it is known how many it has."""
        import polars as pl

        heading = int(source.head[:9].lower() == b"timestamp")
        reader = SampleReader(
            delimiter=ord(","),
            columns=5,
            heading=heading,
            numbers=[4],
            needed=1,
            time=0,
            name=1,
            comma=False,
        )
        batches, rest = read_pieces(source, reader)
        names = pl.Series("name", rest["names"], dtype=pl.String)
        table = pl.DataFrame(
            {
                "time": column(batches, "time_us", "<i8"),
                "line": column(batches, "line", "<u8").astype("i8"),
                "share": numbers(batches, 0),
            }
        ).with_columns(
            pl.col("time").cast(pl.Datetime("us")),
            names.gather(column(batches, "name", "<u4")).alias("name"),
        )
        sound = table.filter(pl.col("share").is_between(0, 100))
        if sound.is_empty():
            raise nothing_sound(source, "reading", rest)
        remark_all(facts, source, rest["remarks"])
        dropped = rest["dropped"] + table.height - sound.height
        facts.afterwards.append(lambda: _add_readings(source, facts, sound, dropped))


def _add_readings(source: Input, facts: Facts, table: pl.DataFrame, dropped: int) -> None:
    """Cores of those machines that a table tells of."""
    import polars as pl

    cores = facts.between.get(_CORES, {})
    known = pl.DataFrame(
        {"name": list(cores), "count": list(cores.values())},
        schema={"name": pl.String, "count": pl.Float64},
    )
    kept = table.join(known, on="name", how="inner", maintain_order="left")
    machines = kept["name"].n_unique()
    problem = None
    if not machines:
        problem = "its use is in percent, and no vmtable tells how many cores its machines have"
    elif machines > _MOST_MACHINES:
        problem = f"it tells of {machines:,} machines, of {_MOST_MACHINES:,} at most a scenario is"
    if problem:
        step = "give a vmtable with the rows of those machines that matter"
        facts.left.append(Left(source.file, f"{problem}; {step}"))
        return
    strangers = table.height - kept.height
    if strangers:
        text = f"{strangers} readings are of machines that no vmtable tells of: left out"
        facts.notices.append(Notice(text, source.at()))
    first = kept.group_by("name", maintain_order=True).first()
    for name, line, count in first.select("name", "line", "count").iter_rows():
        partition = facts.partition(None, name)
        where = source.at(line)
        facts.tell(partition, "virtual", Told(round(count), where))
        facts.tell(partition, "hypervisor", Told("virtual machine", where))
    rows = kept.select(
        "name",
        "time",
        (pl.col("share") / 100 * pl.col("count")).alias("cores"),
        pl.lit(_STEP_S).alias("seconds"),
        "line",
    )
    added = add_use(facts, source, None, Use(rows, "used", "mean percentage of its cores"))
    took = Took(source.file, AzureReadings.name, str(added), dropped + added.dropped)
    facts.took.append(took)


class GoogleUsage:
    """`instance_usage` as CSV with a heading, or as JSON lines."""

    name = "Google instance usage"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        lines = head_text(head).lstrip("\ufeff \r\n").splitlines()
        first = lines[0] if lines else ""
        if first.startswith("{"):
            return all(f'"{field}"' in first for field in (*_GOOGLE, "average_usage"))
        return {cell.strip().strip('"') for cell in first.split(",")} >= _GOOGLE

    def read(self, source: Input, facts: Facts) -> None:
        """Use of each instance over its windows, in parts of the largest machine."""
        import polars as pl

        largest = facts.processors
        if largest is None:
            raise ListingError(
                "its use is in parts of the largest machine, whose processors nothing tells",
                where=source.at(),
                next_step="--cpus N says how many it has",
            )
        rows, dropped = [], 0
        for line, row in _rows(text_of(source, _MOST_BYTES, facts)):
            begin, end = amount(row.get("start_time")), amount(row.get("end_time"))
            use = _cpus(row)
            names = [row.get("collection_id"), row.get("instance_index")]
            if begin is None or end is None or use is None or not begin < end or None in names:
                dropped += 1
                text = "the row is left out: no window, no instance, or no average_usage"
                facts.notices.append(Notice(text, source.at(line)))
                continue
            name = "-".join(str(one) for one in names)
            rows.append((name, round(end), (end - begin) / 1e6, use * largest.value, line))
        if not rows:
            raise ListingError("none of its rows tells the use of an instance", where=source.at())
        schema = ["name", "time", "seconds", "cores", "line"]
        table = pl.DataFrame(rows, schema=schema, orient="row")
        if table["name"].n_unique() > _MOST_MACHINES:
            raise ListingError(
                f"it tells of {table['name'].n_unique():,} instances",
                there=f"{_MOST_MACHINES:,} make a scenario at most",
                where=source.at(),
                next_step="choose those of one machine_id, or of some collections",
            )
        table = table.with_columns(pl.col("time").cast(pl.Datetime("us")))
        for name, line in table.group_by("name").agg(pl.col("line").first()).iter_rows():
            told: Told[object] = Told("virtual machine", source.at(line))
            facts.tell(facts.partition(None, name), "hypervisor", told)
        text = f"use is in parts of a machine of {largest.value} processors; times count from 1970"
        facts.notices.append(Notice(text, largest.where))
        note = "average_usage.cpus, of the largest machine's processors"
        added = add_use(facts, source, None, Use(table, "used", note))
        facts.took.append(Took(source.file, self.name, str(added), dropped + added.dropped))


def _rows(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Rows by the names of their columns; those that cannot be read are empty."""
    lines = text.lstrip("\ufeff").splitlines()
    names: Sequence[str] = ()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if line.lstrip().startswith("{"):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = {}
            yield number, row if isinstance(row, dict) else {}
            continue
        try:
            cells = next(csv.reader([line]), [])
        except csv.Error:
            cells = []
        if set(cells) >= _GOOGLE:
            names = cells
        else:
            yield number, dict(zip(names, cells, strict=False)) if len(cells) == len(names) else {}


def _cpus(row: Mapping[str, Any]) -> float | None:
    """The use, which exports write as a record, as its text, or in a column of its own."""
    told = row.get("average_usage", row.get("average_usage.cpus", row.get("average_usage_cpus")))
    if isinstance(told, dict):
        return amount(told.get("cpus"))
    record = _CPUS.search(told) if isinstance(told, str) else None
    return amount(record[1] if record else told)


FORMATS: tuple[FileFormat, ...] = (AzureMachines(), AzureReadings(), GoogleUsage())
