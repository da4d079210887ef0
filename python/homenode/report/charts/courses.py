"""What went on over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from homenode.report.charts.colours import DASHES, LINE, colour_of

if TYPE_CHECKING:
    import altair as alt

_PANEL_WIDTH, _PANEL_HEIGHT = 380, 150
_SMALL_WIDTH, _PANELS_A_ROW = 260, 3
LIMIT = "capacity"
"""The kind that is a line above what is stacked."""
_SECONDS = "time [s]"


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
        name: max((_height(points, name, one) for points in rows.values()), default=0.0)
        for name, one in panels.items()
    }
    drawn = [
        alt.hconcat(
            *(
                _over_time(row, [p for p in points if p["panel"] == name], panels[name], top)
                .encode(color=colour_of(colours))
                for name, top in most.items()
                if top
            )
        )
        for row, points in rows.items()
    ]  # fmt: skip
    chart: alt.VConcatChart = alt.vconcat(*drawn).properties(
        title=title, description=f"{title}. {_read(rows, colours)}"
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


def _height(points: Sequence[Moment], name: str, panel: Panel) -> float:
    """The highest point of a panel; what is stacked stands on each other."""
    tops: dict[float, float] = {}
    for point in points:
        if point["panel"] == name:
            there, value = tops.get(point["seconds"], 0.0), point["value"]
            tops[point["seconds"]] = there + value if panel["stacked"] else max(there, value)
    return max(tops.values(), default=0.0)


def _over_time(name: str, points: Sequence[Moment], panel: Panel, top: float) -> alt.Chart:
    import altair as alt

    base = alt.Chart(alt.InlineData(values=list(points)))
    mark = base.mark_area(stroke=LINE, strokeWidth=0.5) if panel["stacked"] else base.mark_line()
    chart: alt.Chart = mark.encode(
        x=alt.X("seconds:Q", title=_SECONDS),
        y=alt.Y(
            "value:Q",
            title=panel["title"],
            stack="zero" if panel["stacked"] else None,
            scale=alt.Scale(domain=[0.0, top]),
        ),
        # What comes first lies lowest.
        order=alt.Order("kind:N", sort="descending"),
    ).properties(title=name, width=_PANEL_WIDTH, height=_PANEL_HEIGHT)
    return chart


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
    below = [
        {**one, "rank": ranks[one["kind"]]}
        for one in points
        if panel["stacked"] and one["kind"] != LIMIT
    ]
    lines = [one for one in points if not panel["stacked"] or one["kind"] == LIMIT]
    dashes = alt.Scale(domain=list(colours), range=DASHES[: len(colours)])
    # What is held for an interval is a step, drawn back from its end.
    areas = alt.Chart(alt.InlineData(values=below)).mark_area(
        interpolate="step-before", stroke=LINE, strokeWidth=0.5
    )
    steps_of = alt.Chart(alt.InlineData(values=[*lines])).mark_line(interpolate="step-before")
    height = alt.Y("value:Q", title=panel["title"], stack=False)
    drawn = steps_of.encode(
        x=alt.X("seconds:Q", title=_SECONDS),
        y=height,
        color=colour_of(colours),
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
            color=colour_of(colours),
            order=order,
        )
        layers = [areas, drawn]
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        title=name, width=_SMALL_WIDTH, height=_PANEL_HEIGHT
    )
    return chart
