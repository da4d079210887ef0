"""From kept intervals to the intervals a person asks for: counters add up, gauges keep their last
value.

The tools know two ways of asking: without an interval they show the totals since the start (of
the measured time: the warm-up is not kept), with one they show a report an interval, counters as
differences over it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from homenode.model.units import TIME
from homenode.tools.errors import ToolError
from homenode.tools.view import RunView, Table

if TYPE_CHECKING:
    import polars as pl

Counters = Mapping[str, int]

GAUGES = frozenset({"tx_inside", "vps_unfolded", "cores", "vp"})
MAXIMA = frozenset({"cede_max_ns"})
_KEYS = frozenset({"replication", "partition", "partition_index", "pool", "pool_index"})


@dataclass(frozen=True)
class Sample:
    """What was counted in one interval."""

    end_ns: int
    """End of the interval since the start [ns]."""
    elapsed_ns: int
    """Length of the interval [ns]."""
    partition: Counters
    """Counters of the partition."""
    cpus: tuple[Counters, ...] = field(default=())
    """Counters of each logical processor, in order of its number (key `cpu`)."""
    pool: Counters = field(default_factory=dict)
    """Counters of the physical shared pool."""


def samples(
    view: RunView,
    partition: str,
    interval_ns: int | None,
    count: int | None,
    tables: Sequence[Table] = ("partition", "pool"),
) -> list[Sample]:
    """The reports asked for; without `interval_ns` one report over all that was kept."""
    frame = view.frame("partition", partition)
    kept = frame["time_ns"].n_unique()
    rows_each = _rows_each(view.interval_ns, interval_ns, count, kept)
    window_ns = rows_each * view.interval_ns
    reports = kept // rows_each if count is None else count
    of_partition = _sums(frame, (), window_ns, reports)
    of_cpus = (
        _sums(view.frame("cpu", partition), ("cpu",), window_ns, reports) if "cpu" in tables else {}
    )
    of_pool = _sums(view.frame("pool", ""), (), window_ns, reports) if "pool" in tables else {}
    return [
        Sample(
            end_ns=(window + 1) * window_ns,
            elapsed_ns=window_ns,
            partition=of_partition[window][0],
            cpus=tuple(of_cpus.get(window, ())),
            pool=next(iter(of_pool.get(window, ())), {}),
        )
        for window in range(reports)
    ]


def _rows_each(kept_ns: int, interval_ns: int | None, count: int | None, kept: int) -> int:
    """Kept intervals that make one report."""
    if kept == 0:
        raise ToolError(
            "the run kept no interval",
            next_step="simulate for at least one interval of the [run] section",
        )
    if interval_ns is None:
        return kept
    rows_each, rest = divmod(interval_ns, kept_ns)
    if rest or not rows_each:
        raise ToolError(
            f"an interval of {TIME.format(interval_ns)} cannot be shown",
            there=f"the run kept one row every {TIME.format(kept_ns)}",
            next_step=f"ask for a multiple of {TIME.format(kept_ns)}",
        )
    available = kept // rows_each
    if available < (count or 1):
        raise ToolError(
            f"{count or 1} intervals of {TIME.format(interval_ns)} were asked for",
            there=f"the run kept {TIME.format(kept * kept_ns)}, which holds {available}",
            next_step="ask for fewer or shorter ones, or simulate longer",
        )
    return rows_each


def _sums(
    frame: pl.DataFrame, keys: tuple[str, ...], window_ns: int, windows: int
) -> dict[int, list[dict[str, int]]]:
    """Rows by window, added up over the window for each value of the keys."""
    import polars as pl

    columns = [c for c in frame.columns if c not in _KEYS and c not in keys and c != "time_ns"]
    grouped = (
        frame.sort("time_ns")
        .with_columns(window=(pl.col("time_ns") - 1) // window_ns)
        .filter(pl.col("window") < windows)
        .group_by("window", *keys)
        .agg(_reduced(column) for column in columns)
        .sort("window", *keys)
    )
    rows: dict[int, list[dict[str, int]]] = {}
    for row in grouped.iter_rows(named=True):
        rows.setdefault(row.pop("window"), []).append(row)
    return rows


def _reduced(column: str) -> pl.Expr:
    import polars as pl

    if column in GAUGES:
        return pl.col(column).last()
    return pl.col(column).max() if column in MAXIMA else pl.col(column).sum()
