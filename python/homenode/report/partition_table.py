"""Partitions by their capability: the two tables, plain data, and the curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from homenode.evidence.capability import CapabilityTable, Factor, Prediction, Size, Split
from homenode.evidence.capability.partitions import counted
from homenode.model.numbers import number, signed
from homenode.report.charts import LOSS, QUIET, curves
from homenode.report.tables import plain_table

if TYPE_CHECKING:
    import altair as alt

_MARK, _BEYOND = "~", "+"
_CURVE, _LINEAR = "n x c(n)", "linear"
_CAUSES = {
    "core and stores": ("useful", "store", "smt", "tick", "hypervisor", "spin"),
    "caches of the core and chip": ("l2", "l3"),
    "cache of the node": ("l4",),
    "other caches, same chip": ("cache_chip",),
    "other caches, same node": ("cache_near",),
    "other caches, other nodes": ("cache_far",),
    "memory of the node": ("memory_local", "memory_near", "translation"),
    "memory of other nodes": ("memory_far",),
}
_VENDORS = "the vendor's reference workloads reach"
_SHOWN_NS = 0.0005
_COLOURS = {_CURVE: LOSS, _LINEAR: QUIET}


def size_table(table: CapabilityTable, sizes: Sequence[Size]) -> Table:
    """A column a size: factor, capability, capability by that of the smallest."""
    shown = plain_table(
        "processors",
        *(str(size.factor.processors) for size in sizes),
        title=f"{table.name}: capability of a partition by its processors",
    )
    shown.add_row("CAF value c(n)", *(_factor(table, size.factor) for size in sizes))
    shown.add_row("capability n x c(n)", *(number(size.factor.capability) for size in sizes))
    shown.add_row("capability ratio", *(number(size.ratio) for size in sizes))
    return shown


def split_table(table: CapabilityTable, splits: Sequence[Split]) -> Table:
    """A row a way to divide the processors: capability of the parts together, and what that is
    more than of the fewest parts.
    """
    total = splits[0].parts * splits[0].factor.processors
    shown = plain_table(
        "processors per partition",
        "CAF value",
        "partitions",
        "total capability",
        "advantage",
        title=f"{table.name}: {counted(total)} as one partition or several",
    )
    for split in splits:
        n, value = split.factor.processors, _factor(table, split.factor)
        shown.add_row(
            str(n),
            value,
            str(split.parts),
            f"({split.parts} x {n} x {value}) = {number(split.capability)}",
            signed(split.advantage_pct, 1, " %"),
        )
    return shown


def cause_table(prediction: Prediction, sizes: Sequence[Size]) -> Table:
    """Where the time of an instruction goes, a column a size [ns]."""
    points = [prediction.point(size.factor.processors) for size in sizes]
    shown = plain_table(
        "ns of an instruction",
        *(str(point.processors) for point in points),
        title="Where the time goes",
    )
    for cause, books in _CAUSES.items():
        times = [math.fsum(point.books.get(book, 0.0) for book in books) for point in points]
        if any(time >= _SHOWN_NS for time in times):
            shown.add_row(cause, *(number(time, 3) for time in times))
    shown.add_row("together", *(number(point.ns, 3) for point in points))
    return shown


def capability_lines(table: CapabilityTable, factors: Sequence[Factor]) -> list[str]:
    """Where the factors are from and what they are not."""
    whose = "this profile is predicted to reach" if table.predicted else _VENDORS
    lines = [
        f"{table.title}. Source: {table.source}.",
        f"A factor is what {whose}; other work scales differently.",
    ]
    if any(factor.interpolated for factor in factors):
        lines.append(f"{_MARK} on the line between the table's neighbours, not in the table.")
    if not table.predicted and any(factor.predicted for factor in factors):
        lines.append(
            f"{_BEYOND} beyond the table: its last factor times what the machine's description "
            "loses from there."
        )
    return lines


def other_sides(splits: Sequence[Split]) -> list[str]:
    """What beside capability speaks for many partitions or few; nothing where one number of them is
    asked for.
    """
    if len(splits) < 2:
        return []
    few, many = splits[0].parts, splits[-1].parts
    gone = [f"{number(one.capability / one.parts)} of {number(one.capability)}" for one in splits]
    which = "the only one" if few == 1 else f"one of {few}"
    return [
        f"When one of {many} partitions fails, {gone[-1]} is gone; when {which} does, {gone[0]}.",
        "Fewer partitions are less to administer.",
    ]


def capability_json(
    table: CapabilityTable, sizes: Sequence[Size], splits: Sequence[Split]
) -> dict[str, object]:
    """Both tables as plain data."""
    return {
        "table": table.name,
        "title": table.title,
        "source": table.source,
        "sizes": [{**_plain(size.factor), "ratio": size.ratio} for size in sizes],
        "splits": [
            {
                **_plain(split.factor),
                "partitions": split.parts,
                "total_capability": split.capability,
                "advantage_pct": split.advantage_pct,
            }
            for split in splits
        ],
    }


def capability_curve(table: CapabilityTable) -> alt.LayerChart:
    """Capability of a partition over its processors, with linear scaling beside it."""
    titles = (
        f"Effective capability of a partition: {table.title}",
        "processors of the partition",
        "capability [processors that are alone]",
    )
    return curves(curve_points(table), ("processors", "capability"), titles, _COLOURS)


def curve_points(table: CapabilityTable) -> list[dict[str, object]]:
    """Every point of the table, then both ends of the straight line."""
    curve = [(n, n * value, _CURVE) for n, value in table.factors.items()]
    linear = [(1, 1.0, _LINEAR), (table.largest, float(table.largest), _LINEAR)]
    return [{"processors": n, "capability": c, "kind": kind} for n, c, kind in curve + linear]


def _plain(factor: Factor) -> dict[str, object]:
    return {
        "processors": factor.processors,
        "caf": factor.value,
        "capability": factor.capability,
        "interpolated": factor.interpolated,
        "predicted": factor.predicted,
    }


def _factor(table: CapabilityTable, factor: Factor) -> str:
    beyond = factor.predicted and not table.predicted
    mark = _BEYOND if beyond else _MARK if factor.interpolated else ""
    return f"{number(factor.value, table.decimals)}{mark}"
