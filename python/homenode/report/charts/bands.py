"""Points beside the band in which they should lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import LINE, LOSS, MANY, QUIET, lines_of

if TYPE_CHECKING:
    import altair as alt

MOST = 3.0
"""Half bands from the middle beyond which a point is drawn at the edge."""
WITHIN, OUTSIDE, NULL = "within", "outside", "null model"
_COLOURS = {WITHIN: MANY[0], OUTSIDE: LOSS, NULL: QUIET}
_SHAPES = ("circle", "cross", "diamond")
_WIDTH = 320


class Placed(TypedDict):
    """A point: which row, of which kind, how many half bands from the middle, the figures."""

    label: str
    kind: str
    at: float
    shown: str


def bands(rows: Sequence[Placed], title: str) -> alt.LayerChart:
    """A line a row with the band from -1 to 1; what lies outside has another form."""
    import altair as alt

    order = list(dict.fromkeys(row["label"] for row in rows))
    values = [{**row, "at": max(-MOST, min(MOST, row["at"]))} for row in rows]
    kinds = list(_COLOURS)
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelLimit=320))
    )
    across = alt.X(
        "at:Q",
        title="simulated less published [tolerances]",
        scale=alt.Scale(domain=[-MOST, MOST]),
    )
    band = alt.Chart(alt.InlineData(values=[{"from": -1.0, "to": 1.0}]))
    colours = alt.Scale(domain=kinds, range=[*_COLOURS.values()])
    forms, above = alt.Scale(domain=kinds, range=[*_SHAPES]), alt.Legend(orient="top")
    edges = {"x": alt.datum(-MOST), "x2": alt.datum(MOST)}
    points = base.mark_point(filled=True, size=55, opacity=1.0).encode(
        x=across,
        color=alt.Color("kind:N", title=None, scale=colours, legend=above),
        shape=alt.Shape("kind:N", title=None, scale=forms, legend=above),
    )
    figures = base.mark_text(align="left", fontSize=9, x=_WIDTH + 8).encode(text="shown:N")
    layers = [
        band.mark_rect(opacity=0.15, color=QUIET, stroke=LINE).encode(x="from:Q", x2="to:Q"),
        base.mark_rule(color=LINE, strokeDash=[1, 3]).encode(**edges),
        points,
        figures,
    ]
    said = "; ".join(f"{row['label']} {row['shown']} {row['kind']}" for row in rows if row["shown"])
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        title=lines_of(title), description=f"{title}. {said}", width=_WIDTH, height=alt.Step(15)
    )
    return chart
