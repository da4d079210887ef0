"""Recorded use against simulated, window by window: what a run of an imported scenario shows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homenode.errors import NotFoundError, RunError
from homenode.model.scenario import Scenario
from homenode.model.scenario.demand import read_demand
from homenode.model.scenario.played import Played
from homenode.model.spec import processors_of
from homenode.model.units import TIME
from homenode.records.importing.assemble.convert import deviation
from homenode.records.importing.assemble.probe import counted
from homenode.records.importing.facts import Quantity

if TYPE_CHECKING:
    import polars as pl

    from homenode.simulate.run import Run

TOLERANCE = 0.02
"""Deviation beyond which a window is counted as off."""
_RECORDED = ("cores", "quantity")


@dataclass(frozen=True)
class Row:
    """A window of a partition; simulated figures are means over the replications."""

    partition: str
    step: int
    time: dt.datetime | None
    """End of the window, as recorded."""
    recorded: float | None
    """Cores; None where nothing was recorded."""
    simulated: float
    """Cores: core time, or where busy time of logical processors was recorded, that."""
    folded: float | None
    """Folded virtual processors, as recorded."""
    folded_simulated: float
    """At the end of the window."""

    @property
    def deviation_pct(self) -> float | None:
        """Simulated against recorded; below a hundredth of a core as a share of that."""
        if self.recorded is None:
            return None
        return 100 * deviation(self.recorded, self.simulated)


@dataclass(frozen=True)
class Summary:
    """All windows of a partition."""

    partition: str
    quantity: Quantity
    windows: int
    """Those in which something was recorded."""
    recorded: float
    """Mean over its windows [cores]."""
    simulated: float
    mean_deviation_pct: float
    """Of the deviations' sizes."""
    max_deviation_pct: float
    beyond: int
    """Windows that are off by more than 2 %."""
    folded_rank: float | None
    """Rank correlation of recorded and simulated folded virtual processors; None if not recorded or
    always the same.
    """
    folded_where_folded: float | None
    """Simulated folded virtual processors in windows in which one or more was recorded."""
    folded_where_none: float | None
    """The same in windows in which none was."""


@dataclass(frozen=True)
class Replay:
    """What was recorded and what was simulated, window by window."""

    rows: tuple[Row, ...]
    quantities: Mapping[str, Quantity]

    def of(self, partition: str) -> list[Row]:
        """The windows of one partition."""
        return [row for row in self.rows if row.partition == partition]

    def summaries(self) -> list[Summary]:
        """A summary a partition."""
        return [_summary(self.of(name), kind) for name, kind in self.quantities.items()]


def replay(run: Run) -> Replay:
    """Recorded against simulated use of every partition that plays a recording.

    Raises `NotFoundError` if none does, `RunError` if intervals and windows do not fit each other.
    """
    scenario = Scenario.load(run.path / "scenario.toml")
    played = {one.name: one.demand for one in scenario.partitions if one.demand is not None}
    intervals = run.intervals()
    rows: list[Row] = []
    quantities: dict[str, Quantity] = {}
    for name, demand in played.items():
        told = _recorded(demand)
        if told is None:
            continue
        quantities[name] = "used" if told["quantity"][0] == "used" else "physc"
        rows += _rows(run, name, demand, told, intervals, quantities[name])
    if not quantities:
        step = "make a scenario of a recording with `homenode import`, and run that"
        raise NotFoundError(f"no partition of {run.id} plays recorded use", next_step=step)
    return Replay(tuple(rows), quantities)


def _recorded(demand: Played) -> pl.DataFrame | None:
    """The rows of a partition as they were recorded; none where a table holds work only."""
    import polars as pl

    table = read_demand(demand.file)
    if not set(_RECORDED) <= set(table.columns):
        return None
    return table.filter(pl.col("partition") == demand.series)


def _rows(
    run: Run,
    name: str,
    demand: Played,
    told: pl.DataFrame,
    intervals: pl.DataFrame,
    quantity: Quantity,
) -> list[Row]:
    import polars as pl

    of = intervals.filter(pl.col("partition") == name)
    spec = run.partition_spec(name)
    virtual, columns = int(processors_of(spec)), counted(quantity, spec["guest"]["os"])
    ends, rows, end = [], [], 0
    for length in demand.lengths_ns:
        end += length
        ends.append(end)
    simulated = _simulated(of, ends, columns, run)
    printed = [_column(told, name) for name in ("time", "cores", "folded")]
    for step, ((cores, unfolded), time, recorded, folded) in enumerate(
        zip(simulated, *printed, strict=False)
    ):
        rows.append(Row(name, step, time, recorded, cores, folded, max(0.0, virtual - unfolded)))
    return rows


def _column(table: pl.DataFrame, name: str) -> list[object]:
    return table[name].to_list() if name in table.columns else [None] * len(table)


def _simulated(
    of: pl.DataFrame, ends: Sequence[int], columns: Sequence[str], run: Run
) -> list[tuple[float, float]]:
    """Cores and unfolded virtual processors of each window that the run holds, means over its
    replications.
    """
    import polars as pl

    busy = pl.sum_horizontal(columns)
    held = [end for end in ends if end <= run_length(of)]
    times = of["time_ns"].unique().to_list()
    if not held or not set(held) <= set(times):
        step = TIME.format(ends[0])
        raise RunError(
            f"the intervals of {run.id} do not end where its recorded windows do",
            next_step=f'write interval = "{step}" under [run] and run it again',
        )
    bounds = pl.DataFrame({"end": held}).sort("end").with_columns(pl.col("end").set_sorted())
    by_window = (
        of.filter(pl.col("time_ns") <= held[-1])
        .sort("time_ns")
        .join_asof(bounds, left_on="time_ns", right_on="end", strategy="forward")
        .group_by("replication", "end")
        .agg(busy.sum().alias("busy"), pl.col("vps_unfolded").sort_by("time_ns").last())
        .group_by("end")
        .agg(pl.col("busy").mean(), pl.col("vps_unfolded").mean())
        .sort("end")
    )
    lengths = [end - before for before, end in zip([0, *held], held, strict=False)]
    rows = zip(by_window["busy"], by_window["vps_unfolded"], lengths, strict=True)
    return [(float(ns) / length, float(unfolded)) for ns, unfolded, length in rows]


def run_length(of: pl.DataFrame) -> int:
    """How far a run's intervals reach [ns]."""
    last = of["time_ns"].max()
    return int(last) if isinstance(last, int) else 0


def _summary(rows: Sequence[Row], quantity: Quantity) -> Summary:
    told = [(row, row.recorded) for row in rows if row.recorded is not None]
    off = [abs(row.deviation_pct or 0.0) for row, _ in told]
    folds = [(row.folded, row.folded_simulated) for row in rows if row.folded is not None]
    return Summary(
        partition=rows[0].partition,
        quantity=quantity,
        windows=len(told),
        recorded=_mean([recorded for _, recorded in told]) or 0.0,
        simulated=_mean([row.simulated for row, _ in told]) or 0.0,
        mean_deviation_pct=_mean(off) or 0.0,
        max_deviation_pct=max(off, default=0.0),
        beyond=sum(one > 100 * TOLERANCE for one in off),
        folded_rank=rank_correlation(folds),
        folded_where_folded=_mean([ours for theirs, ours in folds if theirs >= 1]),
        folded_where_none=_mean([ours for theirs, ours in folds if theirs < 1]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's: the correlation of the ranks, equal values sharing theirs; None where one side is
    always the same.
    """
    import polars as pl

    table = pl.DataFrame(pairs, schema={"left": pl.Float64, "right": pl.Float64}, orient="row")
    if any(len(table[name].unique()) < 2 for name in table.columns):
        return None
    return float(table.select(pl.corr("left", "right", method="spearman")).item())
