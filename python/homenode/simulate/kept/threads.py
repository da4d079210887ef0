"""Processor time by logical CPU and by virtual processor, as `mpstat -s` shows it."""

from __future__ import annotations

from pathlib import Path

from homenode.simulate.kept.reading import reading, scan_table


def charged_pct(
    path: Path, duration_ns: int, partition: int, kind: str, number: int
) -> list[float] | None:
    """Share of a core charged to one thread or virtual processor of the run kept at `path` in each
    replication [percent]; None if the partition has no such thread.

    `kind` is `cpu` (logical CPU by its number), `proc` (virtual processor by its number) or
    `cpu_rank` (logical CPU by its rank, 1 = most charged; which CPU that is may differ between
    replications).
    """
    import polars as pl

    key = "vp" if kind == "proc" else "cpu"
    charged = pl.sum_horizontal("user_ns", "sys_ns", "wait_ns", "idle_ns")
    asked = (
        scan_table(path, "cpu")
        .filter(pl.col("partition") == partition)
        .group_by("replication", key)
        .agg((charged.sum() * 100.0 / duration_ns).alias("pct"))
        .sort("replication", key)
    )
    with reading(path):
        by_key = asked.collect()
    found = []
    for (_,), rows in by_key.group_by("replication", maintain_order=True):
        if kind == "cpu_rank":
            ranked = rows["pct"].sort(descending=True).to_list()
            found += ranked[number - 1 : number] if number >= 1 else []
        else:
            found += rows.filter(pl.col(key) == number)["pct"].to_list()
    if not found and len(by_key):
        return None
    return [float(value) for value in found]
