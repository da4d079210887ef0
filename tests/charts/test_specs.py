"""Charts as data: said in words, units on axes, no bar cut unmarked, nothing told by colour alone,
seen on both grounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from homenode.report import charts
from homenode.report.charts import Beside, Hot, Moment, Move, Piece, Placed, Spread, Step
from homenode.report.charts.colours import DARK_GROUND, GROUND, LETTER, LIGHT_INK, LINE
from homenode.report.charts.heat import DARK_FROM
from homenode.report.charts.waterfall import CUT
from homenode.report.pictures import scale_of

COLOURS = {"one": charts.LINES[0], "two": charts.LINES[1]}


def _steps(lowest: float) -> Any:
    bars = [
        Step(label="a\nof before", start=0.0, end=5.0, top=5.0, kind="one", shown="5.0"),
        Step(label="cause", start=5.0, end=5.4, top=5.4, kind="two", shown="+0.4"),
        Step(label="after", start=0.0, end=5.4, top=5.4, kind="one", shown="5.4"),
    ]
    return charts.steps(bars, [], ("From before\nto after", "cores"), COLOURS, (lowest, 6.0))


def specs() -> dict[str, dict[str, Any]]:
    """Each as the data that browsers, files and notebooks are given."""
    moments = [
        Moment(seconds=second, panel="all", kind=kind, value=1.0 + at)
        for second in (1.0, 2.0)
        for at, kind in enumerate(COLOURS)
    ]
    about = charts.Panel(title="cores", stacked=True)
    bars = [
        Beside(label="a", kind=kind, value=1.0, low=0.9, high=1.1, shown="1") for kind in COLOURS
    ]
    pieces = [
        Piece(place="0.0", kind=kind, value=4.0, at=at, shown=kind)
        for at, kind in enumerate(COLOURS)
    ]
    spread = Spread(label="a", shown="1 / 2 / 3 / 4", p50=1.0, p95=2.0, p99=3.0, max=4.0)
    cells = [Hot(across=x, up="1", value=float(x), shown=x) for x in ("2", "4", "8")]
    placed = Placed(label="a physc", kind=charts.OUTSIDE, at=-7.0, shown="1 / 2")
    move = Move(label="db home", before="book0", after="book1")
    slices = [
        charts.Slice(place="0", kind=kind, start=10.0 + at, end=11.0 + at, distance=far, shown="A0")
        for at, (kind, far) in enumerate(zip(COLOURS, charts.HEIGHTS, strict=False))
    ]
    interval = charts.Interval(
        label="a", kind="one", value=1.0, low=-1.0, high=3.0, noise=2.0, shown="+1"
    )
    under = [charts.Loaded(load=at, value=at, low=at, high=2 * at) for at in (1.0, 8.0)]
    dots = [{"x": 2, "y": 1.5, "kind": "published"}]
    line = [{"x": x, "y": float(x), "kind": kind} for kind in COLOURS for x in (1, 2)]
    drawn = {
        "waterfall": _steps(0.0),
        "waterfall cut": _steps(4.5),
        "beside": charts.beside({"ratio, a = 1": bars}, "Published", COLOURS),
        "courses": charts.courses({"all": moments}, {"all": about}, COLOURS),
        "lines": charts.courses({"all": moments}, {"all": {**about, "stacked": False}}, COLOURS),
        "over time": charts.over_time({"a": moments}, {"all": about}, "Cores", COLOURS),
        "lying": charts.lying({"cores": pieces}, "Map", COLOURS),
        "spreads": charts.spreads([spread], "response [ms]"),
        "heat": charts.heat({"db: physc [cores]": cells}, ("virtual", "SMT"), "Sweep"),
        "against": charts.against(
            [charts.Against(label="a", value=90.0, other=40.0, shown="9/10")], "Rows", "[%]", 100.0
        ),
        "bands": charts.bands([placed], "Published"),
        "slices": charts.slices(slices, ["0", "1"], "Dispatches", COLOURS, "a 1 ms"),
        "moves": charts.moves([move], "Moves"),
        "intervals": charts.intervals([interval], ("b against a", "deviation [%]"), COLOURS),
        "loads": charts.loads({"a": {"result [1/s]": under}}, "Loads", "load [clients]"),
        "curves": charts.curves(
            line, ("x", "y"), ("Line", "processors", "ratio"), COLOURS, dots=dots
        ),
    }  # fmt: skip
    return {name: chart.to_dict() for name, chart in drawn.items()}


DRAWN = specs()
CHROMIUM = Path("/usr/bin/chromium")
POLICY = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:"
"""No evaluated text, no scripts from elsewhere; Vega sets styles of single elements itself."""
PLACE = "http://charts.test/"
DRAW = """
window.drawn = Promise.all(window.specs.map((spec) => {
  const place = document.body.appendChild(document.createElement("div"));
  const how = {ast: true, actions: false, defaultStyle: false, renderer: "svg"};
  return vegaEmbed(place, spec, how);
})).then((all) => all.length);
"""
LEAST = 3.0
AS_LINES = (
    charts.LOSS, charts.GAIN, charts.QUIET, charts.DARK, charts.OTHER, *charts.LINES,
)  # fmt: skip
FILLED = {"bar", "area", "rect"}


def views(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every mark of a chart."""
    if "mark" in spec:
        yield spec
    for key in ("layer", "concat", "vconcat", "hconcat"):
        for inner in spec.get(key, ()):
            yield from views(inner)


def contrast(one: str, other: str) -> float:
    """As the guidelines for pages define it."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted((light(one), light(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("name", DRAWN)
def test_says_what_it_shows(name: str) -> None:
    assert len(DRAWN[name]["description"]) > len("a chart")


@pytest.mark.parametrize("name", DRAWN)
def test_every_axis_of_amounts_has_a_title(name: str) -> None:
    for view in views(DRAWN[name]):
        for side in ("x", "y"):
            axis = view["encoding"].get(side, {})
            if axis.get("type") == "quantitative" and "title" in axis:
                assert axis["title"]
    titles = [
        view["encoding"][side].get("title")
        for view in views(DRAWN[name])
        for side in ("x", "y")
        if view["encoding"].get(side, {}).get("type") == "quantitative"
    ]
    assert any(titles) or not titles


@pytest.mark.parametrize("name", DRAWN)
def test_bars_stand_on_zero_or_are_marked_as_cut(name: str) -> None:
    for view in views(DRAWN[name]):
        up = view["encoding"].get("y", {})
        amount = view["mark"]["type"] == "bar" and up.get("type") == "quantitative"
        if amount and up.get("scale", {}).get("domain", [0])[0]:
            marks = [one["mark"].get("text") for one in views(DRAWN[name])]
            assert CUT in marks
            assert "from 4.5" in view["encoding"]["y"]["title"]
    scales = [one["encoding"]["y"]["scale"] for one in views(DRAWN["waterfall cut"])]
    assert all(one == scales[0] and one["domain"][0] == 4.5 for one in scales)
    assert CUT in json.dumps(DRAWN["waterfall cut"], ensure_ascii=False)
    assert CUT not in json.dumps(DRAWN["waterfall"], ensure_ascii=False)


@pytest.mark.parametrize(("total", "starts"), [(10.0, True), (0.5, False)])
def test_differences_do_not_drown_in_the_total(total: float, starts: bool) -> None:
    def step(label: str, start: float, end: float, kind: str) -> charts.Step:
        top = max(start, end)
        return {
            "label": label, "start": start, "end": end, "top": top, "kind": kind, "shown": "",
        }  # fmt: skip

    after = total + 0.7
    lowest, highest = scale_of(
        [
            step("before", 0.0, total, "total"),
            step("dearer", total, after, "more"),
            step("after", 0.0, after, "total"),
        ]
    )
    assert (lowest > 0.0) is starts
    assert lowest < total < after < highest
    assert 0.7 / (highest - lowest) > 0.3


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_filled_has_an_outline(name: str) -> None:
    for view in views(DRAWN[name]):
        if view["mark"]["type"] in FILLED and view["mark"].get("opacity") is None:
            assert view["mark"].get("stroke") == LINE
        if view["mark"]["type"] == "line":
            assert set(view["encoding"]["color"]["scale"]["range"]) <= set(AS_LINES)


@pytest.mark.parametrize("ground", [GROUND, DARK_GROUND])
def test_marks_are_seen_on_both_grounds(ground: str) -> None:
    assert contrast(LINE, ground) >= LEAST
    for colour in AS_LINES:
        assert contrast(colour, ground) >= LEAST
    for colour in (*charts.MANY, charts.PALE, charts.QUIET, charts.DARK, charts.LOSS, charts.GAIN):
        assert contrast(colour, charts.letter_on(colour)) >= 4.5, f"letters on {colour}"
    assert contrast(LIGHT_INK, DARK_GROUND) >= 2 * LEAST


def test_those_beside_each_other_are_told_apart_by_more_than_colour() -> None:
    for view in views(DRAWN["lines"]):
        assert view["encoding"]["strokeDash"]["scale"]["range"][0] != [6, 3]
    dashes = next(views(DRAWN["curves"]))["encoding"]["strokeDash"]["scale"]["range"]
    assert len({str(one) for one in dashes}) == len(dashes)
    for name in ("lying", "heat", "beside", "waterfall", "over time", "courses"):
        assert any(view["mark"]["type"] == "text" for view in views(DRAWN[name]))
    points = next(one for one in views(DRAWN["bands"]) if "shape" in one["encoding"])
    assert len(set(points["encoding"]["shape"]["scale"]["range"])) == 3


def test_lines_of_a_panel_are_dashed_and_named() -> None:
    about = charts.Panel(title="1/s", stacked=False)
    moments = [
        Moment(seconds=second, panel="all", kind=kind, value=1.0)
        for second in (1.0, 2.0)
        for kind in COLOURS
    ]
    drawn = charts.over_time({"a": moments}, {"all": about}, "Rates", COLOURS).to_dict()
    line = next(one for one in views(drawn) if one["mark"]["type"] == "line")
    dashes = line["encoding"]["strokeDash"]["scale"]
    assert dashes["domain"] == [*COLOURS]
    assert dashes["range"][0] != dashes["range"][1]
    assert _written(drawn) == {*COLOURS}


def test_an_area_is_named_where_there_is_room_and_the_legend_stands_as_they_do() -> None:
    heights = {"one": 90.0, "two": 9.0, "thin": 1.0}
    colours = dict(zip(heights, charts.MANY, strict=False))
    moments = [
        Moment(seconds=second, panel="", kind=kind, value=value)
        for second in (1.0, 2.0)
        for kind, value in heights.items()
    ]
    about = charts.Panel(title="cores", stacked=True)
    drawn = charts.courses({"all": moments}, {"all": about}, colours).to_dict()
    assert _written(drawn) == {"one", "two"}
    area = next(one for one in views(drawn) if one["mark"]["type"] == "area")
    assert area["encoding"]["color"]["legend"]["values"] == ["thin", "two", "one"]


def _written(drawn: dict[str, Any]) -> set[str]:
    """Kinds whose names stand in a chart."""
    names = next(one for one in views(drawn) if one["mark"]["type"] == "text")["data"]["name"]
    return {row["kind"] for row in drawn["datasets"][names]}


LONG = "Sweep of partition.shop.processors.virtual and partition.shop.guest.throughput_mode"


@pytest.mark.parametrize("panels", [1, 2])
def test_a_title_is_no_wider_than_what_it_stands_above(panels: int) -> None:
    """A picture is as wide as its panels, and cuts off what is wider."""
    cells = [Hot(across=x, up=y, value=1.0, shown=x) for x in ("2", "4") for y in ("0", "2")]
    maps = {f"{at}": cells for at in range(panels)}
    point = charts.Loaded(load=1.0, value=1.0, low=1.0, high=1.0)
    curves = {"a": {f"{at}": [point] for at in range(panels)}}
    drawn = (
        (charts.heat(maps, ("virtual", "throughput_mode"), LONG), 52 * 2 + 52),
        (charts.loads(curves, f"{LONG} {LONG}", "load"), 300),
    )
    for chart, wide in drawn:
        title = chart.to_dict()["title"]
        assert set("".join(title).replace(" ", "").split("Sweep")[1:]) == {
            LONG.removeprefix("Sweep").replace(" ", "")
        }
        assert 8 * max(map(len, title)) <= wide * panels


def test_beside_few_rows_of_heat_there_is_room_for_their_name() -> None:
    high = {
        rows: charts.heat(
            {"a": [Hot(across="1", up=f"{at}", value=1.0, shown="1") for at in range(rows)]},
            ("virtual", "throughput_mode"),
            "Sweep",
        ).to_dict()["concat"][0]["height"]["step"]
        for rows in (1, 2, 3, 9)
    }
    assert high[1] == high[2] > high[3] > high[9]
    assert 2 * high[2] >= 7 * len("throughput_mode") - 2
    assert 9 * high[9] >= 7 * len("throughput_mode")


def test_letters_that_are_higher_than_their_slice_stand_above_it_as_on_the_ground() -> None:
    by_distance = dict(zip(charts.HEIGHTS, [*views(DRAWN["slices"])][1::2], strict=True))
    assert [one["mark"].get("baseline") for one in by_distance.values()] == [None, None, "bottom"]
    assert ["color" in one["encoding"] for one in by_distance.values()] == [True, True, False]


def test_numbers_are_read_on_every_colour_of_a_map_of_heat() -> None:
    """The scheme `blues` between its stops."""
    stops = [
        "cfe1f2",
        "bed8ec",
        "a8cee5",
        "8fc1de",
        "74b2d7",
        "5ba3cf",
        "4592c6",
        "3181bd",
        "206fb2",
        "125ca4",
        "0a4a90",
    ]
    for at in range(101):
        place, part = divmod(at / 100 * (len(stops) - 1), 1)
        ends = stops[int(place)], stops[min(int(place) + 1, len(stops) - 1)]
        mixed = [
            round((1 - part) * int(ends[0][i : i + 2], 16) + part * int(ends[1][i : i + 2], 16))
            for i in (0, 2, 4)
        ]
        colour = f"#{bytes(mixed).hex()}"
        number = GROUND if at / 100 > DARK_FROM else LETTER
        assert contrast(number, colour) >= 4.5, (at, colour)


def test_a_long_title_has_lines_and_is_said_in_one() -> None:
    assert DRAWN["waterfall"]["title"] == ["From before", "to after"]
    assert DRAWN["waterfall"]["description"].startswith("From before to after, cores")


def test_no_title_is_longer_than_a_chart() -> None:
    title = " ".join(["Capability of partitions from their factors"] * 4)
    drawn = charts.bands([Placed(label="a", kind=charts.WITHIN, at=0.0, shown="1")], title)
    lines = drawn.to_dict()["title"]
    assert " ".join(lines) == title
    assert max(map(len, lines)) <= 72
    assert title in drawn.to_dict()["description"]


def test_published_points_are_of_a_form_of_their_own() -> None:
    dots = [one for one in views(DRAWN["curves"]) if "shape" in one["encoding"]]
    assert [one["encoding"]["shape"]["scale"]["range"] for one in dots] == [["diamond"]]
    assert "published" in DRAWN["curves"]["description"]


@pytest.mark.parametrize("ground", [charts.LIGHT, charts.DARKENED, charts.BOTH])
def test_the_ground_changes_what_is_written_on_it_and_no_mark(ground: charts.Ground) -> None:
    drawn = charts.inked(DRAWN["waterfall"], ground)
    assert drawn["background"] == ground.back
    assert drawn["layer"] == DRAWN["waterfall"]["layer"]
    assert drawn["config"]["axis"]["labelColor"] == drawn["config"]["text"]["color"] == ground.ink
    assert contrast(ground.ink, ground.back or GROUND) >= 2 * LEAST


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_switched_to_dark_is_no_marks_colour(name: str) -> None:
    """Else a mark, or a letter on one, would change with the ground."""
    told = json.dumps(DRAWN[name])
    assert charts.LIGHT.ink not in told
    assert charts.LIGHT.grid not in told
    assert charts.BOTH.style.count(charts.LIGHT.ink) == 1
    assert charts.DARKENED.ink in charts.BOTH.style


def test_in_grey_neighbours_are_told_apart_by_letters() -> None:
    """As on a printer without colours: every wide piece of a bar says whose it is."""
    pieces = next(one for one in views(DRAWN["lying"]) if one["mark"]["type"] == "text")
    assert pieces["encoding"]["text"]["field"] == "shown"


@pytest.mark.slow("starts a browser")
def test_every_chart_is_drawn_under_a_strict_policy() -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}: install Debian's chromium")
    scripts = {
        "bundle.js": vl_convert.javascript_bundle(),
        "specs.js": f"window.specs = {json.dumps([*DRAWN.values()])};",
        "draw.js": DRAW,
    }
    tags = "".join(f'<script type="module" src="{name}"></script>' for name in scripts)
    pages = {"": f'<!DOCTYPE html><meta charset="utf-8"><title>charts</title><body>{tags}'}
    problems: list[str] = []
    with sync_api.sync_playwright() as playing:
        browser = playing.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.on(
            "console", lambda told: problems.append(told.text) if told.type == "error" else None
        )
        page.on("pageerror", lambda error: problems.append(str(error)))

        def answer(route: sync_api.Route) -> None:
            name = route.request.url.removeprefix(PLACE)
            kind = "text/javascript" if name in scripts else "text/html"
            body = scripts.get(name, pages.get(name))
            headers = {"Content-Security-Policy": POLICY, "Content-Type": kind}
            route.fulfill(status=404 if body is None else 200, body=body or "", headers=headers)

        page.route("**/*", answer)
        page.goto(PLACE)
        page.wait_for_function("window.drawn !== undefined")
        assert page.evaluate("window.drawn") == len(DRAWN)
        assert page.locator("svg").count() == len(DRAWN)
        browser.close()
    assert [one for one in problems if "favicon" not in one] == []
