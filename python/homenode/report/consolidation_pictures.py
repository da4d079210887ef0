"""A consolidation as a picture: each machine at its peak, and headroom over the days recorded and
to come.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING

from homenode.planner.consolidation.growth import HORIZON_DAYS
from homenode.report import charts
from homenode.report.charts import Piece

if TYPE_CHECKING:
    import altair as alt

    from homenode.planner.consolidation.answer import Consolidation

_RECORDED = "recorded"
_USED, _LEFT, _SHORT = "used at the peak", "left", "short"
_COLOURS = {_USED: charts.QUIET, _LEFT: charts.GAIN, _SHORT: charts.LOSS}
_POINTS = 25
_DAYS = "days from the last recorded one [d]"


def consolidation_picture(of: Consolidation) -> alt.VConcatChart:
    """What is left of each machine, and of all together day by day: recorded, and ahead where
    growth is told.
    """
    import altair as alt

    title = f"{len(of.partitions)} partitions: {of.verdict}"
    parts: list[alt.ConcatChart | alt.LayerChart] = [
        charts.lying({f"{of.unit} of each machine": _machines(of)}, title, _COLOURS)
    ]
    points = headroom(of)
    if points:
        kinds = dict.fromkeys(str(point["kind"]) for point in points)
        titles = ("Headroom of all machines", _DAYS, f"headroom [{of.unit}]")
        colours = dict(zip(kinds, (charts.QUIET, *charts.LINES), strict=False))
        parts.append(charts.curves(points, ("days", "left"), titles, colours))
    chart: alt.VConcatChart = (
        alt.vconcat(*parts)
        .resolve_scale(color="independent", strokeDash="independent")
        .properties(description=charts.said(parts))
    )
    return chart


def headroom(of: Consolidation) -> list[dict[str, object]]:
    """What is left at the peak of each recorded day, and ahead by trend and by the ends of its
    band. Nothing of a single day where growth is not told.
    """
    recorded = [(dt.date.fromisoformat(day), used) for day, used in of.peaks.by_day]
    last = recorded[-1][0]
    found: list[dict[str, object]] = [
        {"days": float((day - last).days), "left": of.usable - used, "kind": _RECORDED}
        for day, used in recorded
        if len(recorded) > 1
    ]
    for trend in of.growth.trends:
        rates = {trend.kind: trend.rate}
        if trend.low != trend.high:
            rates |= {f"{trend.kind}, at most": trend.high, f"{trend.kind}, at least": trend.low}
        for kind, rate in rates.items():
            for at in range(_POINTS):
                days = HORIZON_DAYS * at / (_POINTS - 1)
                used = replace(trend, rate=rate).at(of.peaks.of_sums, days)
                found.append({"days": round(days, 1), "left": of.usable - used, "kind": kind})
    return found


def _machines(of: Consolidation) -> list[Piece]:
    found = []
    for one in of.machines:
        rest = _LEFT if one.left >= 0 else _SHORT
        for at, (kind, value) in enumerate(((_USED, one.peak), (rest, abs(one.left)))):
            shown = f"{value:.1f}"
            found.append(Piece(place=one.target.name, kind=kind, value=value, at=at, shown=shown))
    return found
