"""Slices of time: who had which place when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import LINE, colour_of, letter_on, letters

if TYPE_CHECKING:
    import altair as alt

_WIDTH, _ROW = 900, 16
_FONT, _LETTER, _BESIDE = 8, 5, 4
"""Height of what is written on a slice, width of one of its letters and of what is left free beside
them: who has no room for it has none [px].
"""
HEIGHTS = {"home": 0.9, "near": 0.6, "far": 0.3}
"""Share of its row that a slice is high, by how far from home: seen in grey too. All stand on one
line, so that there is room above those that are lower than a letter.
"""


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
            "start:Q",
            title="time [ms]",
            scale=alt.Scale(domain=[first, last], zero=False),
            axis=alt.Axis(labelFlush=False, tickCount=10),
        )
        down = (max(HEIGHTS.values()) - height) / 2 * _ROW
        bars = base.mark_bar(
            stroke=LINE, strokeWidth=0.3, height=alt.RelativeBandSize(height), yOffset=down
        )
        layers.append(bars.encode(x=across, x2="end:Q", color=colour_of(colours)))
        needs = f"({_LETTER} * length(datum.shown) + {_BESIDE}) / {_WIDTH}"
        names = _names(base, height * _ROW, down).transform_filter(
            f"datum.end - datum.start >= {needs} * {last - first}"
        )
        layers.append(names)
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        title=title, description=f"{title}. {says}", width=_WIDTH, height=alt.Step(_ROW)
    )
    return chart


def _names(slices: alt.Chart, height: float, down: float) -> alt.Chart:
    """What is written on slices so high; above them, as on the ground, where they are lower."""
    where = {"x": "start:Q", "text": "shown:N"}
    found: alt.Chart
    if height > _FONT:
        on = slices.mark_text(fontSize=_FONT, align="left", dx=2, dy=down)
        found = on.encode(**where, color=letters())
    else:
        above = slices.mark_text(
            fontSize=_FONT, align="left", baseline="bottom", dx=2, dy=down - height / 2
        )
        found = above.encode(**where)
    return found
