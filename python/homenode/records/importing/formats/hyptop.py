"""hyptop in batch mode: its table and its formats json, json-seq, jsonl, pairs, csv.

Of every look the use of each partition (under PR/SM) or virtual machine (under z/VM) is taken, and
how many cores or processors it has. Sums and totals since the start are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from homenode import _engine
from homenode.records.importing.facts import Facts, Told, Took
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, Notice, head_text
from homenode.records.importing.shared.forms import FileFormat, text_of
from homenode.records.importing.shared.samples import Use, add_use

_MOST_BYTES = 1 << 28
_TABLE = re.compile(
    r"(?:(?:\S+[#$>%] |[#$] )?\S*hyptop .*\n|\s)*"
    r"\d\d:\d\d:\d\d (?:\| (?i:cpu-t:)|\|.*\?=help|(?i:cpu-t:))"
)
"""Behind the command, where it was copied too."""
_OF_GUESTS = ("memuse", "memmax", "wcur", "wmax", "cpuop", "#cpuop")
_OBJECTS = re.compile(r'[\s\x1e]*\{\s*"(?:meta|hyptop|iteration)"')
_TOLD_OF_TOOL = re.compile(r'"hyptop"\s*:|"iteration"\s*:|hyptop')
_PAIRS = re.compile(r"(?:meta\.\w+=.*\r?\n)*hyptop\[\d+\]\.")
_CSV = re.compile(r'"?(?:meta\.|iteration).*"?iteration"?,.*"?system"?(?:,|$)', re.MULTILINE)
_FIELDS = re.compile(r"(?:-f|--fields)[ =]*(\S+)")
_CLOCK = re.compile(r"(\d\d):(\d\d):(\d\d)$")
_PERCENT = {"us": 1e6, "ms": 1e3, "%": 1e2, "s": 1.0}
"""Units of time a second, as parts of a core."""
_SIZES = {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_DAY = timedelta(days=1)
_CORES = {"cpu": "core", "#cpu": "#core"}
_TYPES = {"CP": "cp", "IFL": "ifl"}


class Hyptop:
    """All formats of hyptop's batch mode."""

    name = "hyptop"

    def recognises(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the content tells
        """See `FileFormat`."""
        text = head_text(head)
        if _OBJECTS.match(text):
            return _TOLD_OF_TOOL.search(text) is not None and '"systems"' in text
        return any(form.match(text) for form in (_TABLE, _PAIRS, _CSV))

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat`."""
        found = json.loads(_engine.read_hyptop(text_of(source, _MOST_BYTES, facts)))
        recording = found["found"]
        _rename(recording)
        guests = any("cpu" in one["values"] for one in _systems(recording))
        reading = _Reading(source, facts, recording, guests=guests)
        table, dropped = reading.table()
        reading.tell()
        for remark in found["remarks"]:
            facts.notices.append(Notice(remark["text"], source.at(remark["line"])))
        field = "cpu" if guests else "core + mgm"
        # Times of a zone are taken in UTC.
        told = all(_tells_zone(look["time"]) for look in recording["looks"])
        use = Use(
            table, "physc", f"{field} of hyptop: time that cores were held", 0.0 if told else None
        )
        added = add_use(facts, source, reading.system, use)
        dropped += found["dropped"] + added.dropped
        kind = "virtual machines" if guests else "partitions"
        what = f"{added.samples} samples of {added.names} {kind}"
        facts.took.append(Took(source.file, self.name, what, dropped))


def _systems(recording: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for look in recording["looks"]:
        yield from look["systems"]


def _rename(recording: Mapping[str, Any]) -> None:
    """Older levels call cores of partitions processors, as all levels do those of guests, of which
    memory and weight are told besides.
    """
    for look in recording["looks"]:
        for one in look["systems"]:
            values = one["values"]
            told = bool(look["cpu_types"].keys() & _TYPES) and {"mgm", "cpu"} <= values.keys()
            if told and not any(name in values for name in _OF_GUESTS):
                one["values"] = {_CORES.get(name, name): word for name, word in values.items()}
        if any("core" in one["values"] for one in look["systems"]):
            look["units"] = {_CORES.get(name, name): unit for name, unit in look["units"].items()}


@dataclass
class _Reading:
    """What is made of one recording."""

    source: Input
    facts: Facts
    recording: Mapping[str, Any]
    guests: bool
    """Whether it is of virtual machines under z/VM."""

    @property
    def system(self) -> str:
        """The server is not named: the host that hyptop ran on stands for it."""
        return str(self.recording["meta"].get("host") or self.source.name.split(".")[0])

    def table(self) -> tuple[Any, int]:
        """Rows as `Use` has them, and how many systems were left out."""
        import polars as pl

        rows: list[tuple[str, datetime, float, int]] = []
        dropped = 0
        for look, moment in zip(self.recording["looks"], self._moments(), strict=True):
            for one in look["systems"]:
                cores = self._cores(one["values"], look["units"])
                if cores is None or moment is None:
                    dropped += 1
                else:
                    rows.append((one["name"], moment, cores, one["line"]))
        if not rows:
            raise ListingError(
                "no look of hyptop in it tells the use of a system",
                where=self.source.at(),
                next_step="let hyptop show the field c (core or cpu)",
            )
        table = pl.DataFrame(rows, schema=["name", "time", "cores", "line"], orient="row")
        return table.with_columns(pl.col("time").cast(pl.Datetime("us"))), dropped

    def tell(self) -> None:
        """Facts of the server and of all systems."""
        host = self.facts.system(self.system)
        looks = self.recording["looks"]
        where = self.source.at(looks[0]["line"])
        self.facts.tell(host, "architecture", Told("s390x", where))
        hypervisor = "z/vm" if self.guests else "pr/sm"
        self.facts.tell(host, "hypervisor", Told(hypervisor, where))
        types = looks[0]["cpu_types"]
        if types and not self.guests:
            self.facts.tell(host, "cores", Told(sum(types.values()), where))
            of_types = {_TYPES[kind]: count for kind, count in types.items() if kind in _TYPES}
            for name, count in of_types.items():
                host.types.setdefault(name, Told(count, where))
        kinds = [_TYPES[kind] for kind in types if kind in _TYPES]
        told: set[str] = set()
        kind = kinds[0] if len(kinds) == len(types) == 1 else None
        for look in looks:
            for one in look["systems"]:
                if one["name"] not in told:
                    told.add(one["name"])
                    self._tell(one, kind, look["units"])

    def _tell(self, one: Mapping[str, Any], kind: str | None, units: Mapping[str, str]) -> None:
        facts, values, where = self.facts, one["values"], self.source.at(one["line"])
        partition = facts.partition(self.system, one["name"])
        count = _whole(values.get("#cpu" if self.guests else "#core"))
        if count:
            facts.tell(partition, "virtual", Told(count, where))
        threads = _whole(values.get("#the"))
        if count and threads and threads % count == 0:
            facts.tell(partition, "smt", Told(threads // count, where))
        if kind is not None:
            facts.tell(partition, "core_type", Told(kind, where))
        weight = _whole(values.get("wcur"))
        if weight:
            facts.tell(partition, "weight", Told(weight, where))
        memory = _number(values.get("memmax"))
        if memory:
            size = round(memory * _SIZES.get(units.get("memmax", "gib").lower(), 1 << 30))
            facts.tell(partition, "memory_bytes", Told(size, where))

    def _cores(self, values: Mapping[str, str], told: Mapping[str, str]) -> float | None:
        field = "cpu" if self.guests else "core"
        use = _number(values.get(field))
        if use is None:
            return None
        managing = 0.0 if self.guests else (_number(values.get("mgm")) or 0.0)
        units = {**self._asked(), **told}
        one, other = (_PERCENT.get(units.get(name, "%").lower(), 1e2) for name in (field, "mgm"))
        return use / one + managing / other

    def _asked(self) -> dict[str, str]:
        """Units that were asked for, which formats for programs do not show."""
        asked = _FIELDS.search(str(self.recording["meta"].get("tool_invocation", "")))
        pairs = (word.partition(":") for word in asked[1].split(",")) if asked else ()
        names = {"c": "cpu" if self.guests else "core", "m": "mgm"}
        return {names[letter]: unit for letter, _, unit in pairs if letter in names and unit}

    def _moments(self) -> list[datetime | None]:
        """When the looks were taken; times of day count on from the day that is told, if any."""
        meta = self.recording["meta"]
        began = _date(str(meta.get("time", "")))
        day = (began or datetime(1970, 1, 1, tzinfo=UTC)).replace(hour=0, minute=0, second=0)
        moments: list[datetime | None] = []
        last: datetime | None = None
        for look in self.recording["looks"]:
            moment = _date(look["time"])
            clock = _CLOCK.search(look["time"])
            if moment is None and clock is not None:
                hours, minutes, seconds = (int(part) for part in clock.groups())
                moment = day + timedelta(hours=hours, minutes=minutes, seconds=seconds)
                if last is not None and moment < last - _DAY / 2:
                    day, moment = day + _DAY, moment + _DAY
            moments.append(None if moment is None else moment.replace(tzinfo=None))
            last = moment or last
        if began is None and any(moments) and moments[0] and moments[0].year == 1970:
            text = "the day is not told; times count from 1970-01-01"
            self.facts.notices.append(Notice(text, self.source.at()))
        return moments


def _tells_zone(text: str) -> bool:
    try:
        return datetime.fromisoformat(text.strip()).tzinfo is not None
    except ValueError:
        return False


def _date(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _whole(text: str | None) -> int | None:
    value = _number(text)
    return round(value) if value is not None else None


FORMATS: tuple[FileFormat, ...] = (Hyptop(),)
