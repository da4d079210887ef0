"""RVTools: inventories of vSphere as a workbook, or as a CSV file a sheet.

Of `vInfo` and `vCPU` the virtual machines are taken, of `vHost` what they run on, of `vMemory`
nothing that the others do not say. An inventory holds the use of one moment: `Overall` of vCPU.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from homenode.errors import Where, listed
from homenode.records.importing.facts import Facts, Told, Took
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, Notice, head_text
from homenode.records.importing.shared.forms import FileFormat, text_of
from homenode.records.importing.shared.samples import Use, add_use
from homenode.records.importing.shared.words import counted

SHEETS = frozenset({"vInfo", "vCPU", "vHost"})
"""Sheets that are read."""
_MOST_BYTES = 1 << 28
_MIB, _MHZ = 1 << 20, 1e6
_ROOT_POOL = "/Resources/"
"""The pool of a whole host or cluster, which all others are in."""
_MOMENT_S = 20.0
"""Over which vSphere averages what it shows as current [s]."""
_THOUSANDS = re.compile("[0-9]{1,3}(?:[ ,.'\u00a0\u2019][0-9]{3})+")
_MARKS = {
    "vInfo": ("VM", "Powerstate", "Template", "CPUs", "Memory"),
    "vCPU": ("VM", "Powerstate", "Template", "CPUs", "Sockets"),
    "vHost": ("Host", "Datacenter", "Cluster", "CPU Model"),
}
Row = Mapping[str, object]
Rows = Iterable[tuple[int, Row]]


class RvtoolsCsv:
    """One sheet of RVTools as CSV."""

    name = "RVTools CSV"

    def recognises(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the heading tells
        """See `FileFormat`."""
        return _sheet(head_text(head)) is not None

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat`."""
        text = text_of(source, _MOST_BYTES, facts)
        sheet = _sheet(text)
        if sheet is None:
            raise ListingError("it has no heading of RVTools", where=source.at(1))
        name, delimiter = sheet
        take(source, facts, {name: _csv_rows(source, text, delimiter)})


def _sheet(text: str) -> tuple[str, str] | None:
    """Which sheet a CSV file is, and what stands between its fields."""
    first = text.lstrip("\r\n").split("\n", 1)[0]
    delimiter = ";" if first.count(";") > first.count(",") else ","
    words = {word.strip().strip('"') for word in first.split(delimiter)}
    found = next((name for name, marks in _MARKS.items() if words.issuperset(marks)), None)
    return None if found is None else (found, delimiter)


def _csv_rows(source: Input, text: str, delimiter: str) -> Iterator[tuple[int, Row]]:
    rows = csv.DictReader(io.StringIO(text.replace("\0", "")), delimiter=delimiter)
    try:
        for row in rows:
            yield rows.line_num, {key.strip(): cell for key, cell in row.items() if key}
    except csv.Error as failure:
        text = f"{failure}; what comes before is kept"
        raise ListingError(text, where=source.at(rows.line_num)) from failure


@dataclass
class _Machine:
    """A virtual machine, as far as it is told."""

    name: str
    line: int
    host: str | None = None
    on: bool = True
    count: int | None = None
    memory: int | None = None
    os: str | None = None
    shares: int | None = None
    used_mhz: float | None = None
    reserved_mhz: float | None = None
    limit_mhz: float | None = None
    pool: str | None = None


@dataclass
class _Inventory:
    """All that sheets tell."""

    machines: dict[str, _Machine] = field(default_factory=dict)
    dropped: int = 0
    templates: int = 0
    off: int = 0


def take(source: Input, facts: Facts, sheets: Mapping[str, Rows]) -> None:
    """Facts of hosts and virtual machines; use, once it is known how fast the hosts are."""
    hosts = _take_hosts(source, facts, sheets["vHost"]) if "vHost" in sheets else 0
    inventory = _Inventory()
    for sheet in ("vInfo", "vCPU"):
        for line, row in sheets.get(sheet, ()):
            _take_row(inventory, line, row)
    machines = [one for one in inventory.machines.values() if one.on]
    if not machines and not hosts:
        raise ListingError("it tells of no virtual machine that is on", where=source.at())
    for one in machines:
        _tell(facts, one, source.at(one.line))
    if machines:
        facts.afterwards.append(lambda: _tell_untold_hosts(source, facts, machines))
    _say_left(source, facts, inventory)
    _say_pools(source, facts, machines)
    if machines:
        facts.afterwards.append(lambda: _add_use(source, facts, machines))
    counts = ((hosts, "host"), (len(machines), "virtual machine"))
    parts = [f"{count} {what}{'s' if count > 1 else ''}" for count, what in counts if count]
    what = f"{', '.join(sorted(sheets))}: {', '.join(parts)}"
    facts.took.append(Took(source.file, "RVTools", what, inventory.dropped))


def _take_hosts(source: Input, facts: Facts, rows: Rows) -> int:
    clocks = facts.between.setdefault("rvtools", {})
    count = 0
    for line, row in rows:
        name = _text(row, "Host")
        if name is None:
            continue
        count += 1
        system, where = facts.system(name), source.at(line)
        speed, cores, chips = (_number(row, key) for key in ("Speed", "# Cores", "# CPU"))
        facts.tell(system, "hypervisor", Told("vmware", where))
        facts.tell(system, "architecture", Told("x86_64", where))
        if (model := _text(row, "CPU Model")) is not None:
            facts.tell(system, "processor", Told(model, where))
        if (machine := _text(row, "Model")) is not None:
            facts.tell(system, "model", Told(machine, where))
        if speed:
            facts.tell(system, "clock_hz", Told(speed * _MHZ, where))
            clocks.setdefault(name, speed)
        if cores:
            facts.tell(system, "cores", Told(round(cores), where))
        if chips:
            facts.tell(system, "chips", Told(round(chips), where))
        if (memory := _number(row, "# Memory")) is not None:
            facts.tell(system, "memory_bytes", Told(round(memory * _MIB), where))
        if (threads := _flag(row, "HT Active")) is not None:
            facts.tell(system, "threads_per_core", Told(2 if threads else 1, where))
    return count


def _take_row(inventory: _Inventory, line: int, row: Row) -> None:
    name, host = _text(row, "VM"), _text(row, "Host")
    if name is None:
        inventory.dropped += 1
        return
    if _flag(row, "Template"):
        inventory.templates += name not in inventory.machines
        return
    key = _text(row, "VM UUID") or _text(row, "VM ID") or f"{host}/{name}"
    one = inventory.machines.setdefault(key, _Machine(name, line))
    one.host = one.host or host
    if _text(row, "Powerstate") not in (None, "poweredOn"):
        inventory.off += one.on
        one.on = False
    count, memory, shares = (_number(row, key) for key in ("CPUs", "Memory", "Shares"))
    one.count = one.count or (round(count) if count else None)
    one.memory = one.memory or (round(memory * _MIB) if memory else None)
    one.shares = one.shares or (round(shares) if shares else None)
    one.pool = one.pool or _pool(row)
    one.os = one.os or _text(row, "OS according to the VMware Tools")
    one.os = one.os or _text(row, "OS according to the configuration file")
    if "Sockets" in row:  # of vCPU: elsewhere these are of memory
        one.used_mhz = _number(row, "Overall")
        one.reserved_mhz, one.limit_mhz = _number(row, "Reservation"), _number(row, "Limit")


def _tell(facts: Facts, one: _Machine, where: Where) -> None:
    partition = facts.partition(one.host, one.name)
    if one.count:
        facts.tell(partition, "virtual", Told(one.count, where))
    if one.memory:
        facts.tell(partition, "memory_bytes", Told(one.memory, where))
    if one.shares:
        facts.tell(partition, "weight", Told(one.shares, where))
    if one.os:
        facts.tell(partition, "os", Told(_os(one.os), where))
    facts.tell(partition, "mode", Told("shared", where))
    facts.tell(partition, "capped", Told(bool(one.limit_mhz and one.limit_mhz > 0), where))


def _tell_untold_hosts(source: Input, facts: Facts, machines: list[_Machine]) -> None:
    """What is known of hosts that no sheet describes: that they run these machines under vSphere.
    Their clock is not, so that use in MHz says nothing of cores.
    """
    untold: dict[str, list[_Machine]] = {}
    for one in machines:
        if one.host is not None and facts.system(one.host).processor is None:
            untold.setdefault(one.host, []).append(one)
    clocks = facts.between.get("rvtools", {})
    for host, of_host in untold.items():
        system, where = facts.system(host), source.at(of_host[0].line)
        if system.hypervisor is None:
            facts.tell(system, "hypervisor", Told("vmware", where))
            facts.tell(system, "architecture", Told("x86_64", where))
        if host not in clocks:
            count = sum(one.used_mhz is not None for one in of_host)
            lost = f"; use of {count} in MHz is left out, for its clock is not told"
            text = f"no sheet tells of host {host}: {len(of_host)} virtual machines run on it"
            facts.notices.append(Notice(f"{text}{lost if count else ''}", where))


def _os(text: str) -> str:
    low = text.lower()
    if "windows" in low:
        return "windows"
    known = ("linux", "ubuntu", "debian", "centos", "suse", "red hat", "fedora", "photon")
    return "linux" if any(word in low for word in known) else "other"


def _say_left(source: Input, facts: Facts, inventory: _Inventory) -> None:
    for count, what in ((inventory.templates, "templates"), (inventory.off, "not switched on")):
        if count:
            facts.notices.append(
                Notice(f"left out: virtual machines, {what}: {count}", source.at())
            )


def _pool(row: Row) -> str | None:
    """The resource pool of a virtual machine, from the root's on; none in the root."""
    path = _text(row, "Resource pool")
    _, _, inside = (path or "").partition(_ROOT_POOL)
    return inside.strip("/") or None


def _say_pools(source: Input, facts: Facts, machines: list[_Machine]) -> None:
    """Resource pools are named: what they share, reserve and may use stands in no sheet that is
    read.
    """
    inside = [one for one in machines if one.pool is not None]
    if inside:
        names = listed(sorted({str(one.pool) for one in inside}))
        who = f"{counted(len(inside), 'virtual machine')} {'is' if len(inside) == 1 else 'are'}"
        text = f"{who} in resource pools, which are left out ({names})"
        step = "their shares count among all; write [[resource_pool]] and resource_pool"
        facts.notices.append(Notice(f"{text}: {step}", source.at(inside[0].line)))


def _add_use(source: Input, facts: Facts, machines: list[_Machine]) -> None:
    """The use of the moment of the inventory, in processors as fast as those of its host."""
    import polars as pl

    clocks = facts.between.get("rvtools", {})
    by_host: dict[str | None, list[tuple[str, float, int]]] = {}
    for one in machines:
        speed = clocks.get(one.host or "")
        if speed and one.used_mhz is not None:
            rows = by_host.setdefault(one.host, [])
            rows.append((one.name, one.used_mhz / speed, one.line))
    for host, rows in by_host.items():
        table = pl.DataFrame(rows, schema=["name", "cores", "line"], orient="row").with_columns(
            pl.lit(round(_MOMENT_S * 1e6)).cast(pl.Datetime("us")).alias("time"),
            pl.lit(_MOMENT_S).alias("seconds"),
        )
        add_use(facts, source, host, Use(table, "used", "MHz used, by the clock of its host"))
    if by_host:
        text = f"an inventory tells the use of one moment: it counts as {_MOMENT_S:g} s, from 1970"
        facts.notices.append(Notice(text, source.at()))


def _text(row: Row, key: str) -> str | None:
    value = row.get(key)
    text = "" if value is None else str(value).strip()
    return text or None


def _number(row: Row, key: str) -> float | None:
    """A number, with whatever an export puts between its thousands; none below 0."""
    value = row.get(key)
    if isinstance(value, bool) or value is None:
        return None
    text = str(value).strip()
    if _THOUSANDS.fullmatch(text):
        text = re.sub("[^0-9]", "", text)
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _flag(row: Row, key: str) -> bool | None:
    text = str(row.get(key, "")).strip().lower()
    return {"true": True, "false": False, "yes": True, "no": False}.get(text)


FORMATS: tuple[FileFormat, ...] = (RvtoolsCsv(),)
