"""Distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import LINE, LOSS, QUIET

if TYPE_CHECKING:
    import altair as alt

_WIDTH = 520
_APART = 8
"""Between two numbers of the axis, in fonts that are wider too [px]."""


class Spread(TypedDict):
    """A distribution by some of its quantiles, and what is said of it."""

    label: str
    shown: str
    p50: float
    p95: float
    p99: float
    max: float


def spreads(rows: Sequence[Spread], title: str, of: str = "") -> alt.LayerChart:
    """A line a distribution on a scale of powers of ten: thick from the median to the 95th
    percentile, thin to the longest, the median and the 99th percentile marked; `of` says of what.
    """
    import altair as alt

    order = [row["label"] for row in rows]
    base = alt.Chart(alt.InlineData(values=[*rows])).encode(
        y=alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelLimit=240))
    )
    # Numbers of a scale of powers of ten come nearer and nearer: those with no room are left out.
    axis = alt.Axis(labelOverlap="greedy", labelSeparation=_APART)
    across = alt.X("p50:Q", title=title, scale=alt.Scale(type="log"), axis=axis)
    layers = [
        base.mark_rule(color=QUIET).encode(x=across, x2="max:Q"),
        base.mark_bar(color=QUIET, stroke=LINE, height=8).encode(x=across, x2="p95:Q"),
        base.mark_tick(color=LINE, thickness=2).encode(x=across),
        base.mark_tick(color=LOSS, thickness=2).encode(x="p99:Q"),
        base.mark_text(dx=6, align="left", fontSize=9).encode(x="max:Q", text="shown:N"),
    ]
    told = "median / p95 / p99 / longest"
    heading = f"{of}: {told}" if of else told
    text = "; ".join(f"{row['label']} {row['shown']}" for row in rows)
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        title=heading, description=f"{title}, {heading}. {text}", width=_WIDTH, height=alt.Step(20)
    )
    return chart
