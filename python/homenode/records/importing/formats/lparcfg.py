"""`/proc/ppc64/lparcfg` of Linux on Power, as a file or in the dump of a partition.

Capacities stand in hundredths of a core. Copies one after another give the use between them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from homenode import _engine
from homenode.errors import Where
from homenode.records.importing.facts import Facts, PartitionFacts, Series, SystemFacts, Told, Took
from homenode.records.importing.formats.aix import kind_of
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, Notice
from homenode.records.importing.opening.trees import Tree
from homenode.records.importing.shared.forms import FileFormat, TreeFormat
from homenode.records.importing.shared.servers import NO_SERVER
from homenode.records.importing.shared.words import counted, named_after, number, unsound, whole

_MOST = 64 << 20
_PATH = "proc/ppc64/lparcfg"
_MB = 1 << 20
At = Callable[[int], Where]


def parsed(raw: bytes, where: Where) -> dict[str, Any]:
    """What the bytes say; `ListingError` if it is nothing."""
    try:
        found: dict[str, Any] = json.loads(_engine.read_lparcfg(raw))
    except _engine.CaptureError as fault:
        raise ListingError(str(fault), where=where) from fault
    return found


def tell(
    found: Mapping[str, Any], facts: Facts, at: At, name: str, file: str, server: str = NO_SERVER
) -> str:
    """Add all copies; what they are, in words. `name` and `server` hold where nothing is told."""
    partition = None
    for snapshot in found["found"]["snapshots"]:
        reader = _Reader(facts, at, {key: (value, line) for key, value, line in snapshot["fields"]})
        system = reader.server(server)
        partition = facts.partition(system.key or None, reader.text("partition_name") or name)
        reader.partition(partition)
    for remark in found["remarks"]:
        facts.notices.append(Notice(remark["text"], at(remark["line"])))
    intervals = found["found"]["intervals"]
    if partition is None or not intervals:
        return "one partition" if partition is None else f"partition {partition.name}"
    facts.series.append(_series(partition, intervals, file))
    text = "copies of lparcfg tell no time of day: they count from 1970-01-01"
    facts.notices.append(Notice(text, at(1)))
    return f"partition {partition.name}; {counted(len(intervals), 'sample')} from its copies"


def _series(partition: PartitionFacts, intervals: list[dict[str, Any]], file: str) -> Series:
    import polars as pl

    seconds = pl.Series([one["seconds"] for one in intervals], dtype=pl.Float64)
    ends = (seconds.cum_sum() * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us"))
    table = pl.DataFrame(
        {
            "time": ends,
            "seconds": seconds,
            "cores": pl.Series([one["cores"] for one in intervals], dtype=pl.Float64),
            "line": pl.Series([one["line"] for one in intervals], dtype=pl.Int64),
        }
    )
    note = "differences of purr over those of tbr"
    return Series(partition.name, partition.system, "physc", table, file, note)


class _Reader:
    """Takes facts out of one copy."""

    def __init__(self, facts: Facts, at: At, fields: Mapping[str, tuple[str, int]]) -> None:
        self.facts, self.at, self.fields = facts, at, fields

    def text(self, key: str) -> str | None:
        """The value of a key."""
        return self.fields[key][0] if key in self.fields else None

    def tell(
        self, of: PartitionFacts | SystemFacts, attribute: str, key: str, value: object
    ) -> None:
        """Tell an attribute that was read under a key."""
        if value is not None:
            self.facts.tell(of, attribute, Told(value, self.at(self.fields[key][1])))

    def amount(self, key: str, unit: float = 1.0) -> float | None:
        """A value in other units; none if it is not there."""
        value = self._size(key)
        return None if value is None else value * unit

    def _size(self, key: str) -> float | None:
        """A value that is a size; a notice says so if it is none."""
        if key not in self.fields:
            return None
        text, line = self.fields[key]
        value = number(text)
        if value is None:
            self.facts.notices.append(unsound(key, text, self.at(line)))
        return value

    def count(self, key: str) -> int | None:
        """The value of a key, if it is a whole number."""
        value = self._size(key)
        return None if value is None else whole(f"{value:.15g}")

    def server(self, otherwise: str) -> SystemFacts:
        """The server, by its serial number."""
        system = self.facts.system(_serial(self.text("serial_number") or "") or otherwise)
        if "system_type" in self.fields:
            model = (self.text("system_type") or "").split(",")[-1].strip()
            self.tell(system, "model", "system_type", model or None)
        active = self.count("system_active_processors")
        self.tell(system, "cores", "system_active_processors", active)
        potential = self.count("system_potential_processors")
        self.tell(system, "installed_cores", "system_potential_processors", potential)
        pool = self.count("physical_procs_allocated_to_virtualization")
        self.tell(system, "pool_cores", "physical_procs_allocated_to_virtualization", pool)
        for attribute, value in (("architecture", "power"), ("hypervisor", "powervm")):
            key = next(iter(self.fields))
            self.tell(system, attribute, key, value)
        return system

    def partition(self, of: PartitionFacts) -> None:
        """How it is dispatched, and how large it is."""
        shared = self.text("shared_processor_mode")
        if shared in ("0", "1"):
            mode = "shared" if shared == "1" else "dedicated"
            self.tell(of, "mode", "shared_processor_mode", mode)
        self.tell(of, "number", "partition_id", self.count("partition_id"))
        is_shared = of.mode is None or of.mode.value == "shared"
        capped = self.text("capped")
        if capped in ("0", "1") and is_shared:
            self.tell(of, "capped", "capped", capped == "1")
        donating = self.text("DedDonMode")
        if donating in ("0", "1") and not is_shared:
            self.tell(of, "donating", "DedDonMode", donating == "1")
        if is_shared:
            key = "partition_entitled_capacity"
            self.tell(of, "entitlement", key, self.amount(key, 0.01))
            self.tell(of, "weight", "capacity_weight", self.count("capacity_weight"))
            pool = self.text("pool")
            self.tell(of, "pool", "pool", pool or None)
            if pool not in (None, "0"):
                self.tell(of, "pool_maximum", "pool_capacity", self.amount("pool_capacity", 0.01))
        active = self.count("partition_active_processors")
        self.tell(of, "virtual", "partition_active_processors", active)
        if self.fields:
            self.tell(of, "os", next(iter(self.fields)), "linux")
        self._limits(of)

    def _limits(self, of: PartitionFacts) -> None:
        rows = (
            (of.minimum, "entitlement", "MinEntCap", 0.01),
            (of.maximum, "entitlement", "partition_max_entitled_capacity", 0.01),
            (of.desired, "entitlement", "DesEntCap", 0.01),
            (of.minimum, "virtual", "MinProcs", 1.0),
            (of.maximum, "virtual", "partition_potential_processors", 1.0),
            (of.desired, "virtual", "DesProcs", 1.0),
            (of.minimum, "memory_bytes", "MinMem", _MB),
            # The kernel counts this one in bytes.
            (of.maximum, "memory_bytes", "MaxMem", 1.0),
            (of.desired, "memory_bytes", "DesMem", _MB),
        )
        for limits, quantity, key, unit in rows:
            value = self.amount(key, unit)
            if value is not None:
                limits.setdefault(quantity, Told(value, self.at(self.fields[key][1])))
        desired = of.desired.get("memory_bytes")
        if desired is not None and of.memory_bytes is None:
            # The file does not say how much is online.
            self.tell(of, "memory_bytes", "DesMem", int(desired.value))


def _serial(text: str) -> str:
    """`IBM,0278A1B2C`: the maker stands before it."""
    return text.rsplit(",", maxsplit=1)[-1].strip()


def identity(tree: Tree) -> tuple[str, str]:
    """Key of the server and name of the partition that a dump with an lparcfg is of; the same for
    all that read the dump.
    """
    lines = tree.files[_PATH].decode("utf-8", "replace").splitlines()
    told = dict(line.strip().split("=", 1) for line in lines if "=" in line)
    name = _hostname(tree)
    return _serial(told.get("serial_number", "")) or name, told.get("partition_name") or name


class LparcfgFormat:
    """`/proc/ppc64/lparcfg` recorded as a file of its own."""

    name = "lparcfg"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat.recognises`."""
        del name
        return kind_of(head) == "lparcfg"

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat.read`."""
        found = parsed(source.read(_MOST), source.at())
        what = tell(found, facts, source.at, named_after(source.file), source.file)
        facts.took.append(Took(source.file, self.name, what, found["dropped"]))


class LparcfgTree:
    """The file in the dump of a partition."""

    name = "lparcfg"

    def recognises(self, tree: Tree) -> bool:
        """See `TreeFormat.recognises`."""
        return _PATH in tree.files

    def read(self, tree: Tree, facts: Facts) -> None:
        """See `TreeFormat.read`."""

        def at(line: int) -> Where:
            return tree.at(_PATH, line)

        found = parsed(tree.files[_PATH], tree.at(_PATH))
        server, name = identity(tree)
        what = tell(found, facts, at, name, tree.file, server)
        facts.took.append(Took(tree.file, self.name, what, found["dropped"]))


def _hostname(tree: Tree) -> str:
    """The name that the partition has on its network; lparcfg has one on newer kernels only."""
    for path in ("proc/device-tree/ibm,partition-name", "proc/sys/kernel/hostname"):
        raw = tree.files.get(path, b"").strip(b"\0\n ")
        if raw:
            return raw.decode("utf-8", "replace")
    return "partition"


FORMATS: tuple[FileFormat, ...] = (LparcfgFormat(),)
TREE_FORMATS: tuple[TreeFormat, ...] = (LparcfgTree(),)
