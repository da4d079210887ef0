"""What a Hardware Management Console lists of the servers it manages: rows of `lssyscfg`,
`lshwres`, `lslparutil` and `lsmemopt`, and processed metrics (JSON) of its performance monitor.

Rows of partitions do not name their server. They belong to the one that the command above them
asks (`-m`, in a session), else to the one that a row of `lssyscfg -r sys` in the same file names,
else to the only one that other files tell of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from homenode import _engine
from homenode.records.importing.facts import (
    Facts,
    PartitionFacts,
    Quantity,
    Series,
    SystemFacts,
    Told,
    Took,
)
from homenode.records.importing.formats.aix import kind_of
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import Notice
from homenode.records.importing.shared.forms import FileFormat
from homenode.records.importing.shared.servers import NO_SERVER, to_the_only_server
from homenode.records.importing.shared.words import counted, number, unread, unsound, whole

_MOST = 1 << 30
MB = 1 << 20
_RUNNING = ("running", "open firmware", "starting")
_SYSTEMS = (("aix", "aix"), ("vios", "aix"), ("linux", "linux"), ("os/400", "ibm-i"),
            ("os400", "ibm-i"), ("ibm i", "ibm-i"))  # fmt: skip


def _parsed(source: Input, function: str) -> dict[str, Any]:
    try:
        text: str = getattr(_engine, function)(source.read(_MOST))
    except _engine.CaptureError as fault:
        raise unread(fault, source.at) from fault
    found: dict[str, Any] = json.loads(text)
    return found


class HmcReader:
    """Takes facts of one server out of one file."""

    def __init__(self, source: Input, facts: Facts, key: str | None) -> None:
        self.source, self.facts, self.key = source, facts, key

    def tell(
        self, of: SystemFacts | PartitionFacts, attribute: str, value: object, line: int
    ) -> None:
        """Tell an attribute, if there is a value."""
        if value is not None:
            self.facts.tell(of, attribute, Told(value, self.source.at(line)))

    def server(self, line: int) -> SystemFacts:
        """The server that the file is about."""
        system = self.facts.system(self.key if self.key is not None else NO_SERVER)
        self.tell(system, "architecture", "power", line)
        self.tell(system, "hypervisor", "powervm", line)
        return system

    def partition(self, name: str, fields: Mapping[str, str], line: int) -> PartitionFacts:
        """What a row of `lshwres`, `lslparutil` or metrics says of a partition."""
        of = self.facts.partition(self.key, name)
        values = _common(fields)
        for what in ("units", "procs", "weight", "memory"):
            if what in values and number(values[what]) is None:
                text = f"{_WORDS[what]} of {name}"
                self.facts.notices.append(unsound(text, values[what], self.source.at(line)))
        sharing = values.get("sharing", "")
        if sharing:
            shared = sharing in ("cap", "uncap")
            self.tell(of, "mode", "shared" if shared else "dedicated", line)
            if shared:
                self.tell(of, "capped", sharing == "cap", line)
            else:
                self.tell(of, "donating", sharing.startswith("share_idle_procs"), line)
        if of.mode is None or of.mode.value == "shared":
            self.tell(of, "entitlement", number(values.get("units", "")), line)
            self.tell(of, "weight", whole(values.get("weight", "")), line)
            self.tell(of, "pool", values.get("pool"), line)
        self.tell(of, "number", whole(values.get("id", "")), line)
        self.tell(of, "virtual", whole(values.get("procs", "")), line)
        memory = number(values.get("memory", ""))
        self.tell(of, "memory_bytes", None if memory is None else round(memory * MB), line)
        self.tell(of, "os", _system(values.get("os", "")), line)
        self.limits(of, fields, line)
        return of

    def limits(self, of: PartitionFacts, fields: Mapping[str, str], line: int) -> None:
        """Limits, of the partition as it runs or of its profile."""
        kinds = {"min": of.minimum, "max": of.maximum, "desired": of.desired, "pend": of.desired}
        quantities = (("entitlement", "proc_units", 1.0), ("virtual", "procs", 1.0),
                      ("memory_bytes", "mem", float(MB)))  # fmt: skip
        for kind, limits in kinds.items():
            for quantity, suffix, unit in quantities:
                text = fields.get(f"{kind}_{suffix}", fields.get(f"curr_{kind}_{suffix}", ""))
                value = number(text)
                if value is not None:
                    limits.setdefault(quantity, Told(value * unit, self.source.at(line)))


_COMMON = {
    "id": ("lpar_id", "id"),
    "units": ("curr_proc_units", "entitledProcUnits"),
    "procs": ("curr_procs", "currentVirtualProcessors"),
    "sharing": ("curr_sharing_mode", "mode"),
    "weight": ("curr_uncap_weight", "weight"),
    "pool": ("curr_shared_proc_pool_id", "poolId", "curr_shared_proc_pool_name"),
    "memory": ("curr_mem",),
    "os": ("os_version", "osType", "lpar_env"),
}


_WORDS = {
    "units": "entitlement",
    "procs": "virtual processors",
    "weight": "weight",
    "memory": "memory",
}


def _common(fields: Mapping[str, str]) -> dict[str, str]:
    """The values that rows and metrics have under different names."""
    found = {}
    for meaning, names in _COMMON.items():
        there = (fields.get(name) for name in names)
        text = next((text for text in there if text not in (None, "", "null")), None)
        if text:
            found[meaning] = text
    return found


def _system(text: str) -> str | None:
    """The operating system; `aixlinux` does not say which."""
    plain = text.strip().lower()
    if plain in ("", "aixlinux", "aix/linux", "unknown", "0.0.0.0.0 0"):
        return None
    return next((name for start, name in _SYSTEMS if plain.startswith(start)), None)


class RowsFormat:
    """Rows of the command line."""

    name = "hmc"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        return kind_of(head) == self.name

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat.read`."""
        found = _parsed(source, "read_hmc_rows")
        told = found["found"]["rows"]
        rows = [(row["kind"], row["line"], dict(row["fields"])) for row in told]
        servers = _Servers(source, facts, [row for kind, _, row in rows if kind == "lssyscfg sys"])
        for (kind, line, row), one in zip(rows, told, strict=True):
            _ROWS[kind](servers.reader(one["system"]), row, line)
        for reader in servers.readers.values():
            mine = [
                row
                for row, one in zip(rows, told, strict=True)
                if servers.reader(one["system"]) is reader
            ]
            facts.afterwards.append(partial(_pools, reader, mine))
        counts = {one: sum(1 for kind, _, _ in rows if kind == one) for one in _ROWS}
        what = [f"{counted(count, 'row')} of {one}" for one, count in counts.items() if count]
        for usage in found["found"]["usage"]:
            what += _series(servers.reader(usage["system"]), [usage], "lslparutil")
        if None in servers.readers:
            facts.afterwards.append(lambda: to_the_only_server(facts))
        for remark in found["remarks"]:
            facts.notices.append(Notice(remark["text"], source.at(remark["line"])))
        facts.took.append(Took(source.file, self.name, "; ".join(what), found["dropped"]))


class _Servers:
    """Whose rows are whose in one file."""

    def __init__(self, source: Input, facts: Facts, systems: Sequence[Mapping[str, str]]) -> None:
        self.source, self.facts = source, facts
        serials = {row["serial_num"] for row in systems if "serial_num" in row}
        self.only = serials.pop() if len(serials) == 1 else None
        self.named = {
            name: row["serial_num"]
            for row in systems
            if "serial_num" in row
            for name in (row.get("name"), _type_and_serial(row))
            if name
        }
        self.readers: dict[str | None, HmcReader] = {}

    def reader(self, asked: str | None) -> HmcReader:
        """For rows of the server that a command asked by name, or by type, model and serial number;
        one that no row describes has its name for a key.
        """
        key = self.only if asked is None else self.named.get(asked, asked)
        if key not in self.readers:
            self.readers[key] = HmcReader(self.source, self.facts, key)
        return self.readers[key]


def _type_and_serial(row: Mapping[str, str]) -> str | None:
    return f"{row['type_model']}*{row['serial_num']}" if "type_model" in row else None


def _server_row(reader: HmcReader, row: Mapping[str, str], line: int) -> None:
    if "serial_num" not in row:
        return
    system = reader.facts.system(row["serial_num"])
    reader.tell(system, "model", row.get("type_model"), line)
    reader.tell(system, "architecture", "power", line)
    reader.tell(system, "hypervisor", "powervm", line)


def _partition_row(reader: HmcReader, row: Mapping[str, str], line: int) -> None:
    name = row.get("lpar_name", row.get("name", ""))
    if name:
        of = reader.partition(name, row, line)
        if "state" in row:
            reader.tell(of, "running", row["state"].lower() in _RUNNING, line)


def _profile_row(reader: HmcReader, row: Mapping[str, str], line: int) -> None:
    name = row.get("lpar_name", "")
    if not name:
        return
    reader.limits(reader.facts.partition(reader.key, name), row, line)

    def ask() -> None:
        # A profile says how the partition starts; how it runs is told by lshwres, of any file.
        same = (of for (_, known), of in reader.facts.partitions.items() if known == name)
        if any(of.mode is not None for of in same):
            return
        asked = {"curr_sharing_mode": row.get("sharing_mode", ""),
                 "curr_uncap_weight": row.get("uncap_weight", ""),
                 "curr_proc_units": row.get("desired_proc_units", ""),
                 "curr_procs": row.get("desired_procs", ""),
                 "curr_mem": row.get("desired_mem", ""),
                 "curr_shared_proc_pool_id": row.get("shared_proc_pool_id", "")}  # fmt: skip
        reader.partition(name, asked, line)

    reader.facts.afterwards.append(ask)


def _processors_row(reader: HmcReader, row: Mapping[str, str], line: int) -> None:
    system = reader.server(line)
    cores = number(row.get("configurable_sys_proc_units", ""))
    installed = number(row.get("installed_sys_proc_units", ""))
    reader.tell(system, "cores", None if cores is None else round(cores), line)
    reader.tell(system, "installed_cores", None if installed is None else round(installed), line)


def _pool_row(reader: HmcReader, row: Mapping[str, str], line: int) -> None:
    cores = number(row.get("configurable_pool_proc_units", ""))
    value = None if cores is None else round(cores)
    reader.tell(reader.server(line), "pool_cores", value, line)


def _memory_row(reader: HmcReader, row: Mapping[str, str], line: int) -> None:
    memory = number(row.get("configurable_sys_mem", row.get("installed_sys_mem", "")))
    value = None if memory is None else round(memory * MB)
    reader.tell(reader.server(line), "memory_bytes", value, line)


def _score_row(reader: HmcReader, row: Mapping[str, str], line: int) -> None:
    names = ("curr_lpar_score", "curr_sys_score", "predicted_lpar_score", "predicted_sys_score")
    scores = [f"{name} {row[name]}" for name in names if name in row]
    of = row.get("lpar_name", "the server")
    text = f"affinity score of {of}, of 100: {', '.join(scores)}; nothing is made of it"
    reader.facts.notices.append(Notice(text, reader.source.at(line)))


def _nothing(reader: HmcReader, row: Mapping[str, str], line: int) -> None:
    """Pools are put to their partitions when all of these are known."""
    del reader, row, line


_ROWS = {
    "lssyscfg sys": _server_row,
    "lssyscfg lpar": _partition_row,
    "lssyscfg prof": _profile_row,
    "lshwres proc sys": _processors_row,
    "lshwres proc lpar": _partition_row,
    "lshwres proc pool": _pool_row,
    "lshwres procpool": _nothing,
    "lshwres mem sys": _memory_row,
    "lshwres mem lpar": _partition_row,
    "lsmemopt sys": _score_row,
    "lsmemopt lpar": _score_row,
}


def _pools(reader: HmcReader, rows: Sequence[tuple[str, int, Mapping[str, str]]]) -> None:
    """The most that the partitions of a pool may use together."""
    for kind, line, row in rows:
        most = number(row.get("max_pool_proc_units", ""))
        if kind != "lshwres procpool" or most is None:
            continue
        names = {row.get("name"), row.get("shared_proc_pool_id")} - {None}
        for partition in reader.facts.partitions.values():
            if partition.pool is not None and partition.pool.value in names:
                reader.tell(partition, "pool_maximum", most, line)


def _series(reader: HmcReader, usage: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    """Add use over time; what it is, in words."""
    what = []
    for one in usage:
        fields = dict(one["fields"])
        of = reader.partition(one["name"], fields, one["line"])
        samples = one["samples"]
        if not samples["times"]:
            continue
        sizes = zip(samples["memory_mb"], samples["lines"], strict=True)
        size, line = next((told for told in sizes if told[0] is not None), (None, 0))
        if of.memory_bytes is None and size is not None:
            reader.tell(of, "memory_bytes", round(size * MB), int(line or 0))
        quantity: Quantity = "physc" if of.mode is None or of.mode.value == "shared" else "used"
        table = _table(samples)
        note = f"{kind}: " + _NOTES[kind]
        reader.facts.series.append(
            Series(
                of.name, of.system, quantity, table, reader.source.file, note, samples["ahead_s"]
            )
        )
        what.append(f"{counted(table.height, 'sample')} of {of.name}")
    return what


_NOTES = {
    "lslparutil": "differences of capped and uncapped cycles over those of time",
    "metrics": "utilizedProcUnits",
}


def _table(samples: Mapping[str, Any]) -> Any:
    import polars as pl

    times = pl.Series(samples["times"], dtype=pl.Float64)
    lengths = pl.Series(samples["seconds"], dtype=pl.Float64)
    # A document may not say how long its samples are; then each reaches back to the one before.
    between = times.diff()
    usual = between.median()
    lengths = lengths.fill_null(between).fill_null(usual if isinstance(usual, float) else 30.0)
    memory = pl.Series(samples["memory_mb"], dtype=pl.Float64) * MB
    return pl.DataFrame(
        {
            "time": (times * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us")),
            "seconds": lengths,
            "cores": pl.Series(samples["cores"], dtype=pl.Float64),
            "memory": memory,
            "line": pl.Series(samples["lines"], dtype=pl.Int64),
        }
    )


class MetricsFormat:
    """Processed metrics of the performance monitor."""

    name = "pcm"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        return kind_of(head) == self.name

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat.read`."""
        found = _parsed(source, "read_hmc_metrics")
        document = found["found"]
        server = dict(document["server"])
        model, _, serial = server.get("mtms", "").partition("*")
        key = serial or server.get("name")
        reader = HmcReader(source, facts, key)
        system = reader.server(1)
        reader.tell(system, "model", model or None, 1)
        units = dict(document["processors"])
        names = {"installed_cores": "totalProcUnits", "cores": "configurableProcUnits"}
        for attribute, name in names.items():
            if name in units:
                reader.tell(system, attribute, round(units[name]), 1)
        what = _series(reader, document["usage"], "metrics")
        for name, line in document["stopped"]:
            reader.tell(facts.partition(key, name), "running", False, line)
        for remark in found["remarks"]:
            facts.notices.append(Notice(remark["text"], source.at(remark["line"])))
        text = "; ".join(what) or f"{counted(document['samples'], 'sample')} of a server only"
        facts.took.append(Took(source.file, self.name, text, found["dropped"]))


FORMATS: tuple[FileFormat, ...] = (RowsFormat(), MetricsFormat())
