"""What went on over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import (
    DASHES,
    LINE,
    colour_of,
    letter_on,
    letters,
    lines_of,
)

if TYPE_CHECKING:
    import altair as alt

_PANEL_WIDTH, _PANEL_HEIGHT = 380, 150
_SMALL_WIDTH, _PANELS_A_ROW = 260, 3
LIMIT = "capacity"
"""The kind that is a line above what is stacked."""
_SECONDS = "time [s]"
_NAME_HEIGHT = 10
"""An area that is nowhere as high has no room for its name [px]."""
_EDGE = 0.15
"""Share of the time at either end in which no name stands: it would reach beyond."""


class Moment(TypedDict):
    """An interval: how much of one kind."""

    seconds: float
    """Its end."""
    panel: str
    """Where it is drawn."""
    kind: str
    value: float


class Panel(TypedDict):
    """What a panel of charts over time is about."""

    title: str
    stacked: bool
    """Whether kinds stand on each other."""


def over_time(
    rows: Mapping[str, Sequence[Moment]],
    panels: Mapping[str, Panel],
    title: str,
    colours: Mapping[str, str],
) -> alt.VConcatChart:
    """A row of panels each; a panel in which no row has anything is left out, and all rows have the
    same scales.
    """
    import altair as alt

    most = {
        name: max((_height(_of(points, name), one) for points in rows.values()), default=0.0)
        for name, one in panels.items()
    }
    drawn = [
        alt.hconcat(
            *(
                _over_time(row, _of(points, name), panels[name], top, colours)
                for name, top in most.items()
                if top
            )
        )
        for row, points in rows.items()
    ]  # fmt: skip
    chart: alt.VConcatChart = alt.vconcat(*drawn).properties(
        title=lines_of(title), description=f"{title}. {_read(rows, colours)}"
    )
    return chart


def _read(panels: Mapping[str, Sequence[Moment]], colours: Mapping[str, str]) -> str:
    """What is drawn, for those who do not see it."""
    means = []
    for name, points in panels.items():
        for kind in colours:
            values = [one["value"] for one in points if one["kind"] == kind]
            if values:
                whose = kind if name == "all" else f"{name} {kind}"
                means.append(f"{whose} {sum(values) / len(values):.2f}")
    return f"Over time, on average: {', '.join(means)}"


def _of(points: Sequence[Moment], panel: str) -> list[Moment]:
    return [one for one in points if one["panel"] == panel]


def _height(points: Sequence[Moment], panel: Panel) -> float:
    """The highest point; what is stacked stands on each other."""
    tops: dict[float, float] = {}
    for point in points:
        there, value = tops.get(point["seconds"], 0.0), point["value"]
        tops[point["seconds"]] = there + value if panel["stacked"] else max(there, value)
    return max(tops.values(), default=0.0)


def _over_time(
    name: str,
    points: Sequence[Moment],
    panel: Panel,
    top: float,
    colours: Mapping[str, str],
) -> alt.LayerChart:
    import altair as alt

    base = alt.Chart(alt.InlineData(values=list(points)))
    mark = base.mark_area(stroke=LINE, strokeWidth=0.5) if panel["stacked"] else base.mark_line()
    kinds = list(dict.fromkeys(one["kind"] for one in points))
    dashes = alt.Scale(domain=kinds, range=DASHES[: len(kinds)])
    dashed = alt.StrokeDash("kind:N", scale=dashes, legend=None)
    drawn = mark.encode(
        **({} if panel["stacked"] else {"strokeDash": dashed}),
        x=alt.X("seconds:Q", title=_SECONDS),
        y=alt.Y(
            "value:Q",
            title=panel["title"],
            stack="zero" if panel["stacked"] else None,
            scale=alt.Scale(domain=[0.0, top]),
        ),
        # What comes first lies lowest.
        order=alt.Order("kind:N", sort="descending"),
        color=colour_of(colours),
    )
    names = _names(points, sorted(kinds, reverse=True), top, colours, stacked=panel["stacked"])
    chart: alt.LayerChart = (drawn + names).properties(
        title=name, width=_PANEL_WIDTH, height=_PANEL_HEIGHT
    )
    return chart


def _names(
    points: Sequence[Moment],
    kinds: Sequence[str],
    top: float,
    colours: Mapping[str, str],
    *,
    stacked: bool,
) -> alt.Chart:
    """What each area or line is, written on it where there is most room: nobody has to tell their
    colours apart. Of areas `kinds` are in the order in which they stand on each other.
    """
    import altair as alt

    seconds = sorted({one["seconds"] for one in points})
    edge = int(_EDGE * len(seconds))
    inner = seconds[edge : len(seconds) - edge] or seconds
    values = {(one["kind"], one["seconds"]): one["value"] for one in points}
    foot, written = dict.fromkeys(inner, 0.0), []
    for kind in kinds:
        height = {at: values.get((kind, at), 0.0) for at in inner}
        most = max(inner, key=lambda at, height=height: height[at])  # type: ignore[misc]
        middle = foot[most] + height[most] / 2 if stacked else height[most]
        if not stacked or height[most] * _PANEL_HEIGHT >= _NAME_HEIGHT * top:
            letter = letter_on(colours[kind])
            written.append({"seconds": most, "value": middle, "kind": kind, "letter": letter})
        foot = {at: foot[at] + height[at] for at in inner}
    base = alt.Chart(alt.InlineData(values=written))
    mark = base.mark_text(fontSize=9, dy=0 if stacked else _NAME_HEIGHT)
    drawn: alt.Chart = mark.encode(x="seconds:Q", y="value:Q", text="kind:N")
    return drawn.encode(color=letters()) if stacked else drawn


def courses(
    panels: Mapping[str, Sequence[Moment]],
    about: Mapping[str, Panel],
    colours: Mapping[str, str],
) -> alt.ConcatChart:
    """A panel a title, three a row: what is stacked as areas, all else as lines; of a stacked panel
    `capacity` is a line above it, and one alone takes the whole row.
    """
    import altair as alt

    drawn = [_course(name, points, about[name], colours) for name, points in panels.items()]
    if len(drawn) == 1 and all(one["stacked"] for one in about.values()):
        drawn = [drawn[0].properties(width=_PANELS_A_ROW * _SMALL_WIDTH)]
    chart: alt.ConcatChart = alt.concat(*drawn, columns=_PANELS_A_ROW).properties(
        description=_read(panels, colours)
    )
    return chart


def _course(
    name: str, points: Sequence[Moment], panel: Panel, colours: Mapping[str, str]
) -> alt.LayerChart:
    import altair as alt

    ranks = {kind: rank for rank, kind in enumerate(colours)}
    below = [one for one in points if panel["stacked"] and one["kind"] != LIMIT]
    lines = [one for one in points if not panel["stacked"] or one["kind"] == LIMIT]
    dashes = alt.Scale(domain=list(colours), range=DASHES[: len(colours)])
    colour = colour_of(colours)
    if panel["stacked"]:
        # From top to bottom, as they stand on each other.
        colour = colour.legend(alt.Legend(values=[*reversed([*colours])]))
    # What is held for an interval is a step, drawn back from its end.
    ranked = [{**one, "rank": ranks[one["kind"]]} for one in below]
    areas = alt.Chart(alt.InlineData(values=ranked)).mark_area(
        interpolate="step-before", stroke=LINE, strokeWidth=0.5
    )
    steps_of = alt.Chart(alt.InlineData(values=[*lines])).mark_line(interpolate="step-before")
    height = alt.Y("value:Q", title=panel["title"], stack=False)
    drawn = steps_of.encode(
        x=alt.X("seconds:Q", title=_SECONDS),
        y=height,
        color=colour,
        **(
            {}
            if panel["stacked"]
            else {"strokeDash": alt.StrokeDash("kind:N", title=None, scale=dashes)}
        ),
    )
    layers = [drawn]
    if below:
        on_each_other = alt.Y("value:Q", title=panel["title"], stack="zero")
        order = alt.Order("rank:Q", sort="ascending")
        areas = areas.encode(
            x=alt.X("seconds:Q", title=_SECONDS),
            y=on_each_other,
            color=colour,
            order=order,
        )
        top = max(_height(below, panel), _height(lines, {**panel, "stacked": False}))
        standing = [kind for kind in colours if kind != LIMIT]
        layers = [areas, drawn, _names(below, standing, top, colours, stacked=True)]
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        title=name, width=_SMALL_WIDTH, height=_PANEL_HEIGHT
    )
    return chart
