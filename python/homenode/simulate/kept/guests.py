"""What the virtual machines, switches and paging volumes of a partition counted, added up by kind.

Metrics ask for all clients, all servers, all volumes of a partition together; the interval tables
hold a row for each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode.simulate.kept.reading import scan_table
from homenode.simulate.kept.store import GUEST_TABLES

if TYPE_CHECKING:
    import polars as pl

Sums = dict[str, dict[str, float]]
"""By kind (`client`, `server`, `loop`, `idle`, `switch`, `volume`), the sum of each counter."""
_NOT_COUNTED = ("time_ns", "replication", "partition", "batch", *GUEST_TABLES)


def guest_of(partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """z/VM in a partition of a frozen scenario; None where another guest runs."""
    guest: Mapping[str, Any] = partition["guest"]
    return guest if guest["os"] == "zvm" else None


def guest_tables(spec: Mapping[str, Any]) -> list[str]:
    """Interval tables that a run of this frozen scenario has beside those of every run."""
    guests = [guest for p in spec["partitions"] if (guest := guest_of(p)) is not None]
    there = {
        "virtual_machine": any(guest["machines"] for guest in guests),
        "switch": any(guest["switches"] for guest in guests),
        "volume": any(guest["paging"] is not None for guest in guests),
    }
    return [table for table, has_rows in there.items() if has_rows]


def names_of(spec: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    """Index and name of all pools or partitions, or of all virtual machines or switches with that
    of their partition.
    """
    if kind in ("pool", "partition"):
        return [
            {f"{kind}_index": number, kind: str(one["name"])}
            for number, one in enumerate(spec[f"{kind}s"])
        ]
    listed = "machines" if kind == "virtual_machine" else "switches"
    return [
        {"partition_index": index, f"{kind}_index": number, kind: str(one["name"])}
        for index, partition in enumerate(spec["partitions"])
        for number, one in enumerate((guest_of(partition) or {listed: ()})[listed])
    ]


def with_guests(
    raw: Sequence[Mapping[str, Any]], folder: Path, spec: Mapping[str, Any]
) -> list[dict[str, Any]]:
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
    spec: Mapping[str, Any],
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
            found.setdefault(place, {})[str(row.pop("kind"))] = row
    return found


def _rows(
    rows: pl.LazyFrame,
    spec: Mapping[str, Any],
    table: str,
    key: str,
    batches: pl.LazyFrame | None,
) -> list[dict[str, Any]]:
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


def _roles(spec: Mapping[str, Any]) -> pl.LazyFrame:
    """What each virtual machine does."""
    import polars as pl

    known = [
        (index, number, str(machine["role"]))
        for index, partition in enumerate(spec["partitions"])
        for number, machine in enumerate((guest_of(partition) or {"machines": ()})["machines"])
    ]
    schema = {"partition": pl.Int64, "virtual_machine": pl.Int64, "kind": pl.String}
    return pl.LazyFrame(known, schema=schema, orient="row")
