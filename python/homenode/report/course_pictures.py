"""A run over time as a picture: cores of all partitions on each other against the capacity, those
of each against its entitlement and its pool, how long they took to answer and waited for a core. Of
a sweep a panel a point, all to one scale.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from homenode.model.numbers import significant
from homenode.report import charts
from homenode.report.charts import Moment, Panel, Spread
from homenode.report.courses import SPREADS
from homenode.simulate.kept.course import QUANTILES

if TYPE_CHECKING:
    import altair as alt

    from homenode.simulate.kept.course import Course

USED, ENTITLED, POOL = "used", "entitled", "pool"
_SHORTEST = {"spread_ms": 1e-6, "wait_us": 1e-3}
"""A nanosecond: a scale of powers of ten has no zero."""
MOST_POINTS = 48
"""Of a sweep: sixteen rows of three panels; more are no picture any more."""
_LINES = {USED: charts.MANY[0], ENTITLED: charts.LOSS, POOL: charts.GAIN}


def course_parts(told: Course, most: int | None = None) -> list[alt.ConcatChart | alt.LayerChart]:
    """All partitions stacked, each by itself, so many of them at `most` in a part, their responses
    and their waits for a core.
    """
    names = [one["partition"] for one in told["partitions"]]
    most, unit = most or len(names), told["unit"]
    stacked: dict[str, Panel] = {"all": {"title": unit, "stacked": True}}
    parts: list[alt.ConcatChart | alt.LayerChart] = [
        charts.courses({"all": together(told)}, stacked, _colours(names))
    ]
    for at in range(0, len(names), most):
        some = names[at : at + most]
        each: dict[str, Panel] = {name: {"title": unit, "stacked": False} for name in some}
        lines = {name: alone(told, name) for name in some}
        parts.append(charts.courses(lines, each, _lines_of(told)))
    for of, title in SPREADS.items():
        if rows := distributions(told, of):
            parts.append(charts.spreads(rows, title))
    return parts


def course_picture(told: Course) -> alt.VConcatChart:
    """The same below each other."""
    import altair as alt

    parts = course_parts(told)
    title = f"{told['run']}, replication {told['replication']}"
    whole = alt.vconcat(*parts).resolve_scale(color="independent", strokeDash="independent")
    chart: alt.VConcatChart = whole.properties(
        title=title, description=f"{title}. {charts.said(parts)}"
    )
    return chart


def sweep_picture(points: Mapping[str, Course], title: str) -> alt.VConcatChart:
    """A panel a point, by what tells it from the others: its partitions on each other. Below, of
    each partition that answers, its responses at all points.
    """
    import altair as alt

    names = dict.fromkeys(
        one["partition"] for told in points.values() for one in told["partitions"]
    )
    about: dict[str, Panel] = {
        point: {"title": told["unit"], "stacked": True} for point, told in points.items()
    }
    panels = {point: together(told) for point, told in points.items()}
    drawn = charts.courses(panels, about, _colours(names)).resolve_scale(x="shared", y="shared")
    spreads = {
        name: [
            Spread(**{**one, "label": point})
            for point, told in points.items()
            for one in distributions(told, "spread_ms")
            if one["label"] == name
        ]
        for name in names
    }
    below = [charts.spreads(rows, "response [ms]", name) for name, rows in spreads.items() if rows]
    parts = [drawn, alt.vconcat(*below).resolve_scale(x="shared")] if below else [drawn]
    chart: alt.VConcatChart = alt.vconcat(*parts).properties(
        title=title, description=f"{title}. {charts.said([drawn, *below])}"
    )
    return chart


def _colours(names: Iterable[str]) -> dict[str, str]:
    """Of partitions, and of the capacity that is a line above them."""
    found = dict(zip(names, itertools.cycle(charts.MANY), strict=False))
    return found | {charts.LIMIT: charts.DARK}


def _lines_of(told: Course) -> dict[str, str]:
    """Lines of a partition; that of its pool where any pool has a limit."""
    pools = any(pool["limited"] for pool in told["pools"])
    return {kind: colour for kind, colour in _LINES.items() if pools or kind != POOL}


def together(told: Course) -> list[Moment]:
    """What all partitions used, and the capacity of the machine."""
    found = [
        moment
        for one in told["partitions"]
        for moment in _moments(told, one["partition"], one["used"])
    ]
    return found + _moments(told, charts.LIMIT, [told["capacity"]] * len(told["seconds"]))


def alone(told: Course, name: str) -> list[Moment]:
    """What a partition used, what it was entitled to, and its pool where that has a limit."""
    one = next(one for one in told["partitions"] if one["partition"] == name)
    lines = {USED: one["used"], ENTITLED: one["entitled"]}
    for pool in told["pools"]:
        if pool["limited"] and pool["pool"] == one["pool"]:
            lines[POOL] = pool["cores"]
    return [moment for kind, values in lines.items() for moment in _moments(told, kind, values)]


def distributions(told: Course, of: Literal["spread_ms", "wait_us"]) -> list[Spread]:
    """From the median to the longest, of partitions that answer, or wait, at all."""
    found = []
    for one in told["partitions"]:
        spread = one[of]
        if not spread:
            continue
        lasts = one["steady"] or of != "spread_ms"
        shown = " / ".join(significant(spread[name], 3) for name in QUANTILES)
        p50, p95, p99, longest = (max(spread[name], _SHORTEST[of]) for name in QUANTILES)
        found.append(
            Spread(
                label=one["partition"],
                shown=shown + ("" if lasts else ", no steady state"),
                p50=p50,
                p95=p95,
                p99=p99,
                max=longest,
            )
        )
    return found


def _moments(told: Course, kind: str, values: Sequence[float]) -> list[Moment]:
    """A value holds for the interval that ends with it; the first begins with the measurement."""
    ends = [0.0, *told["seconds"]]
    return [
        {"seconds": second, "panel": "", "kind": kind, "value": value}
        for second, value in zip(ends, [*values[:1], *values], strict=True)
    ]
