"""The dispatches of a stretch of a run by core: as data, as a table, as a picture."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from homenode.errors import HomenodeError
from homenode.records.exporting.dispatches import named, were_recorded
from homenode.records.exporting.options import ExportOptions
from homenode.report import charts
from homenode.report.charts import Slice
from homenode.report.machine_map import key_of
from homenode.report.tables import plain_table

if TYPE_CHECKING:
    import altair as alt
    from rich.table import Table

    from homenode.simulate.run import Run

MOST = 6_000
"""Dispatches that a picture can hold and still be read."""
_NS_PER_MS = 1e6


class Dispatch(TypedDict):
    """One of them, cut to the stretch."""

    core: int
    partition: str
    virtual_processor: int
    start_ns: int
    end_ns: int
    distance: str
    kind: str
    reason: str


class Stretch(TypedDict):
    """What was dispatched in a stretch of a replication."""

    run: str
    replication: int
    start_ns: int
    end_ns: int
    partitions: list[str]
    dispatches: list[Dispatch]


def stretch_of(run: Run, replication: int, start_ns: int, length_ns: int) -> Stretch:
    """Times are from the beginning of what was measured.

    Raises `HomenodeError` where dispatches were not recorded, and where nothing was measured.
    """
    import polars as pl

    if not were_recorded(run):
        raise HomenodeError(
            f"run {run.id} did not record dispatches",
            next_step="put record_dispatches = true into the [run] section and run it again",
        )
    end_ns = min(start_ns + length_ns, int(run.spec["duration_ns"]))
    if start_ns >= end_ns:
        measured = run.spec["duration_ns"] / 1e9
        raise HomenodeError(
            f"run {run.id} has nothing at {start_ns / 1e9:g} s",
            there=f"{measured:g} s were measured",
            next_step="name a time before that",
        )
    there = (pl.col("start_ns") < end_ns) & (pl.col("end_ns") > start_ns)
    parts = [rows.filter(there) for rows in named(run, ExportOptions(replication=replication))]
    every = (row for rows in parts for row in rows.iter_rows(named=True))
    found = [_cut(row, start_ns, end_ns) for row in every]
    found.sort(key=lambda one: (one["core"], one["start_ns"]))
    return Stretch(
        run=run.id,
        replication=replication,
        start_ns=start_ns,
        end_ns=end_ns,
        partitions=run.partitions,
        dispatches=found,
    )


def _cut(row: dict[str, Any], start_ns: int, end_ns: int) -> Dispatch:
    return {
        "core": row["core"], "partition": row["partition"], "virtual_processor": row["vp"],
        "start_ns": max(row["start_ns"], start_ns), "end_ns": min(row["end_ns"], end_ns),
        "distance": row["distance"], "kind": row["kind"], "reason": row["reason"],
    }  # fmt: skip


def stretch_table(told: Stretch) -> Table:
    """A line a core that was used: how much, how often, by whom."""
    table = plain_table("core", "busy", "dispatches", "far", title=_title(told))
    table.add_column("whose")
    length = told["end_ns"] - told["start_ns"]
    for core, group in itertools.groupby(told["dispatches"], key=lambda one: one["core"]):
        ones = [*group]
        busy = sum(one["end_ns"] - one["start_ns"] for one in ones) / length
        far = sum(one["distance"] == "far" for one in ones)
        names = ", ".join(sorted({one["partition"] for one in ones}))
        table.add_row(str(core), f"{100 * busy:.1f} %", str(len(ones)), str(far), names)
    return table


def stretch_picture(told: Stretch) -> alt.LayerChart:
    """A row a core, a slice a dispatch. Raises `HomenodeError` for more than can be seen."""
    ones = told["dispatches"]
    if len(ones) > MOST:
        raise HomenodeError(
            f"{len(ones):,} dispatches are more than a picture can hold ({MOST:,})",
            next_step='draw a shorter stretch, such as --lasting "50 ms"',
        )
    places = [str(core) for core in sorted({one["core"] for one in ones})]
    names = {name: f"{key_of(at)} {name}" for at, name in enumerate(told["partitions"])}
    used = [name for name in told["partitions"] if any(one["partition"] == name for one in ones)]
    colours = dict(zip((names[name] for name in used), itertools.cycle(charts.MANY), strict=False))
    rows = [_slice(one, names[one["partition"]]) for one in ones]
    says = f"{len(ones)} dispatches on {len(places)} cores; high: at home, half: near, low: far"
    return charts.slices(rows, places, f"{_title(told)}: {says}", colours, _said(ones))


def _slice(one: Dispatch, name: str) -> Slice:
    return {
        "place": str(one["core"]), "kind": name, "start": one["start_ns"] / _NS_PER_MS,
        "end": one["end_ns"] / _NS_PER_MS, "distance": one["distance"],
        "shown": f"{name.partition(' ')[0]}{one['virtual_processor']}",
    }  # fmt: skip


def _said(ones: Sequence[Dispatch]) -> str:
    """Of each partition how much it had, for those who do not see it."""
    sums: dict[str, int] = {}
    for one in ones:
        sums[one["partition"]] = sums.get(one["partition"], 0) + one["end_ns"] - one["start_ns"]
    return ", ".join(f"{name} {time / _NS_PER_MS:.6g} ms" for name, time in sums.items())


def _title(told: Stretch) -> str:
    start, end = (told[key] / _NS_PER_MS for key in ("start_ns", "end_ns"))
    return f"{told['run']}, replication {told['replication']}, {start:g} to {end:g} ms"
