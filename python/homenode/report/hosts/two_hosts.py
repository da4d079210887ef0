"""What both hosts did, for cases whose servers ran on one and whose clients on the other."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from homenode.errors import listed
from homenode.hosts.reduce.repetitions import Cell
from homenode.hosts.reduce.two_hosts import SATURATED, SIDES, HostFigures, TwoHosts, two_hosts
from homenode.model.numbers import NOTHING, significant
from homenode.report.hosts.words import counted, percent
from homenode.report.tables import plain_table

_HOW_TO_READ = (
    "Both hosts: busy and us/unit of the processes that were started there; of the whole host with "
    "interrupts, kernel threads and whoever else was there; out and in over the network device "
    "between them."
)


def two_hosts_tables(cells: Sequence[Cell]) -> list[Table]:
    """A row a case and host; none where one host did all."""
    found = two_hosts(cells)
    if not found:
        return []
    table = plain_table(
        "case",
        "side",
        "busy %",
        "us/unit",
        "host busy %",
        "host us/unit",
        "out MB/s",
        "in MB/s",
        title="Both hosts",
    )
    table.columns[1].justify = "left"
    several = len({one.processors for one in found}) > 1
    for one in found:
        name = escape(one.case)
        if several:
            name = f"{name}, {counted(one.processors, 'CPU')}"
        for side in SIDES:
            table.add_row(name if side == SIDES[0] else "", side, *_figures(one.sides[side]))
    return [table]


def _figures(host: HostFigures) -> list[str]:
    return [
        percent(host.busy),
        _shown(host.each_us),
        percent(host.host_busy),
        _shown(host.host_each_us),
        _shown(host.sent),
        _shown(host.received),
    ]


def _shown(value: float | None) -> str:
    return NOTHING if value is None else significant(value)


def two_hosts_sentences(cells: Sequence[Cell]) -> list[str]:
    """How to read the table, how well both accounts fit, and where the client was the limit."""
    found = two_hosts(cells)
    if not found:
        return []
    lines = [_HOW_TO_READ]
    apart, clock = (_largest(found, name) for name in ("apart_ms", "clock_us"))
    if apart is not None and clock is not None:
        lines.append(
            f"Their accounts cover the same time to within {significant(apart)} ms; the clocks are "
            f"known to within {significant(clock)} us of each other."
        )
    full = [one.case for one in found if one.client_is_full]
    if full:
        lines.append(
            f"The client's host was busier than {100 * SATURATED:g} %: {listed(full, 6)}. What it "
            "gave may be the client's limit and not the server's."
        )
    return lines


def _largest(found: Sequence[TwoHosts], name: str) -> float | None:
    return max((v for one in found if (v := getattr(one, name)) is not None), default=None)
