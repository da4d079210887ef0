"""What comes out under each load: a panel of what is done beside one of how long it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import LINE, LINES, colour_of, lines_of, said

if TYPE_CHECKING:
    import altair as alt

_WIDE, _HIGH = 300, 200


class Loaded(TypedDict):
    """A point of a curve: the middle of its runs, the least and the most of them."""

    load: float
    value: float
    low: float
    high: float


def loads(
    curves: Mapping[str, Mapping[str, Sequence[Loaded]]], title: str, across: str
) -> alt.VConcatChart:
    """A row a curve, with a panel for each of its figures, named with their units; loads on a scale
    of powers of two, figures from zero.
    """
    import altair as alt

    rows = [
        alt.hconcat(*(_panel(name, figure, points, across) for figure, points in panels.items()))
        for name, panels in curves.items()
    ]
    told = said(_panel(n, f, p, across) for n, panels in curves.items() for f, p in panels.items())
    width = _WIDE * max(len(panels) for panels in curves.values())
    chart: alt.VConcatChart = alt.vconcat(*rows).properties(
        title=lines_of(title, width), description=f"{title}. {told}"
    )
    return chart


def _panel(name: str, figure: str, points: Sequence[Loaded], across: str) -> alt.LayerChart:
    import altair as alt

    scale = alt.Scale(type="log", base=2, nice=False)
    ticks = alt.Axis(values=sorted({point["load"] for point in points}), labelOverlap="greedy")
    values = [{**point, "kind": figure} for point in points]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("load:Q", title=across, scale=scale, axis=ticks)
    )
    up = alt.Y("value:Q", title=figure, scale=alt.Scale(zero=True))
    layers = [
        base.mark_line().encode(y=up, color=colour_of({figure: LINES[0]}, legend=False)),
        base.mark_rule(color=LINE).encode(y="low:Q", y2="high:Q"),
        base.mark_point(filled=True, size=50, opacity=1.0, color=LINES[0]).encode(y=up),
    ]
    told = ", ".join(f"{point['value']:.4g} at {point['load']:g}" for point in points)
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        title=name, description=f"{name}, {figure}: {told}", width=_WIDE, height=_HIGH
    )
    return chart
