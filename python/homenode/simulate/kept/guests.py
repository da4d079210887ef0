"""What the virtual machines, switches and paging volumes of a partition counted, added up by kind.

Metrics ask for all clients, all servers, all volumes of a partition together; the interval tables
hold a row for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from homenode.model.spec import Spec, zvm_of
from homenode.simulate.answers import Answer, Sums
from homenode.simulate.kept.reading import scan_table
from homenode.simulate.kept.store import GUEST_TABLES

if TYPE_CHECKING:
    import polars as pl

_NOT_COUNTED = ("time_ns", "replication", "partition", "batch", *GUEST_TABLES)


def guest_tables(spec: Spec) -> list[str]:
    """Interval tables that a run of this frozen scenario has beside those of every run."""
    guests = [guest for p in spec["partitions"] if (guest := zvm_of(p)) is not None]
    there = {
        "virtual_machine": any(guest["machines"] for guest in guests),
        "switch": any(guest["switches"] for guest in guests),
        "volume": any(guest["paging"] is not None for guest in guests),
    }
    return [table for table, has_rows in there.items() if has_rows]


def names_of(spec: Spec, kind: str) -> list[dict[str, int | str]]:
    """Index and name of all pools or partitions, or of all virtual machines or switches with that
    of their partition.
    """
    if kind in ("pool", "partition"):
        own = spec["pools"] if kind == "pool" else spec["partitions"]
        return [{f"{kind}_index": number, kind: str(one["name"])} for number, one in enumerate(own)]
    return [
        {"partition_index": index, f"{kind}_index": number, kind: str(one["name"])}
        for index, partition in enumerate(spec["partitions"])
        if (guest := zvm_of(partition)) is not None
        for number, one in enumerate(
            guest["machines"] if kind == "virtual_machine" else guest["switches"]
        )
    ]


def with_guests(raw: Sequence[Answer], folder: Path, spec: Spec) -> list[Answer]:
    """The engine's summaries with these sums, which it keeps by interval only."""
    sums = guest_sums(folder, spec, "replication")
    return [
        {
            **summary,
            "partitions": [
                {**partition, "guests": sums[summary["replication"], index]}
                if (summary["replication"], index) in sums
                else partition
                for index, partition in enumerate(summary["partitions"])
            ],
        }
        for summary in raw
    ]


def guest_sums(
    folder: Path,
    spec: Spec,
    key: str,
    batches: pl.LazyFrame | None = None,
    replication: int | None = None,
) -> dict[tuple[int, int], Sums]:
    """Sums by `key` (`replication`, or `batch` of the frame `batches` that says by `time_ns` which
    batch an interval belongs to) and partition; of all replications together, or of one.
    """
    import polars as pl

    found: dict[tuple[int, int], Sums] = {}
    for table in guest_tables(spec):
        rows = scan_table(folder, table)
        if replication is not None:
            rows = rows.filter(pl.col("replication") == replication)
        for row in _rows(rows, spec, table, key, batches):
            place = int(row.pop(key)), int(row.pop("partition"))
            kind = str(row.pop("kind"))
            found.setdefault(place, {})[kind] = cast(dict[str, float], row)
    return found


def _rows(
    rows: pl.LazyFrame,
    spec: Spec,
    table: str,
    key: str,
    batches: pl.LazyFrame | None,
) -> list[dict[str, str | int]]:
    import polars as pl

    if batches is not None:
        rows = rows.join(batches, on="time_ns")
    if table == "virtual_machine":
        rows = rows.join(_roles(spec), on=["partition", "virtual_machine"])
    else:
        rows = rows.with_columns(pl.lit(table).alias("kind"))
    return (
        rows.group_by(key, "partition", "kind")
        .agg(pl.all().exclude(*_NOT_COUNTED, "kind").sum())
        .sort(key, "partition", "kind")
        .collect()
        .to_dicts()
    )


def _roles(spec: Spec) -> pl.LazyFrame:
    """What each virtual machine does."""
    import polars as pl

    known = [
        (index, number, str(machine["role"]))
        for index, partition in enumerate(spec["partitions"])
        if (guest := zvm_of(partition)) is not None
        for number, machine in enumerate(guest["machines"])
    ]
    schema = {"partition": pl.Int64, "virtual_machine": pl.Int64, "kind": pl.String}
    return pl.LazyFrame(known, schema=schema, orient="row")
