"""Bars from where the one before ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import LETTER, LINE, colour_of, lines_of

if TYPE_CHECKING:
    import altair as alt

_GAP = 0.15
CUT = "\u2248"
"""Stands on bars whose foot is not shown."""


class Step(TypedDict):
    """A bar of a waterfall: where it starts and ends, its kind, the number that stands on it."""

    label: str
    start: float
    end: float
    top: float
    kind: str
    shown: str


def steps(
    bars: Sequence[Step],
    links: Sequence[Mapping[str, object]],
    titles: tuple[str, str],
    colours: Mapping[str, str],
    scale: tuple[float, float],
) -> alt.LayerChart:
    """A waterfall: bars from where the one before ended, joined by lines. Where the `scale`
    begins above zero, so that what is added is not lost beside what was there, the axis says so and
    every bar that stands on it is marked as cut. A title, and the label of a bar, may have lines.
    """
    import altair as alt

    lowest, title = scale[0], titles[1]
    if lowest:
        title = f"{title}, from {lowest:g}"
    order = [bar["label"] for bar in bars]
    # Of every layer: one that had none would draw the axis down to zero again.
    up = alt.Scale(domain=[*scale], nice=False)
    axis = alt.Axis(labelAngle=-35, labelLimit=240)
    if any("\n" in label for label in order):
        axis.labelExpr = "split(datum.label, '\\n')"
    gap = alt.Scale(paddingInner=_GAP, paddingOuter=_GAP)
    base = alt.Chart(alt.InlineData(values=list(bars))).encode(
        x=alt.X("label:N", sort=order, title=None, axis=axis, scale=gap)
    )
    drawn = base.mark_bar(stroke=LINE, clip=True).encode(
        y=alt.Y("start:Q", title=title, scale=up),
        y2="end:Q",
        color=colour_of(colours, legend=False),
    )
    levels = (
        alt.Chart(alt.InlineData(values=list(links)))
        .mark_rule(color=LINE)
        .encode(x=alt.X("label:N", sort=order), x2="next:N", y=alt.Y("level:Q", scale=up))
    )
    marks = base.mark_text(text=CUT, fontSize=20, dy=-9, color=LETTER).encode(
        y=alt.YDatum(lowest, scale=up)
    )
    marks = marks.transform_filter(f"datum.start < {lowest}")
    text = "; ".join(f"{bar['label']} {bar['shown']}" for bar in bars)
    said = " ".join(f"{titles[0]}, {title}. {text}".split())
    labels = base.mark_text(dy=-7).encode(y=alt.Y("top:Q", scale=up), text="shown:N")
    chart: alt.LayerChart = alt.LayerChart(
        layer=[levels, drawn, labels, *([marks] if lowest else [])]
    ).properties(
        title=lines_of(titles[0]),
        description=said,
        width=640,
        height=320,
    )
    return chart
