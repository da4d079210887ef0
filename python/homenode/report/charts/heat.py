"""Maps of heat: a number by two things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import GROUND, LETTER, LINE, lines_of

if TYPE_CHECKING:
    import altair as alt

_CELL, _LEAST_HIGH, _LETTER = 52, 26, 7
"""A cell is so wide, and from so to so high, as the name beside its column needs by its letters
[px].
"""
_COLUMNS = 2
DARK_FROM = 0.74
"""Share of the scale from which on its colours carry light numbers."""


class Hot(TypedDict):
    """A cell: where, how much, what stands in it."""

    across: str
    up: str
    value: float
    shown: str


def heat(panels: Mapping[str, Sequence[Hot]], axes: tuple[str, str], title: str) -> alt.ConcatChart:
    """A panel a title with a scale of its own, darker for more; the number stands in every cell, so
    that nothing rests on the colour.
    """
    import altair as alt

    drawn = [_heat(name, cells, axes) for name, cells in panels.items()]
    said = "; ".join(
        f"{name}: " + ", ".join(f"{c['across']} and {c['up']} {c['shown']}" for c in cells)
        for name, cells in panels.items()
    )
    widest = max(len({cell["across"] for cell in cells}) for cells in panels.values())
    width = min(len(drawn), _COLUMNS) * (widest + 1) * _CELL
    says = f"{title}, {axes[0]} by {axes[1]}. {said}"
    chart: alt.ConcatChart = (
        alt.concat(*drawn, columns=_COLUMNS)
        .resolve_scale(color="independent")
        .properties(title=lines_of(title, width), description=says)
    )
    return chart


def _heat(name: str, cells: Sequence[Hot], axes: tuple[str, str]) -> alt.LayerChart:
    import altair as alt

    values = [cell["value"] for cell in cells]
    least, most = min(values), max(values)
    dark = least + DARK_FROM * (most - least)
    base = alt.Chart(alt.InlineData(values=[*cells])).encode(
        x=alt.X("across:O", sort=None, title=axes[0], axis=alt.Axis(labelAngle=0)),
        y=alt.Y("up:O", sort=None, title=axes[1]),
    )
    colour = alt.Color("value:Q", title=name, scale=alt.Scale(scheme="blues"), legend=None)
    squares = base.mark_rect(stroke=LINE).encode(color=colour)
    light = alt.condition(
        f"datum.value > {dark} && {least} < {most}", alt.value(GROUND), alt.value(LETTER)
    )
    numbers = base.mark_text(fontSize=10).encode(text="shown:N", color=light)
    rows = len({cell["up"] for cell in cells})
    high = max(_LEAST_HIGH, min(_CELL, _LETTER * len(axes[1]) // rows))
    chart: alt.LayerChart = (squares + numbers).properties(
        title=name, width=alt.Step(_CELL), height=alt.Step(high)
    )
    return chart
