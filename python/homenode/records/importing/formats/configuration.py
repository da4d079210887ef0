"""Tables of `homenode export`: which partitions there were and how they were configured.

`partition`, the table of samples, is read as any table of samples; the tables of processors, pools
and summaries say nothing more that a scenario is made of, and are left out.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping

from homenode.errors import Where
from homenode.records.importing.facts import Facts, PartitionFacts, Told, Took
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, head_text
from homenode.records.importing.shared.forms import FileFormat, text_of
from homenode.records.importing.shared.heading import BEGINS, table_of

_MOST_BYTES = 1 << 26
_OS = {"aix": "aix", "linux": "linux", "hpux": "hp-ux", "zvm": "z/vm", "hp-ux": "hp-ux"}
_MIB = 1 << 20
_LIMITS = ("minimum", "maximum", "desired")


class Configuration:
    """The configuration of all partitions as CSV."""

    name = "homenode configuration"

    def recognises(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the heading tells
        """See `FileFormat`."""
        return head_text(head).startswith(",".join(BEGINS))

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat`."""
        rows = csv.DictReader(io.StringIO(text_of(source, _MOST_BYTES, facts)))
        take(source, facts, ((rows.line_num, row) for row in rows))


class OtherTables:
    """The other tables of an exported run, of which nothing is taken."""

    name = "homenode tables"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat`."""
        words = head_text(head).split("\n", 1)[0].strip().split(",")
        return table_of(words) == "other" or (name == "run.csv" and words == ["name", "value"])

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat`."""
        del facts
        raise not_needed(source)


def not_needed(source: Input) -> ListingError:
    """Why one of these tables is left out."""
    return ListingError(
        "of this table of an exported run nothing is needed",
        where=source.at(),
        next_step="partition and configuration tell of the partitions",
    )


def take(source: Input, facts: Facts, rows: Iterable[tuple[int, Mapping[str, object]]]) -> None:
    """Facts of partitions, a row each, with the line of each row."""
    taken = dropped = 0
    for line, row in rows:
        name = row.get("partition")
        if not isinstance(name, str) or not name:
            dropped += 1
            continue
        _tell(facts, facts.partition(None, name), row, source.at(line or None))
        taken += 1
    if not taken:
        raise ListingError("it names no partition", where=source.at())
    plural = "s" if taken > 1 else ""
    what = f"configuration of {taken} partition{plural}"
    facts.took.append(Took(source.file, Configuration.name, what, dropped))


def _tell(facts: Facts, one: PartitionFacts, row: Mapping[str, object], where: Where) -> None:
    os = _OS.get(str(row.get("os")))
    if os is not None:
        facts.tell(one, "os", Told(os, where))
    if row.get("mode") in ("shared", "dedicated"):
        facts.tell(one, "mode", Told(row["mode"], where))
    for flag in ("capped", "donating"):
        if str(row.get(flag)).lower() in ("true", "false"):
            facts.tell(one, flag, Told(str(row[flag]).lower() == "true", where))
    for count in ("number", "virtual", "smt", "weight"):
        number = _number(row.get(count))
        if number is not None:
            facts.tell(one, count, Told(round(number), where))
    entitlement, memory = _number(row.get("entitlement")), _number(row.get("memory_mb"))
    if entitlement is not None:
        facts.tell(one, "entitlement", Told(entitlement, where))
    if memory is not None:
        facts.tell(one, "memory_bytes", Told(round(memory * _MIB), where))
    if row.get("pool"):
        facts.tell(one, "pool", Told(str(row["pool"]), where))
    for limit in _LIMITS:
        _tell_limit(one, limit, row, where)


def _tell_limit(one: PartitionFacts, limit: str, row: Mapping[str, object], where: Where) -> None:
    of: dict[str, Told[float]] = getattr(one, limit)
    names = {"entitlement": "entitlement", "virtual": "virtual", "memory_mb": "memory_bytes"}
    for column, attribute in names.items():
        number = _number(row.get(f"{column}_{limit}"))
        if number is not None:
            factor = _MIB if column == "memory_mb" else 1
            of.setdefault(attribute, Told(number * factor, where))


def _number(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


FORMATS: tuple[FileFormat, ...] = (Configuration(), OtherTables())
