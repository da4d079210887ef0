"""A scaling set as tables and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from homenode.evidence.scaling.capability import BETWEEN, PREDICTED
from homenode.evidence.scaling.causes import KINDS
from homenode.evidence.scaling.result import ScalingResult
from homenode.model.numbers import NOTHING, number
from homenode.report.charts import DARK, LOSS, QUIET, curves
from homenode.report.tables import plain_table

if TYPE_CHECKING:
    import altair as alt

_ROWS = (
    ("ETR", "etr_per_s", 1),
    ("ITR", "itr_per_s", 1),
    ("processor busy %", "busy_pct", 1),
    ("unparked", "unparked", 1),
    ("CPI", "cpi", 3),
    ("T/V", "tv_ratio", 2),
)
_MARKS = {BETWEEN: "~", PREDICTED: "*"}
_ITR, _CURVE, _LINEAR = "ITR ratio", "capability ratio", "linear"
_PUBLISHED = "published capability"
_COLOURS = {_ITR: LOSS, _CURVE: DARK, _LINEAR: QUIET}


def scaling_tables(result: ScalingResult) -> list[Table]:
    """A column a size: throughput and ratios, then what a transaction costs."""
    return [_curve_table(result), _cost_table(result)]


def _curve_table(result: ScalingResult) -> Table:
    table = plain_table(
        "processors",
        *(str(size.processors) for size in result.sizes),
        title=f"{escape(result.scenario)}: partition {escape(result.partition)} in "
        f"{len(result.sizes)} sizes",
    )
    for label, metric, digits in _ROWS:
        table.add_row(
            label, *(number(size.metric(result.partition, metric), digits) for size in result.sizes)
        )
    table.add_row("ITR ratio", *(number(size.itr_ratio) for size in result.sizes))
    table.add_row(
        "capability ratio",
        *(
            f"{number(size.capability_ratio)}{_MARKS.get(size.capability_from, '')}"
            for size in result.sizes
        ),
    )
    table.add_row(
        "of capability's gain",
        NOTHING,
        *(
            f"[bold red]{100 * step.fraction:.0f} %[/]"
            if step.bends
            else f"{100 * step.fraction:.0f} %"
            for step in result.steps
        ),
    )
    return table


def _cost_table(result: ScalingResult) -> Table:
    table = plain_table(
        "us of processor time",
        *(str(size.processors) for size in result.sizes),
        title="What a transaction costs",
    )
    for kind in KINDS:
        values = [size.costs.kinds[kind] for size in result.sizes]
        if any(values):
            table.add_row(kind, *(number(value, 1) for value in values))
    table.add_section()
    table.add_row("total", *(number(size.costs.total_us, 1) for size in result.sizes))
    for name in result.sizes[0].costs.classes:
        table.add_row(f"  {name}", *(number(size.costs.classes[name], 1) for size in result.sizes))
    table.add_section()
    table.add_row("response ms", *(number(size.costs.response_ms, 2) for size in result.sizes))
    if any(size.costs.page_wait_ms is not None for size in result.sizes):
        table.add_row(
            "page wait ms", *(number(size.costs.page_wait_ms, 2) for size in result.sizes)
        )
    for role in ("client", "server"):
        table.add_row(
            f"{role} dispatch wait us",
            *(number(size.costs.dispatch_wait_us.get(role), 2) for size in result.sizes),
        )
    return table


def scaling_picture(result: ScalingResult) -> alt.LayerChart:
    """ITR ratio over processors, the capability curve with its published points and linear scaling
    beside it, the step that bends shaded.
    """
    bend = result.bend
    step = None if bend is None else (bend.start.processors, bend.end.processors)
    beside = f"ratio to {result.sizes[0].processors} processors"
    titles = (_title(result), "logical processors", beside)
    axes = ("processors", "ratio")
    return curves(picture_points(result), axes, titles, _COLOURS, step, published_points(result))


def _title(result: ScalingResult) -> str:
    bend = result.bend
    if bend is None:
        return f"{result.scenario}: gradual roll-off"
    return (
        f"{result.scenario}: inflection from {bend.start.processors} to {bend.end.processors} "
        "processors"
    )


def published_points(result: ScalingResult) -> list[dict[str, object]]:
    """Factors that are published for the machine, from the smallest size to the largest."""
    smallest, largest = (result.sizes[at].processors for at in (0, -1))
    table = result.curve.table
    return [
        {
            "processors": count,
            "ratio": count * factor / result.curve.capability(smallest),
            "kind": _PUBLISHED,
        }
        for count, factor in (table.factors.items() if table is not None else ())
        if smallest <= count <= largest
    ]


def picture_points(result: ScalingResult) -> list[dict[str, object]]:
    """Three points a size: measured, offered, linear."""
    smallest = result.sizes[0].processors
    return [
        {"processors": size.processors, "ratio": ratio, "kind": kind}
        for size in result.sizes
        for kind, ratio in (
            (_ITR, size.itr_ratio),
            (_CURVE, size.capability_ratio),
            (_LINEAR, size.processors / smallest),
        )
    ]
