"""Traffic of memory controllers, links and caches as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from homenode.report.tables import plain_table

if TYPE_CHECKING:
    from homenode.simulate.kept.fabric import Traffic

_NAMES = {
    "memory": "memory of domain",
    "into_chip": "link into chip",
    "out_of_chip": "link out of chip",
    "into_node": "link into node",
    "out_of_node": "link out of node",
    "cache": "shared cache",
}


def traffic_table(ports: Sequence[Traffic]) -> Table:
    """A row a port: what it carried, of what, and how long a line waited."""
    heads = ("lines through", "GB/s", "of", "used", "wait of a line")
    table = plain_table(*heads, title="What memory, links and shared caches carried")
    for one in ports:
        table.add_row(
            f"{_NAMES[one.port]} {one.place}",
            f"{one.gb_per_s:.1f}",
            f"{one.most_gb_per_s:.1f}",
            f"{one.used_pct:.0f} %",
            f"{one.wait_ns:.0f} ns",
        )
    return table
