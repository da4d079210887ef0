"""Pictures: where the cores went, as a waterfall, written as SVG or PNG without a browser.

Every bar begins where the one before ended; the last, from zero, is as high as where they ended.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.errors import HomenodeError, StoreError
from homenode.model.document.read import cut
from homenode.report import charts
from homenode.report.charts import Step
from homenode.report.machine_drawing import MachineDrawing
from homenode.simulate.explain.explanation import Explanation
from homenode.simulate.kept.store import dump_json
from homenode.staging import write_whole

if TYPE_CHECKING:
    import altair as alt

SUFFIXES = (".svg", ".png", ".json")
_PNG_SCALE = 2.0
_TOTAL, _PART, _MORE, _LESS = "total", "part", "more", "less"
_COLOURS = {
    _TOTAL: charts.DARK, _PART: charts.QUIET, _MORE: charts.LOSS, _LESS: charts.GAIN,
}  # fmt: skip
_MARGIN = 0.15
_LINE = 40
"""Letters of two names that have room on one line of a title."""
_DROWNS = 1.5
"""So many times what changes is so much that a scale from zero would leave it little room."""


def waterfall(explanation: Explanation) -> alt.LayerChart:
    """From nothing, or from the base at equal work, to the partition, cause by cause."""
    bars = waterfall_steps(explanation)
    measure = explanation.measure.title
    title = f"Where the {measure} of {explanation.breakdown.partition} went"
    if explanation.base is not None:
        # Names with their runs are long: each has a line.
        first, last = (name.replace("\n", " ") for name in _names(explanation))
        between = "\n" if len(first) + len(last) > _LINE else " "
        title = f"From {first}{between}to {last}: what costs more, what less"
    return charts.steps(bars, _links(bars), (title, measure), _COLOURS, scale_of(bars))


def waterfalls(explanations: Sequence[Explanation]) -> alt.TopLevelMixin:
    """One below the other, a waterfall for each explanation."""
    import altair as alt

    drawn = [waterfall(one) for one in explanations]
    return (
        drawn[0]
        if len(drawn) == 1
        else alt.vconcat(*drawn).properties(description=charts.said(drawn))
    )


def waterfall_steps(explanation: Explanation) -> list[Step]:
    """The bars: label, where each starts and ends, kind, text; causes that print as zero are left
    out.
    """
    digits = explanation.digits
    if explanation.base is None:
        moves = [(row.label, row.value) for row in explanation.rows]
        level, steps = 0.0, []
    else:
        moves = [(row.label, row.difference or 0.0) for row in explanation.rows]
        level = explanation.equal_total or 0.0
        name = _names(explanation)[0]
        steps = [
            _step(
                f"{name}, equal work" if explanation.is_scaled else name, 0.0, level, _TOTAL, digits
            )
        ]
    for label, move in moves:
        if move:
            kind = _PART if explanation.base is None else _MORE if move > 0 else _LESS
            steps.append(_step(label, level, round(level + move, digits), kind, digits))
            level = steps[-1]["end"]
    steps.append(_step(_names(explanation)[1], 0.0, explanation.total, _TOTAL, digits))
    return steps


def _names(explanation: Explanation) -> tuple[str, str]:
    """Of the base and of the partition, with their runs where the names alone are the same."""
    mine, base = explanation.breakdown, explanation.base
    if base is None or base.partition != mine.partition:
        return "" if base is None else base.partition, mine.partition
    return f"{base.partition}\nof {base.run}", f"{mine.partition}\nof {mine.run}"


def _links(steps: list[Step]) -> list[dict[str, object]]:
    """From the end of each bar to the next one."""
    return [
        {"label": step["label"], "next": after["label"], "level": step["end"]}
        for step, after in itertools.pairwise(steps)
    ]


def _step(label: str, start: float, end: float, kind: str, digits: int) -> Step:
    sign = "+" if kind in (_MORE, _LESS) else ""
    return {
        "label": label,
        "start": start,
        "end": end,
        "top": max(start, end),
        "kind": kind,
        "shown": f"{end - start:{sign}.{digits}f}",
    }


def scale_of(steps: list[Step]) -> tuple[float, float]:
    """From zero, or from a round number below all that changes where that is little of the whole;
    with room for the numbers above the bars.
    """
    top = max(step["top"] for step in steps)
    moves = [step for step in steps if step["kind"] in (_MORE, _LESS)]
    least = min((min(step["start"], step["end"]) for step in moves), default=0.0)
    span = top - least
    if least <= _DROWNS * span:
        return 0.0, top * (1.0 + _MARGIN) or 1.0
    grain = 10.0 ** math.floor(math.log10(span or top))
    lowest = grain * math.floor((least - span * _MARGIN) / grain)
    return lowest, top + (top - lowest) * _MARGIN


def picture_path(path: str | Path) -> Path:
    """Where a picture is to be written; refused with a suffix that names no known kind, in a folder
    that is not there, or by a name that no file can have.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise HomenodeError(f"{path} is a folder", next_step="name a file in it")
    except OSError as error:
        problem = f"cannot write {cut(str(path))}: {error.strerror or error}"
        raise HomenodeError(problem, next_step="name another file") from error
    if not path.parent.is_dir():
        raise HomenodeError(f"{path}: there is no folder {path.parent}")
    if path.suffix not in SUFFIXES:
        raise HomenodeError(f"{path}: a picture ends in one of {', '.join(SUFFIXES)}")
    return path


def drawing(chart: alt.TopLevelMixin | MachineDrawing, *, dark: bool = False) -> str:
    """A chart as SVG, on a light ground or a dark one, with a role and what it says for those who
    do not see it.
    """
    return _drawn(chart, charts.DARKENED if dark else charts.LIGHT)


def page_drawing(chart: alt.TopLevelMixin | MachineDrawing, says: str | None = None) -> str:
    """The same for a page, on its ground, light or dark as its reader has it; `says` in place of
    the chart's own description.
    """
    return _drawn(chart, charts.BOTH, says)


def _drawn(
    chart: alt.TopLevelMixin | MachineDrawing, ground: charts.Ground, says: str | None = None
) -> str:
    import vl_convert

    spec = chart.to_dict()
    if isinstance(chart, MachineDrawing):
        drawn = chart.svg(ground)
    else:
        drawn = vl_convert.vegalite_to_svg(charts.inked(spec, ground))
    if ground.style:
        drawn = drawn.replace("</svg>", f"<style>{ground.style}</style></svg>")
    label = escape(says or spec["description"], quote=True)
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def save_picture(
    chart: alt.TopLevelMixin | MachineDrawing, path: str | Path, *, dark: bool = False
) -> Path:
    """Write a chart as its suffix says, for a light ground or a dark one."""
    import vl_convert

    path = picture_path(path)
    try:
        if path.suffix == ".png":
            drawn = drawing(chart, dark=dark)
            write_whole(path, vl_convert.svg_to_png(drawn, scale=_PNG_SCALE))
        elif path.suffix == ".svg":
            write_whole(path, drawing(chart, dark=dark).encode())
        else:
            write_whole(path, dump_json(chart.to_dict()).encode())
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}; free some space or name another file"
        ) from error
    return path
