"""What a reader says of an export, held against the run that was exported."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl
import pytest

from homenode import Run
from homenode.records.importing.facts import Facts, PartitionFacts, Quantity, Series

NS_PER_S = 1_000_000_000
SLACK = 1e-9


@dataclass(frozen=True)
class Printed:
    """How far a figure may be off by being printed."""

    off: float


def series_of(facts: Facts, name: str) -> Series:
    (found,) = [series for series in facts.series if series.partition == name]
    return found


def partition_of(facts: Facts, name: str) -> PartitionFacts:
    (found,) = [one for one in facts.partitions.values() if one.name == name]
    return found


def counted(run: Run, name: str, seconds: float) -> pl.DataFrame:
    """The run's own counters over samples of that length."""
    window = round(seconds * NS_PER_S)
    rows = run.intervals("partition").filter(
        (pl.col("replication") == 0) & (pl.col("partition") == name)
    )
    return (
        rows.sort("time_ns")
        .group_by(((pl.col("time_ns") - 1) // window).alias("window"), maintain_order=True)
        .agg(
            pl.col("time_ns").last(),
            pl.col("busy_ns").sum(),
            pl.sum_horizontal("user_ns", "sys_ns").sum().alias("purr_ns"),
            pl.sum_horizontal("ticks_user", "ticks_sys").sum().alias("ticks_ns"),
            pl.col("vps_unfolded").last(),
        )
        .with_columns(length_ns=pl.lit(window))
    )


def check_series(
    facts: Facts, run: Run, name: str, *, seconds: float, printed: Printed, quantity: Quantity
) -> None:
    """Times, lengths and cores of a partition are those of the run."""
    series, expected = series_of(facts, name), counted(run, name, seconds)
    table = series.table
    assert series.quantity == quantity
    assert len(table) == len(expected) > 1
    assert table["seconds"].to_list() == pytest.approx([seconds] * len(table))
    since = (table["time"] - table["time"][0]).dt.total_microseconds() / 1e6
    ends = (expected["time_ns"] - expected["time_ns"][0]) / NS_PER_S
    assert since.to_list() == pytest.approx(ends.to_list(), abs=1e-6)
    linux = run.partition_spec(name)["guest"]["os"] == "linux"
    used = "busy_ns" if quantity == "physc" else "ticks_ns" if linux else "purr_ns"
    cores = (expected[used] / expected["length_ns"]).to_list()
    assert table["cores"].to_list() == pytest.approx(cores, abs=printed.off + SLACK)
    processors = run.partition_spec(name)["processors"]
    if "folded" in table.columns and quantity == "physc" and "virtual" in processors:
        folded = [processors["virtual"] - vps for vps in expected["vps_unfolded"]]
        assert table["folded"].to_list() == folded


def check_given(facts: Facts, run: Run, name: str, untold: Collection[str] = ()) -> None:
    """What the partition was given is what the scenario gave it; `untold` need not be told."""
    told, spec = partition_of(facts, name), run.partition_spec(name)
    processors, details = spec["processors"], run.details[name]
    shared = processors["mode"] == "shared"
    assert told.mode is not None
    assert told.mode.value == processors["mode"]
    assert told.virtual is not None
    assert told.virtual.value == (processors["virtual"] if shared else len(processors["cores"]))
    if shared:
        assert told.entitlement is not None
        assert told.entitlement.value == pytest.approx(processors["entitlement"])
        assert told.capped is not None
        assert told.capped.value == processors["capped"]
    if told.weight is not None and shared and not processors["capped"]:
        assert told.weight.value == processors["weight"]
    for attribute, value in (("smt", spec["smt"]), ("memory_bytes", details["mem_mb"] << 20)):
        fact = getattr(told, attribute)
        assert fact is not None or attribute in untold, attribute
        assert fact is None or fact.value == value
