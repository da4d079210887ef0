"""An explanation as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from homenode.report.tables import plain_table

if TYPE_CHECKING:
    from homenode.simulate.explain.explained import Explanation


def explanation_table(explanation: Explanation) -> Table:
    """Causes, with a total that is the sum of what is printed in each column."""
    grid = explanation.grid()
    table = plain_table(*map(escape, grid.heads), title=grid.title)
    for row in grid.rows:
        table.add_row(*map(escape, row))
    table.add_section()
    table.add_row(*map(escape, grid.total))
    return table
