"""An explanation as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from homenode.model.numbers import number
from homenode.report.tables import plain_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from homenode.simulate.explain.explained import Explanation
    from homenode.simulate.trials import Trial


def explanation_table(explanation: Explanation) -> Table:
    """Causes, with a total that is the sum of what is printed in each column."""
    grid = explanation.grid()
    table = plain_table(*map(escape, grid.heads), title=grid.title)
    for row in grid.rows:
        table.add_row(*map(escape, row))
    table.add_section()
    table.add_row(*map(escape, grid.total))
    return table


def trials_table(trials: Sequence[Trial]) -> Table:
    """What was tried, beside what it was held against; no figure where a backlog grew."""
    heads = ("tried", "cores", "change", "tx/s", "core-us/tx", "response ms", "ilcs/s")
    table = plain_table(*heads, title="Tried, each by itself, simulated briefly")
    now = trials[0].physc
    for one in trials:
        change = 100 * ((one.physc or 0.0) / now - 1) if now else 0.0
        saved = "" if one is trials[0] else f"{change:+.1f} %"
        table.add_row(
            one.change,
            number(one.physc, 2),
            saved,
            number(one.etr_per_s, 1),
            number(one.cpu_per_tx_us, 0),
            number(one.response_ms, 1),
            number(one.ilcs_per_s, 0),
        )
    return table
