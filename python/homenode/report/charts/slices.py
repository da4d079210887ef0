"""Slices of time: who had which place when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import LINE, colour_of, letter_on, letters

if TYPE_CHECKING:
    import altair as alt

_WIDTH, _ROW = 900, 16
_NARROWEST = 0.012
"""Share of the width below which a slice has no room for its letter."""
HEIGHTS = {"home": 0.9, "near": 0.6, "far": 0.3}
"""Share of its row that a slice is high, by how far from home: seen in grey too."""


class Slice(TypedDict):
    """A stretch of time at a place."""

    place: str
    kind: str
    start: float
    """[ms]"""
    end: float
    distance: str
    """A key of `HEIGHTS`."""
    shown: str


def slices(
    rows: Sequence[Slice], places: Sequence[str], title: str, colours: Mapping[str, str], says: str
) -> alt.LayerChart:
    """A row a place; a slice as high as it is near home, with a letter where it is wide enough."""
    import altair as alt

    first = min((one["start"] for one in rows), default=0.0)
    last = max((one["end"] for one in rows), default=1.0)
    scale = alt.Scale(domain=[*places], paddingInner=0.0)
    layers: list[alt.Chart] = []
    for distance, height in HEIGHTS.items():
        there = [
            {**one, "letter": letter_on(colours[one["kind"]])}
            for one in rows
            if one["distance"] == distance
        ]
        base = alt.Chart(alt.InlineData(values=there)).encode(
            y=alt.Y("place:N", sort=[*places], title="core", scale=scale)
        )
        across = alt.X(
            "start:Q", title="time [ms]", scale=alt.Scale(domain=[first, last], zero=False)
        )
        bars = base.mark_bar(stroke=LINE, strokeWidth=0.3, height=alt.RelativeBandSize(height))
        layers.append(bars.encode(x=across, x2="end:Q", color=colour_of(colours)))
        wide = f"datum.end - datum.start >= {_NARROWEST * (last - first)}"
        names = base.mark_text(fontSize=8, align="left", dx=2).encode(
            x="start:Q", text="shown:N", color=letters()
        )
        layers.append(names.transform_filter(wide))
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        title=title, description=f"{title}. {says}", width=_WIDTH, height=alt.Step(_ROW)
    )
    return chart
