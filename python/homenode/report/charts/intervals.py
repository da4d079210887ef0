"""Differences with their intervals, beside how much is noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import LINE, QUIET, colour_of, lines_of

if TYPE_CHECKING:
    import altair as alt

_WIDTH = 420
_SHAPES = ("triangle-right", "triangle-left", "circle", "diamond", "square", "cross")
_ROOM = 1.05
"""Around what is farthest from zero."""


class Interval(TypedDict):
    """A difference: of what, of which kind, its interval, half the width of its noise."""

    label: str
    kind: str
    value: float
    low: float
    high: float
    noise: float
    shown: str


def intervals(
    rows: Sequence[Interval], titles: tuple[str, str], colours: Mapping[str, str]
) -> alt.LayerChart:
    """A line a row about zero: its interval as a rule, its middle of a form by kind, its noise as a
    pale band; `titles` are those of the chart and of its axis.
    """
    import altair as alt

    (title, axis), order = titles, [row["label"] for row in rows]
    values = [{**row, "least": -row["noise"], "zero": 0.0} for row in rows]
    ends = (abs(row[end]) for row in rows for end in ("low", "high", "noise"))
    far = _ROOM * max(ends, default=1.0)
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelLimit=320))
    )
    above = alt.Legend(orient="top")
    across = alt.Scale(domain=[-far, far])
    shapes = alt.Scale(domain=list(colours), range=list(_SHAPES[: len(colours)]))
    layers = [
        base.mark_bar(color=QUIET, opacity=0.25, stroke=LINE, height=12).encode(
            x=alt.X("least:Q", title=axis, scale=across), x2="noise:Q"
        ),
        base.mark_rule(color=LINE, strokeDash=[2, 2]).encode(x=alt.X("zero:Q", scale=across)),
        base.mark_rule(color=LINE, strokeWidth=2).encode(
            x=alt.X("low:Q", scale=across), x2="high:Q"
        ),
        base.mark_point(filled=True, size=80, opacity=1.0).encode(
            x=alt.X("value:Q", scale=across),
            color=colour_of(colours).legend(above),
            shape=alt.Shape("kind:N", title=None, scale=shapes, legend=above),
        ),
        base.mark_text(align="left", fontSize=9, x=_WIDTH + 8).encode(text="shown:N"),
    ]
    told = "; ".join(f"{row['label']} {row['shown']} {row['kind']}" for row in rows)
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        title=lines_of(title),
        description=f"{title}. {axis}: {told}",
        width=_WIDTH,
        height=alt.Step(22),
    )
    return chart
