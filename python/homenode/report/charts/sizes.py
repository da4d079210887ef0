"""Small lines over sizes: a row a quantity, a column a set, kinds in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import DASHES, colour_of, lines_of

if TYPE_CHECKING:
    import altair as alt

_WIDE, _HIGH = 190, 120
_STROKE = 400
"""Of a line in the legend: long enough for its dashes."""


class Sized(TypedDict):
    """One point: of which set and kind, at which size."""

    name: str
    kind: str
    size: int
    value: float


def sizes(
    rows: Mapping[str, Sequence[Sized]], titles: tuple[str, str], colours: Mapping[str, str]
) -> alt.VConcatChart:
    """A row a quantity with one scale for all its sets, which stand beside each other; `titles` are
    those of the chart and of the sizes.
    """
    import altair as alt

    title, across = titles
    drawn = [
        _row(quantity, points, across, colours, last=at == len(rows) - 1)
        for at, (quantity, points) in enumerate(rows.items())
    ]
    told = "; ".join(_read(quantity, points) for quantity, points in rows.items())
    chart: alt.VConcatChart = alt.vconcat(*drawn).properties(
        title=lines_of(title), description=f"{title}. {told}"
    )
    return chart


def _row(
    quantity: str,
    points: Sequence[Sized],
    across: str,
    colours: Mapping[str, str],
    *,
    last: bool,
) -> alt.HConcatChart:
    import altair as alt

    names = list(dict.fromkeys(point["name"] for point in points))
    dashes = alt.Scale(domain=list(colours), range=DASHES[: len(colours)])
    stroke = alt.Legend(symbolType="stroke", symbolSize=_STROKE, orient="top")
    panels = []
    for at, name in enumerate(names):
        values = [point for point in points if point["name"] == name]
        base = alt.Chart(alt.InlineData(values=values)).encode(
            x=alt.X("size:Q", title=across if last else None, scale=alt.Scale(zero=False)),
            y=alt.Y("value:Q", title=quantity if at == 0 else None),
            color=colour_of(colours).legend(stroke),
        )
        line = base.mark_line().encode(
            strokeDash=alt.StrokeDash("kind:N", title=None, scale=dashes, legend=stroke)
        )
        dots = base.mark_point(filled=True, size=30, opacity=1.0)
        panels.append((line + dots).properties(title=name, width=_WIDE, height=_HIGH))
    row: alt.HConcatChart = alt.hconcat(*panels).resolve_scale(y="shared")
    return row


def _read(quantity: str, points: Sequence[Sized]) -> str:
    """Where each line begins and ends, for those who do not see it."""
    ends: dict[tuple[str, str], list[Sized]] = {}
    for point in points:
        ends.setdefault((point["name"], point["kind"]), []).append(point)
    told = (
        f"{name} {kind} {line[0]['value']:.4g} to {line[-1]['value']:.4g}"
        for (name, kind), line in ends.items()
    )
    return f"{quantity}: {', '.join(told)}"
