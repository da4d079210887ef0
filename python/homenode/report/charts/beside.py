"""Bars of each label beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import LINE, colour_of, lines_of

if TYPE_CHECKING:
    import altair as alt

_BAR_WIDTH, _BARS_HEIGHT = 36, 240


class Beside(TypedDict):
    """One bar of a pair: of which configuration, of which kind, how high, between what."""

    label: str
    kind: str
    value: float
    low: float
    high: float
    shown: str


def beside(
    panels: Mapping[str, Sequence[Beside]], title: str, colours: Mapping[str, str]
) -> alt.VConcatChart:
    """A panel a title: bars of each label beside each other, the range of each on it, its number
    above; all with the same scale, from zero.
    """
    import altair as alt

    top = max((bar["high"] for bars in panels.values() for bar in bars), default=1.0)
    rows = [_pairs(name, bars, 1.1 * top, colours) for name, bars in panels.items()]
    text = "; ".join(
        f"{one['label']} {one['kind']} {one['shown']}" for bars in panels.values() for one in bars
    )
    chart: alt.VConcatChart = alt.vconcat(*rows).properties(
        title=lines_of(title), description=f"{title}. Bars: {text}"
    )
    return chart


def _pairs(
    name: str, bars: Sequence[Beside], top: float, colours: Mapping[str, str]
) -> alt.LayerChart:
    import altair as alt

    axis = alt.Axis(labelAngle=-35, labelLimit=240)
    base = alt.Chart(alt.InlineData(values=list(bars))).encode(
        x=alt.X("label:N", sort=None, title=None, axis=axis),
        xOffset=alt.XOffset("kind:N", sort=list(colours)),
    )
    height = alt.Y("value:Q", title=name, scale=alt.Scale(domain=[0.0, top]))
    drawn = base.mark_bar(stroke=LINE).encode(
        y=height, color=colour_of(colours, legend=len(colours) > 1)
    )
    spread = base.mark_rule(color=LINE).encode(y="low:Q", y2="high:Q")
    labels = base.mark_text(dy=-7, fontSize=8).encode(y="high:Q", text="shown:N")
    chart: alt.LayerChart = (drawn + spread + labels).properties(
        title=name, width=alt.Step(_BAR_WIDTH), height=_BARS_HEIGHT
    )
    return chart
