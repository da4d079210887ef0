"""A sweep as a picture: a line of one axis, a map of heat of two; of each metric a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.errors import HomenodeError
from homenode.model.numbers import significant
from homenode.report import charts
from homenode.report.charts import Hot
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.kept.points import short_names

if TYPE_CHECKING:
    import altair as alt

    from homenode.simulate.kept.points import Comparison

_MOST_AXES = 2
_DIGITS = 3
MOST_POINTS = 2_000
"""As many numbers as anybody reads."""


def points_picture(told: Comparison) -> alt.TopLevelMixin:
    """Raises `HomenodeError` where there are other than one or two axes, or no numbers."""
    check_sweep(told.axes, len(told.rows))
    return _lines(told) if len(told.axes) == 1 else _heat(told)


def check_sweep(axes: tuple[str, ...], points: int) -> None:
    """Refuse what cannot be drawn."""
    if points > MOST_POINTS:
        raise HomenodeError(
            f"a picture of a sweep has at most {MOST_POINTS} points, this one {points:,}",
            next_step="sweep fewer at once, or read the table",
        )
    if not 1 <= len(axes) <= _MOST_AXES:
        raise HomenodeError(
            f"a picture of a sweep has one axis or two, this one has {len(axes)}",
            next_step="leave --picture out and read the table, or sweep fewer at once",
        )


def _heat(told: Comparison) -> alt.ConcatChart:
    panels: dict[str, list[Hot]] = {}
    across, up = told.axes
    for row in told.rows:
        for metric in told.metrics:
            mean = row.cells[metric].estimate.mean
            if mean is not None:
                panels.setdefault(f"{row.partition}: {_named(metric)}", []).append(
                    Hot(
                        across=str(row.axes[across]),
                        up=str(row.axes[up]),
                        value=mean,
                        shown=significant(mean, _DIGITS),
                    )
                )
    names = short_names(told.axes)
    return charts.heat(panels, (names[across], names[up]), _title(told))


def _lines(told: Comparison) -> alt.TopLevelMixin:
    import altair as alt

    (axis,) = told.axes
    names = dict.fromkeys(row.partition for row in told.rows)
    colours = dict(zip(names, charts.LINES, strict=False))
    if len(names) > len(colours):
        raise HomenodeError(
            f"{len(names)} partitions are too many lines",
            next_step=f"draw at most {len(charts.LINES)}, or read the table",
        )
    drawn = []
    for metric in told.metrics:
        points = [
            {"at": row.axes[axis], "value": mean, "kind": row.partition}
            for row in told.rows
            if (mean := row.cells[metric].estimate.mean) is not None
        ]
        titles = (metric, short_names(told.axes)[axis], _named(metric))
        drawn.append(charts.curves(points, ("at", "value"), titles, colours))
    whole = alt.vconcat(*drawn)
    chart: alt.VConcatChart = whole.properties(
        title=_title(told), description=f"{_title(told)}. {charts.said(drawn)}"
    )
    return chart


def _named(metric: str) -> str:
    """With its unit."""
    return f"{metric} [{METRICS[metric].unit}]"


def _title(told: Comparison) -> str:
    return f"Sweep of {' and '.join(told.axes)}"
