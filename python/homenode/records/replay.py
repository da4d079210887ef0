"""Recorded figures against simulated ones, window by window: what a run of an imported scenario
shows.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homenode.errors import NotFoundError
from homenode.model.scenario import Scenario
from homenode.model.scenario.demand import read_demand
from homenode.model.scenario.played import Played
from homenode.model.spec import processors_of
from homenode.records.importing.assemble.passes import deviation
from homenode.records.importing.facts import Quantity
from homenode.records.importing.figures import FIGURES, SINCE_START, Figure
from homenode.records.windowed import Shape, by_window, figures_of, whole

if TYPE_CHECKING:
    import polars as pl

    from homenode.simulate.run import Run

TOLERANCE = 0.02
"""Deviation beyond which a window is counted as off."""
_RECORDED = ("cores", "quantity")
_CORES: Mapping[Quantity, Figure] = {
    "physc": Figure("physc", "cores", "physical processors consumed"),
    "used": Figure("busy_cores", "cores", "time in which logical CPUs were busy"),
}
_CORES_COLUMN = "cores"
Figures = Mapping[str, float]
"""What a run tells, by name of the figure."""


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
class Compared:
    """A figure that a recording and its run both tell."""

    name: str
    unit: str
    meaning: str
    since_start: bool
    """Whether the recording has only the mean since its system was started; what is simulated is
    the mean of all windows then.
    """
    windows: int
    """Those in which it was recorded."""
    recorded: float
    """Mean over these windows."""
    simulated: float
    """The same of the run."""
    rank: float | None
    """Rank correlation of the windows; None where one side is always the same."""

    @property
    def ratio(self) -> float | None:
        """Simulated over recorded; None where nothing was recorded to happen."""
        return self.simulated / self.recorded if self.recorded else None


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
    figures: tuple[Compared, ...]
    """All figures that both tell, the cores first."""


@dataclass(frozen=True)
class Replay:
    """What was recorded and what was simulated, window by window."""

    rows: tuple[Row, ...]
    quantities: Mapping[str, Quantity]
    figures: Mapping[str, tuple[Compared, ...]]
    """By partition."""

    def of(self, partition: str) -> list[Row]:
        """The windows of one partition."""
        return [row for row in self.rows if row.partition == partition]

    def summaries(self) -> list[Summary]:
        """A summary a partition."""
        return [
            _summary(self.of(name), kind, self.figures[name])
            for name, kind in self.quantities.items()
        ]


def replay(run: Run) -> Replay:
    """Recorded against simulated use of every partition that plays a recording.

    Raises `NotFoundError` if none does, `RunError` if intervals and windows do not fit each other.
    """
    scenario = Scenario.load(run.path / "scenario.toml")
    demands = {one.name: one.demand for one in scenario.partitions if one.demand is not None}
    rows: list[Row] = []
    quantities: dict[str, Quantity] = {}
    figures: dict[str, tuple[Compared, ...]] = {}
    for name, demand in demands.items():
        told = _recorded(demand)
        if told is None:
            continue
        quantities[name] = "used" if told["quantity"][0] == "used" else "physc"
        simulated, together = _simulated(run, name, demand, quantities[name])
        rows += _rows(name, told, simulated)
        figures[name] = _compared(told, simulated, together, quantities[name])
    if not quantities:
        step = "make a scenario of a recording with `homenode import`, and run that"
        raise NotFoundError(f"no partition of {run.id} plays recorded use", next_step=step)
    return Replay(tuple(rows), quantities, figures)


def _recorded(demand: Played) -> pl.DataFrame | None:
    """The rows of a partition as they were recorded; none where a table holds work only."""
    import polars as pl

    table = read_demand(demand.file)
    if not set(_RECORDED) <= set(table.columns):
        return None
    return table.filter(pl.col("partition") == demand.series)


def _simulated(
    run: Run, name: str, demand: Played, quantity: Quantity
) -> tuple[list[Figures], Figures]:
    """The figures of each window that the run holds, and of all of them together."""
    spec = run.partition_spec(name)
    smt = int(spec["smt"])
    shape = Shape(spec["guest"]["os"], quantity, int(processors_of(spec)), smt)
    ends, end = [], 0
    for length in demand.lengths_ns:
        end += length
        ends.append(end)
    table = by_window(run, name, ends, smt)
    rows: list[Figures] = [figures_of(row, shape) for row in table.iter_rows(named=True)]
    return rows, figures_of(whole(table), shape)


def _rows(name: str, told: pl.DataFrame, simulated: Sequence[Mapping[str, float]]) -> list[Row]:
    printed = [_column(told, column) for column in ("time", _CORES_COLUMN, "folded")]
    return [
        Row(name, step, time, recorded, found[_CORES_COLUMN], folded, found["folded"])
        for step, (found, time, recorded, folded) in enumerate(
            zip(simulated, *printed, strict=False)
        )
    ]


def _column(table: pl.DataFrame, name: str) -> list[object]:
    return table[name].to_list() if name in table.columns else [None] * len(table)


def _compared(
    told: pl.DataFrame, simulated: Sequence[Figures], together: Figures, quantity: Quantity
) -> tuple[Compared, ...]:
    """All figures of the table that a run has too."""
    found: list[Compared] = []
    for figure in (_CORES[quantity], *FIGURES):
        name = _CORES_COLUMN if figure is _CORES[quantity] else figure.name
        if name in told.columns:
            ours = [row.get(name) for row in simulated]
            found += _held_against(figure, told[name].to_list(), ours)
    for figure in FIGURES:
        means = _column(told, f"{figure.name}{SINCE_START}")[:1]
        mean = next((one for one in means if isinstance(one, float)), None)
        if mean is not None and figure.name in together:
            # Its mean since the start is one of all that happened, so ours is of all windows.
            unit, meaning = figure.unit, figure.meaning
            ours_of_all, windows = together[figure.name], len(simulated)
            found.append(
                Compared(figure.name, unit, meaning, True, windows, mean, ours_of_all, None)
            )
    return tuple(found)


def _held_against(
    figure: Figure, recorded: Sequence[object], simulated: Sequence[float | None]
) -> list[Compared]:
    """Means over the windows that both tell; nothing where there is no such window."""
    pairs = [
        (theirs, ours)
        for theirs, ours in zip(recorded, simulated, strict=False)
        if isinstance(theirs, float) and ours is not None
    ]
    if not pairs:
        return []
    theirs, ours = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
    return [
        Compared(
            name=figure.name,
            unit=figure.unit,
            meaning=figure.meaning,
            since_start=False,
            windows=len(pairs),
            recorded=theirs,
            simulated=ours,
            rank=rank_correlation(pairs),
        )
    ]


def _summary(rows: Sequence[Row], quantity: Quantity, figures: tuple[Compared, ...]) -> Summary:
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
        figures=figures,
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
