"""Pictures of what partitions did over time: cores in user and system mode, one above the other,
and switches of logical processors beside them. Of the first replication, interval by interval: a
mean over replications would be smoother than any run is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.errors import HomenodeError
from homenode.simulate.kept.totals import NS_PER_S

if TYPE_CHECKING:
    import altair as alt

    from homenode.evidence.study.result import StudyResult
    from homenode.simulate.run import Run

CORES = {"user": "user_ns", "system": "sys_ns"}
"""Time by mode: cores once divided by the time it was counted in."""
SWITCHES = {"vlcs": "vlcs", "ilcs": "ilcs"}
"""Voluntary and involuntary switches of logical processors."""
_TITLES = {"cores": "cores", "switches": "switches/s"}
_COLOURS = {"user": "#8fa3b0", "system": "#c8553d", "vlcs": "#3f8f6b", "ilcs": "#5b3f8f"}
_WIDTH, _HEIGHT = 380, 150


class Moment(TypedDict):
    """An interval: how much of one kind."""

    seconds: float
    """Its end."""
    panel: str
    """`cores` or `switches`."""
    kind: str
    value: float


def moments(run: Run, partition: str | None) -> list[Moment]:
    """What a partition of a run did in each interval; the only one if none is named."""
    import polars as pl

    rows = run.intervals("partition").filter(pl.col("replication") == 0)
    name = partition or str(rows["partition"][0])
    found: list[Moment] = []
    before = 0
    for row in rows.filter(pl.col("partition") == name).sort("time_ns").iter_rows(named=True):
        now = row["time_ns"]
        for panel, kinds, unit in (("cores", CORES, 1.0), ("switches", SWITCHES, NS_PER_S)):
            for kind, column in kinds.items():
                value = row[column] * unit / (now - before)
                found.append(
                    {"seconds": now / NS_PER_S, "panel": panel, "kind": kind, "value": value}
                )
        before = now
    return found


def study_over_time(result: StudyResult) -> alt.VConcatChart:
    """A row for each case of a study that was simulated; all with the same scales.

    Raises `HomenodeError` for a study that simulates no partitions.
    """
    cases = {
        name: moments(run, result.study.cases[name].partition) for name, run in result.runs.items()
    }
    if not any(cases.values()):
        raise HomenodeError(
            f"study {result.study.name} simulates nothing that goes on over time",
            next_step="leave --picture out",
        )
    return over_time(cases, result.study.title)


def over_time(cases: Mapping[str, Sequence[Moment]], title: str) -> alt.VConcatChart:
    """Cores and switches of each of some partitions, a row each; a panel in which none has anything
    is left out.
    """
    import altair as alt

    most = {
        panel: max((_height(points, panel) for points in cases.values()), default=0.0)
        for panel in _TITLES
    }
    rows = [
        alt.hconcat(*(_panel(name, points, panel, most[panel]) for panel in most if most[panel]))
        for name, points in cases.items()
    ]
    chart: alt.VConcatChart = alt.vconcat(*rows).properties(title=title)
    return chart


def _height(points: Sequence[Moment], panel: str) -> float:
    """The highest point of a panel; cores stand on each other."""
    sums: dict[float, float] = {}
    for point in points:
        if point["panel"] == panel:
            there = sums.get(point["seconds"], 0.0)
            value = point["value"]
            sums[point["seconds"]] = there + value if panel == "cores" else max(there, value)
    return max(sums.values(), default=0.0)


def _panel(name: str, points: Sequence[Moment], panel: str, most: float) -> alt.Chart:
    import altair as alt

    shown = [point for point in points if point["panel"] == panel]
    base = alt.Chart(alt.InlineData(values=shown))
    mark = base.mark_area() if panel == "cores" else base.mark_line()
    chart: alt.Chart = mark.encode(
        x=alt.X("seconds:Q", title="s"),
        y=alt.Y(
            "value:Q",
            title=_TITLES[panel],
            stack="zero" if panel == "cores" else None,
            scale=alt.Scale(domain=[0.0, most]),
        ),
        color=alt.Color(
            "kind:N",
            title=None,
            scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())),
        ),
        # What comes first lies lowest.
        order=alt.Order("kind:N", sort="descending"),
    ).properties(title=name, width=_WIDTH, height=_HEIGHT)
    return chart
