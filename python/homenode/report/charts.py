"""The specs of all charts, from plain points: curves, bars beside each other, waterfalls, what went
on over time. What the points mean is the business of the modules that make them; a front that draws
by itself takes `to_dict` of what these functions give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import altair as alt

LOSS, GAIN, QUIET, DARK, PALE, OTHER = (
    "#c8553d", "#3f8f6b", "#8fa3b0", "#5b6770", "#c9d1d6", "#5b3f8f",
)  # fmt: skip
"""Colours that mean the same in every chart: what costs, what saves, what is only there."""
_LINE = "#2f363b"
_WIDE, _HIGH = 560, 360
_GAP = 0.15
_PANEL_WIDTH, _PANEL_HEIGHT = 380, 150
_BAR_WIDTH, _BARS_HEIGHT = 36, 240
_LYING_WIDTH = 260
_SMALL_WIDTH, _PANELS_A_ROW = 260, 3
LIMIT = "capacity"
"""The kind that is a line above what is stacked."""
_DASHES = ([1, 0], [6, 3], [2, 2])
"""Lines are told apart by their dashes too."""
_NARROWEST_PIECE = 0.05
"""Share of the longest bar below which a piece has no room for its letter."""
MANY = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#f0e442", "#7f5fb0",
    "#8c564b", "#6b8e23", "#c0c0ff", "#ff9d9a",
)  # fmt: skip
"""Colours for things of one kind, taken in turn; the first seven tell apart those who see fewer."""


def _colour(colours: Mapping[str, str], *, legend: bool = True) -> alt.Color:
    import altair as alt

    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    kinds = alt.Color("kind:N", title=None, scale=scale)
    return kinds if legend else kinds.legend(None)


def curves(
    points: Sequence[Mapping[str, object]],
    axes: tuple[str, str],
    titles: tuple[str, str, str],
    colours: Mapping[str, str],
    step: tuple[int, int] | None = None,
) -> alt.LayerChart:
    """Lines by `kind`, points on the first kind that has a colour, a step of x shaded; `titles` are
    those of the chart and of both axes.
    """
    import altair as alt

    (x, y), (title, x_title, y_title) = axes, titles
    base = alt.Chart(alt.InlineData(values=list(points))).encode(
        x=alt.X(f"{x}:Q", title=x_title, scale=alt.Scale(zero=False)),
        y=alt.Y(f"{y}:Q", title=y_title),
        color=_colour(colours),
    )
    marked = f"datum.kind == '{next(iter(colours))}'"
    layers = base.mark_line() + base.mark_point(filled=True, size=60).transform_filter(marked)
    if step is not None:
        shade = alt.Chart(alt.InlineData(values=[{"from": step[0], "to": step[1]}]))
        layers = shade.mark_rect(opacity=0.12, color=LOSS).encode(x="from:Q", x2="to:Q") + layers
    chart: alt.LayerChart = layers.properties(title=title, width=_WIDE, height=_HIGH)
    return chart


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
        color=_colour(colours, legend=False),
    )
    levels = (
        alt.Chart(alt.InlineData(values=list(links)))
        .mark_rule(color=_LINE)
        .encode(x=alt.X("label:N", sort=order), x2="next:N", y="level:Q")
    )
    labels = base.mark_text(dy=-7).encode(y="top:Q", text="shown:N")
    chart: alt.LayerChart = (levels + drawn + labels).properties(
        title=titles[0], width=640, height=320
    )
    return chart


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
    chart: alt.VConcatChart = alt.vconcat(*rows).properties(title=title)
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
    height = alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0.0, top]))
    drawn = base.mark_bar().encode(y=height, color=_colour(colours))
    spread = base.mark_rule(color=_LINE).encode(y="low:Q", y2="high:Q")
    labels = base.mark_text(dy=-7, fontSize=8).encode(y="high:Q", text="shown:N")
    chart: alt.LayerChart = (drawn + spread + labels).properties(
        title=name, width=alt.Step(_BAR_WIDTH), height=_BARS_HEIGHT
    )
    return chart


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
                .encode(color=_colour(colours))
                for name, top in most.items()
                if top
            )
        )
        for row, points in rows.items()
    ]  # fmt: skip
    chart: alt.VConcatChart = alt.vconcat(*drawn).properties(title=title)
    return chart


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
    mark = base.mark_area() if panel["stacked"] else base.mark_line()
    chart: alt.Chart = mark.encode(
        x=alt.X("seconds:Q", title="s"),
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


class Piece(TypedDict):
    """Part of a bar that lies: where, whose, how long, what stands on it."""

    place: str
    kind: str
    value: float
    at: int
    """Its order in the bar, from zero."""
    shown: str


def lying(
    panels: Mapping[str, Sequence[Piece]], title: str, colours: Mapping[str, str]
) -> alt.ConcatChart:
    """Panels two a row, in each a bar a place made of pieces; a piece says whose it is where it is
    wide enough for that, so that nothing rests on colour alone. Panels of the same places show all
    that any of them has.
    """
    import altair as alt

    first = _places(next(iter(panels.values()), ()))
    drawn = [_lying(name, pieces, colours, first) for name, pieces in panels.items() if pieces]
    chart: alt.ConcatChart = alt.concat(*drawn, columns=2).properties(title=title)
    return chart


def _places(pieces: Sequence[Piece]) -> list[str]:
    return list(dict.fromkeys(piece["place"] for piece in pieces))


def _lying(
    name: str, pieces: Sequence[Piece], colours: Mapping[str, str], first: Sequence[str]
) -> alt.LayerChart:
    import altair as alt

    ends: dict[str, float] = {}
    values = []
    for piece in sorted(pieces, key=lambda one: one["at"]):
        start = ends.get(piece["place"], 0.0)
        ends[piece["place"]] = start + piece["value"]
        middle = start + piece["value"] / 2
        values.append({**piece, "start": start, "end": ends[piece["place"]], "middle": middle})
    places = _places(pieces)
    places = [*first] if set(places) <= set(first) else places
    most = max(ends.values(), default=0.0) or 1.0
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y(
            "place:N",
            sort=places,
            title=None,
            axis=alt.Axis(labelLimit=240),
            scale=alt.Scale(domain=places),
        )
    )
    bars = base.mark_bar(stroke=_LINE, strokeWidth=0.4).encode(
        x=alt.X("start:Q", title=name, scale=alt.Scale(domain=[0.0, most])),
        x2="end:Q",
        color=_colour(colours),
    )
    wide = f"datum.value >= {_NARROWEST_PIECE * most}"
    names = base.mark_text(fontSize=9).encode(x="middle:Q", text="shown:N").transform_filter(wide)
    chart: alt.LayerChart = (bars + names).properties(width=_LYING_WIDTH, height=alt.Step(18))
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
    chart: alt.ConcatChart = alt.concat(*drawn, columns=_PANELS_A_ROW)
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
    dashes = alt.Scale(domain=list(colours), range=_DASHES[: len(colours)])
    # What is held for an interval is a step, drawn back from its end.
    areas = alt.Chart(alt.InlineData(values=below)).mark_area(interpolate="step-before")
    steps_of = alt.Chart(alt.InlineData(values=[*lines])).mark_line(interpolate="step-before")
    height = alt.Y("value:Q", title=panel["title"], stack=False)
    drawn = steps_of.encode(
        x=alt.X("seconds:Q", title="s"),
        y=height,
        color=_colour(colours),
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
            x=alt.X("seconds:Q", title="s"), y=on_each_other, color=_colour(colours), order=order
        )
        layers = [areas, drawn]
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        title=name, width=_SMALL_WIDTH, height=_PANEL_HEIGHT
    )
    return chart


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
    across = alt.X("p50:Q", title=title, scale=alt.Scale(type="log"))
    layers = [
        base.mark_rule(color=QUIET).encode(x=across, x2="max:Q"),
        base.mark_bar(color=QUIET, height=8).encode(x=across, x2="p95:Q"),
        base.mark_tick(color=_LINE, thickness=2).encode(x=across),
        base.mark_tick(color=LOSS, thickness=2).encode(x="p99:Q"),
        base.mark_text(dx=6, align="left", fontSize=9).encode(x="max:Q", text="shown:N"),
    ]
    told = "median / p95 / p99 / longest"
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        title=f"{of}: {told}" if of else told, width=2 * _SMALL_WIDTH, height=alt.Step(20)
    )
    return chart
