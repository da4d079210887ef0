"""A run over time as text: a row a partition whose intervals stand side by side as little bars, and
the distributions of responses and of waits for a core.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from rich.markup import escape

from homenode.model.estimate import mean_of
from homenode.model.numbers import NOTHING
from homenode.report.tables import plain_table
from homenode.simulate.kept.course import QUANTILES

if TYPE_CHECKING:
    from rich.table import Table

    from homenode.simulate.kept.course import Course

Spread = Literal["spread_ms", "wait_us"]
SPREADS: dict[Spread, str] = {"spread_ms": "response [ms]", "wait_us": "dispatch wait [us]"}
"""Distributions of a partition and what they are called."""
_BARS = " ▁▂▃▄▅▆▇█"
_FIXED = 38
"""Columns that the figures of a row take beside its name and its bars."""
_FEWEST, _MOST = 10, 60


def course_tables(told: Course, width: int) -> list[Table]:
    """Cores over time, then responses and waits if there are any."""
    spreads = [_spread_table(told, of) for of in SPREADS]
    return [_used_table(told, width), *(one for one in spreads if one.rows)]


def _used_table(told: Course, width: int) -> Table:
    seconds = told["seconds"][-1] if told["seconds"] else 0.0
    title = f"{told['unit'].capitalize()} used, replication {told['replication']}"
    table = plain_table("", "mean", "least", "most", "entitled", title=title)
    table.add_column(f"over {seconds:g} s")
    names = ["all", *(one["partition"] for one in told["partitions"])]
    count = min(max(width - _FIXED - max(map(len, names)), _FEWEST), _MOST)
    used = [one["used"] for one in told["partitions"]]
    every = [sum(values) for values in zip(*used, strict=True)]
    table.add_row(*_row("all", every, None, told["capacity"], count))
    for one in told["partitions"]:
        entitled = mean_of(one["entitled"]) if one["entitled"] else 0.0
        table.add_row(*_row(one["partition"], one["used"], entitled, entitled, count))
    return table


def _row(
    name: str, used: Sequence[float], entitled: float | None, full: float, count: int
) -> list[str]:
    if not used:
        return [escape(name), *[NOTHING] * 4, ""]
    figures = (mean_of(used), min(used), max(used))
    told = f"of {full:g}" if entitled is None else f"{entitled:.2f}"
    return [escape(name), *(f"{one:.2f}" for one in figures), told, bars(used, full, count)]


def bars(values: Sequence[float], full: float, count: int) -> str:
    """At most so many bars, each the mean of its part of the values; a full one is as high as the
    largest value or as `full`.
    """
    count = min(count, len(values))
    edges = [round(at * len(values) / count) for at in range(count + 1)]
    parts = [mean_of(values[begin:end]) for begin, end in itertools.pairwise(edges)]
    top = max(full, *parts) or 1.0
    return "".join(_BARS[round(part / top * (len(_BARS) - 1))] for part in parts)


def _spread_table(told: Course, of: Spread) -> Table:
    heads = ("median", "p95", "p99", "longest")
    title = f"{SPREADS[of].capitalize()}, mean over the replications"
    table = plain_table("", *heads, title=title)
    for one in told["partitions"]:
        spread = one[of]
        if spread:
            lasts = one["steady"] or of != "spread_ms"
            name = one["partition"] + ("" if lasts else " (no steady state)")
            table.add_row(escape(name), *(f"{spread[at]:,.2f}" for at in QUANTILES))
    return table
