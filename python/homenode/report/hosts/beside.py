"""Measured beside simulated."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from homenode.hosts.comparison import Beside
from homenode.hosts.statistics import Spread
from homenode.model.numbers import NOTHING, signed, significant
from homenode.report.tables import plain_table


def beside_table(found: Beside) -> Table:
    """A row a figure."""
    table = plain_table(
        escape(found.measured.key.case),
        "measured",
        "95 % interval",
        "simulated",
        "unit",
        "deviation %",
        title=f"{escape(found.measured.key.system)} measured, "
        f"{escape(found.simulated.key.system)} simulated",
    )
    table.columns[4].justify = "left"
    for row in found.rows:
        table.add_row(
            row.name,
            significant(row.measured.mean),
            _interval(row.measured),
            significant(row.simulated.mean),
            row.unit,
            signed(row.deviation_pct, 1),
        )
    return table


def _interval(found: Spread) -> str:
    if found.low is None or found.high is None:
        return NOTHING
    return f"{significant(found.low)} .. {significant(found.high)}"


def beside_sentences(found: Beside) -> list[str]:
    """How much of it lies within chance."""
    known = [row for row in found.rows if row.inside is not None]
    if not known:
        return ["A single run has no interval: measure again with --repeats 4 or more."]
    inside = [row.name for row in known if row.inside]
    line = (
        f"{len(inside)} of {len(known)} figures lie in the interval of the measured runs "
        f"({len(found.measured.runs)} runs, {len(found.simulated.runs)} replications)."
    )
    return [line]
