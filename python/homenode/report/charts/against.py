"""A bar a row, and a diamond where what it is held against stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import LETTER, LINE, MANY, PALE, lines_of

if TYPE_CHECKING:
    import altair as alt

_WIDTH = 320


class Against(TypedDict):
    """A row: how long its bar is, where the diamond stands, the figures of both."""

    label: str
    value: float
    other: float | None
    shown: str


def against(rows: Sequence[Against], title: str, axis: str, most: float) -> alt.LayerChart:
    """As many rows as there are, which no page is too narrow for; the axis, from zero to `most`,
    says what the diamond is.
    """
    import altair as alt

    order = [row["label"] for row in rows]
    base = alt.Chart(alt.InlineData(values=list(rows))).encode(
        y=alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelLimit=320))
    )
    scale = alt.Scale(domain=[0.0, most])
    bars = base.mark_bar(stroke=LINE, color=MANY[0]).encode(
        x=alt.X("value:Q", title=axis, scale=scale)
    )
    marks = base.mark_point(
        shape="diamond", filled=True, size=70, opacity=1.0, color=PALE, stroke=LETTER
    ).encode(x=alt.X("other:Q", scale=scale))
    figures = base.mark_text(align="left", fontSize=9, x=_WIDTH + 8).encode(text="shown:N")
    said = "; ".join(f"{row['label']} {row['shown']}" for row in rows)
    chart: alt.LayerChart = alt.LayerChart(layer=[bars, marks, figures]).properties(
        title=lines_of(title),
        description=f"{title}. {axis}: {said}",
        width=_WIDTH,
        height=alt.Step(18),
    )
    return chart
