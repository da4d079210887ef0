"""Facts as a reader would hand them over, made by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import polars as pl

from homenode.errors import Where
from homenode.records.importing.facts import (
    Affinity,
    Beside,
    Facts,
    PartitionFacts,
    Quantity,
    Series,
    Told,
    Took,
)

BEGIN = dt.datetime(2016, 2, 10, 17, 23, 10)  # noqa: DTZ001 - as recorded, zoneless
FILE = "lpar.nmon"


def at(line: int) -> Where:
    return Where(FILE, line)


def series(
    partition: str,
    cores: Sequence[float | None],
    *,
    system: str | None = "0123",
    seconds: float = 300.0,
    begin: dt.datetime = BEGIN,
    folded: Sequence[float] | None = None,
    quantity: Quantity = "physc",
) -> Series:
    """Samples of one length, one after the other."""
    count = len(cores)
    ends = [begin + dt.timedelta(seconds=seconds * (index + 1)) for index in range(count)]
    columns = {
        "time": ends,
        "seconds": [seconds] * count,
        "cores": list(cores),
        "line": [100 + index for index in range(count)],
    }
    if folded is not None:
        columns["folded"] = list(folded)
    types = (pl.col("time").cast(pl.Datetime("us")), pl.col("cores").cast(pl.Float64))
    table = pl.DataFrame(columns).with_columns(types)
    return Series(partition, system, quantity, table, FILE)


def beside(
    partition: str,
    figures: dict[str, list[float | None]],
    *,
    system: str | None = "0123",
    seconds: float = 300.0,
    report: str = "PROC",
) -> Beside:
    """Figures of samples of one length, one after the other."""
    count = len(next(iter(figures.values())))
    ends = [BEGIN + dt.timedelta(seconds=seconds * (index + 1)) for index in range(count)]
    times = {"time": ends, "seconds": [seconds] * count}
    types = (pl.col("time").cast(pl.Datetime("us")), pl.col(*figures).cast(pl.Float64))
    table = pl.DataFrame({**times, **figures}).with_columns(types)
    return Beside(partition, system, table, FILE, report)


def since_start(partition: str, counts: dict[str, float], up_s: float | None) -> Affinity:
    """What `mpstat -d` counted since the system was started."""
    levels = {f"s{level}rd": float(level == 0) for level in range(6)}
    homes = {f"s{level}hrd": float(level == 3) for level in (3, 4, 5)}
    row = {"time": BEGIN, "seconds": float("nan"), "line": 475, **counts, **levels, **homes}
    table = pl.DataFrame([row]).with_columns(pl.col("time").cast(pl.Datetime("us")))
    return Affinity(partition, "0123", table, FILE, up_s)


def lpar(facts: Facts, name: str = "lpar", *, entitlement: float = 1.3, virtual: int = 4) -> None:
    """An uncapped partition of AIX on a POWER7 of 16 cores that no description fits."""
    system = facts.system("0123")
    system.model = Told("8205-E6C", at(21))
    system.processor = Told("POWER7", at(19))
    system.cores = Told(16, at(133))
    partition = facts.partition("0123", name)
    partition.mode = Told("shared", at(117))
    partition.capped = Told(False, at(118))
    partition.entitlement = Told(entitlement, at(119))
    partition.virtual = Told(virtual, at(122))
    partition.smt = Told(4, at(117))
    partition.weight = Told(128, at(128))
    partition.os = Told("aix", at(9))
    partition.memory_bytes = Told(8 << 30, at(125))


def one_lpar(cores: Sequence[float | None], folded: Sequence[float] | None = None) -> Facts:
    """One such partition with its recorded use."""
    facts = Facts()
    lpar(facts)
    facts.series.append(series("lpar", cores, folded=folded))
    facts.took.append(Took(FILE, "nmon", f"{len(cores)} samples"))
    return facts


def machines(*sizes: int) -> Facts:
    """Virtual machines of so many processors each, of which no server is told."""
    facts = Facts()
    for index, size in enumerate(sizes):
        one: PartitionFacts = facts.partition(None, f"vm{index}")
        one.mode = Told("shared", at(index + 1))
        one.virtual = Told(size, at(index + 1))
        cores = [0.1 * size, 0.3 * size, 0.02]
        facts.series.append(series(one.name, cores, system=None, quantity="used"))
    return facts
