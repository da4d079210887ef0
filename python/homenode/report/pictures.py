"""Pictures: where the cores went, as a waterfall, written as SVG or PNG without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode.errors import HomenodeError, StoreError
from homenode.results.explain import Explanation
from homenode.runner.store import dump_json, write_whole

if TYPE_CHECKING:
    import altair as alt

SUFFIXES = (".svg", ".png", ".json")
_PNG_SCALE = 2.0
_TOTAL, _MORE, _LESS = "total", "more", "less"
_COLOURS = {_TOTAL: "#5b6770", _MORE: "#c8553d", _LESS: "#3f8f6b"}
_MARGIN = 0.15


def waterfall(explanation: Explanation) -> alt.Chart | alt.LayerChart:
    """From nothing, or from the base's cores, to the partition's cores, cause by cause."""
    import altair as alt

    steps = waterfall_steps(explanation)
    order = [step["label"] for step in steps]
    title = f"Where the cores of {explanation.breakdown.partition} went"
    if explanation.base is not None:
        names = f"{explanation.base.partition} to {explanation.breakdown.partition}"
        title = f"From {names}: what costs more, what less"
    base = alt.Chart(alt.InlineData(values=steps)).encode(
        x=alt.X("label:N", sort=order, title=None, axis=alt.Axis(labelAngle=-35))
    )
    bars = base.mark_bar().encode(
        y=alt.Y("low:Q", title="cores", scale=alt.Scale(domain=_domain(steps))),
        y2="high:Q",
        color=alt.Color(
            "kind:N",
            legend=None,
            scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())),
        ),
    )
    labels = base.mark_text(dy=-7).encode(y="high:Q", text="shown:N")
    chart: alt.LayerChart = (bars + labels).properties(title=title, width=640, height=320)
    return chart


def waterfall_steps(explanation: Explanation) -> list[dict[str, Any]]:
    """The bars: label, lower and upper edge [cores], kind, text; causes that print as zero are left
    out.
    """
    if explanation.base is None:
        moves = [(row.label, row.cores) for row in explanation.rows]
        level, steps = 0.0, []
        last = explanation.breakdown.partition
    else:
        moves = [(row.label, row.difference or 0.0) for row in explanation.rows]
        level = explanation.base_total or 0.0
        steps = [_step(explanation.base.partition, 0.0, level, _TOTAL, f"{level:.2f}")]
        last = explanation.breakdown.partition
    for label, move in moves:
        if move:
            sign = "" if explanation.base is None else "+" if move > 0 else "-"
            kind = _TOTAL if explanation.base is None else _MORE if move > 0 else _LESS
            low, high = sorted((level, level + move))
            steps.append(_step(label, low, high, kind, f"{sign}{abs(move):.2f}"))
            level += move
    names = {step["label"] for step in steps}
    steps.append(
        _step(
            last if last not in names else f"{last} now",
            0.0,
            explanation.total,
            _TOTAL,
            f"{explanation.total:.2f}",
        )
    )
    return steps


def _step(label: str, low: float, high: float, kind: str, shown: str) -> dict[str, Any]:
    return {
        "label": label,
        "low": round(low, 4),
        "high": round(high, 4),
        "kind": kind,
        "shown": shown,
    }


def _domain(steps: list[dict[str, Any]]) -> list[float]:
    """From zero: bars that stand for amounts must not be cut."""
    return [0.0, max(step["high"] for step in steps) * (1.0 + _MARGIN) or 1.0]


def save_picture(chart: alt.Chart | alt.LayerChart, path: str | Path) -> Path:
    """Write a chart as its suffix says."""
    import vl_convert

    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise HomenodeError(f"{path}: a picture ends in one of {', '.join(SUFFIXES)}")
    spec = chart.to_dict()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".png":
            write_whole(path, vl_convert.vegalite_to_png(spec, scale=_PNG_SCALE))
        elif path.suffix == ".svg":
            write_whole(path, vl_convert.vegalite_to_svg(spec).encode())
        else:
            write_whole(path, dump_json(spec).encode())
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}; free some space or name another file"
        ) from error
    return path
