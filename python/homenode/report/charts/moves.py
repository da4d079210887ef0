"""What changes, as before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import LOSS

if TYPE_CHECKING:
    import altair as alt

_BEFORE, _FROM, _TO, _AFTER, _WIDTH = 110, 120, 170, 180, 300


class Move(TypedDict):
    """A change: of what, from what, to what."""

    label: str
    before: str
    after: str


def moves(rows: Sequence[Move], title: str) -> alt.LayerChart:
    """A line a change with an arrow from what was to what is to be."""
    import altair as alt

    order = [row["label"] for row in rows]
    base = alt.Chart(alt.InlineData(values=[*rows])).encode(
        y=alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelLimit=320))
    )
    layers = [
        base.mark_text(align="right", x=_BEFORE).encode(text="before:N"),
        base.mark_rule(color=LOSS, strokeWidth=2, x=_FROM, x2=_TO),
        base.mark_point(shape="triangle-right", filled=True, size=90, color=LOSS, x=_TO, opacity=1),
        base.mark_text(align="left", x=_AFTER + 4).encode(text="after:N"),
    ]
    said = "; ".join(f"{row['label']} from {row['before']} to {row['after']}" for row in rows)
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        title=title, description=f"{title}. {said}", width=_WIDTH, height=alt.Step(20)
    )
    return chart
