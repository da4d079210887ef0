"""Bars from where the one before ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import LINE, colour_of

if TYPE_CHECKING:
    import altair as alt

_GAP = 0.15


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
    highest: float,
) -> alt.LayerChart:
    """A waterfall: bars from where the one before ended, joined by lines; zero is always shown, for
    bars that stand for amounts must not be cut.
    """
    import altair as alt

    order = [bar["label"] for bar in bars]
    axis = alt.Axis(labelAngle=-35, labelLimit=240)
    gap = alt.Scale(paddingInner=_GAP, paddingOuter=_GAP)
    base = alt.Chart(alt.InlineData(values=list(bars))).encode(
        x=alt.X("label:N", sort=order, title=None, axis=axis, scale=gap)
    )
    drawn = base.mark_bar().encode(
        y=alt.Y("start:Q", title=titles[1], scale=alt.Scale(domain=[0.0, highest])),
        y2="end:Q",
        color=colour_of(colours, legend=False),
    )
    levels = (
        alt.Chart(alt.InlineData(values=list(links)))
        .mark_rule(color=LINE)
        .encode(x=alt.X("label:N", sort=order), x2="next:N", y="level:Q")
    )
    labels = base.mark_text(dy=-7).encode(y="top:Q", text="shown:N")
    chart: alt.LayerChart = (levels + drawn + labels).properties(
        title=titles[0], width=640, height=320
    )
    return chart
