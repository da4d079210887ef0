"""A chart of every kind, from plain points."""

from __future__ import annotations

from typing import Any

from homenode.report import charts
from homenode.report.charts import Beside, Moment, Piece, Spread, Step

COLOURS = {"one": charts.MANY[0], "two": charts.MANY[1]}


def _steps(lowest: float) -> Any:
    bars = [
        Step(label="before", start=0.0, end=5.0, top=5.0, kind="one", shown="5.0"),
        Step(label="cause", start=5.0, end=5.4, top=5.4, kind="two", shown="+0.4"),
        Step(label="after", start=0.0, end=5.4, top=5.4, kind="one", shown="5.4"),
    ]
    return charts.steps(bars, [], ("From before to after", "cores"), COLOURS, (lowest, 6.0))


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
        "curves": charts.curves(line, ("x", "y"), ("Line", "processors", "ratio"), COLOURS),
    }  # fmt: skip
    return {name: chart.to_dict() for name, chart in drawn.items()}
