"""Lines by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from homenode.report.charts.colours import DASHES, LETTER, LOSS, PALE, colour_of

if TYPE_CHECKING:
    import altair as alt

_WIDE, _HIGH = 560, 360
_STROKE = 400
"""Of a line in the legend: long enough for its dashes."""


def curves(
    points: Sequence[Mapping[str, object]],
    axes: tuple[str, str],
    titles: tuple[str, str, str],
    colours: Mapping[str, str],
    step: tuple[int, int] | None = None,
    dots: Sequence[Mapping[str, object]] = (),
) -> alt.LayerChart:
    """Lines by `kind`, points on the first kind that has a colour, a step of x shaded; `titles` are
    those of the chart and of both axes. `dots` are points of one further kind without a line.
    """
    import altair as alt

    (x, y), (title, x_title, y_title) = axes, titles
    numbers = all(isinstance(point[x], int | float) for point in points)
    across = alt.X(f"{x}:Q" if numbers else f"{x}:O", title=x_title)
    across = across.scale(zero=False) if numbers else across.sort(None)
    dashes = alt.Scale(domain=list(colours), range=DASHES[: len(colours)])
    base = alt.Chart(alt.InlineData(values=list(points))).encode(
        x=across, y=alt.Y(f"{y}:Q", title=y_title)
    )
    stroke = alt.Legend(symbolType="stroke", symbolSize=_STROKE)
    lines = base.mark_line().encode(
        color=colour_of(colours).legend(stroke),
        strokeDash=alt.StrokeDash("kind:N", title=None, scale=dashes, legend=stroke),
    )
    first, colour = next(iter(colours.items()))
    marked = f"datum.kind == '{first}'"
    points_on = base.mark_point(filled=True, size=60, opacity=1.0, color=colour)
    layers = lines + points_on.transform_filter(marked)
    if dots:
        layers += _dotted(dots, axes)
    if step is not None:
        shade = alt.Chart(alt.InlineData(values=[{"from": step[0], "to": step[1]}]))
        layers = shade.mark_rect(opacity=0.12, color=LOSS).encode(x="from:Q", x2="to:Q") + layers
    chart: alt.LayerChart = layers.properties(
        title=title,
        description=f"{title}. {_read([*points, *dots], axes, y_title)}",
        width=_WIDE,
        height=_HIGH,
    )
    return chart


def _dotted(dots: Sequence[Mapping[str, object]], axes: tuple[str, str]) -> alt.Chart:
    """Points that no line joins, of a form of their own."""
    import altair as alt

    (x, y), kind = axes, str(dots[0]["kind"])
    shapes = alt.Scale(domain=[kind], range=["diamond"])
    drawn: alt.Chart = (
        alt.Chart(alt.InlineData(values=[*dots]))
        .mark_point(filled=True, size=70, opacity=1.0, color=PALE, stroke=LETTER)
        .encode(x=f"{x}:Q", y=f"{y}:Q", shape=alt.Shape("kind:N", title=None, scale=shapes))
    )
    return drawn


def _read(points: Sequence[Mapping[str, object]], axes: tuple[str, str], what: str) -> str:
    """Where each line begins and ends, for those who do not see it."""
    ends: dict[object, list[Mapping[str, object]]] = {}
    for point in points:
        ends.setdefault(point["kind"], []).append(point)
    x, y = axes
    told = (
        f"{kind} from {line[0][y]:.4g} at {line[0][x]} to {line[-1][y]:.4g} at {line[-1][x]}"
        for kind, line in ends.items()
    )
    return f"{what}: {'; '.join(told)}"
