"""Every repetition of a result, and where its processor time went."""

from __future__ import annotations

from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table

from homenode.hosts.record import RunRecord
from homenode.hosts.reduce import Cell, Measured, cells_of, identities
from homenode.model.numbers import NOTHING, significant
from homenode.report.hosts.responses import milliseconds, tail_of
from homenode.report.hosts.words import percent
from homenode.report.tables import plain_table


def runs_table(result: Measured) -> Table:
    """A row a repetition in the order in which they were made, rejected ones with the reason."""
    table = plain_table(
        "order",
        "case",
        "system",
        "CPUs",
        "run",
        "result",
        "unit",
        "busy %",
        "us/unit",
        "mean ms",
        "tail ms",
        "others %",
        "steal %",
        "why it does not count",
        title="Repetitions in the order in which they were made",
    )
    for column in (1, 2, 6, 13):
        table.columns[column].justify = "left"
    for run in sorted(result.records, key=lambda one: one.order):
        table.add_row(*_run(run))
    return table


def _run(run: RunRecord) -> list[str]:
    each = identities.cpu_per_unit(run)
    return [
        str(run.order),
        escape(run.case),
        escape(run.system),
        str(run.processors),
        str(run.replicate + 1),
        significant(run.score),
        escape(run.unit),
        percent(identities.busy(run)),
        NOTHING if each is None else significant(1e6 * each),
        milliseconds(run.latency_ms.get("mean")),
        tail_of(run.latency_ms),
        percent(run.foreign),
        percent(run.steal),
        escape(run.rejected or ""),
    ]


def parts_table(result: Measured) -> Table:
    """Processor time of a unit by user and system and by who used it."""
    cells = [cell for cell in cells_of(result.records) if cell.cpu_shares]
    table = plain_table(
        "case",
        "system",
        "CPUs",
        "us/unit",
        "user %",
        "system %",
        "by whom %",
        title="Where the processor time went",
    )
    table.columns[1].justify = table.columns[6].justify = "left"
    for cell in cells:
        shares = cell.cpu_shares
        each = cell.spread_of(identities.cpu_per_unit)
        table.add_row(
            escape(cell.key.case),
            escape(cell.key.system),
            str(cell.key.processors),
            NOTHING if each is None else significant(1e6 * each.mean),
            percent(shares.get("user")),
            percent(shares.get("system")),
            _roles(cell, (name for name in shares if name not in ("user", "system"))),
        )
    return table


def _roles(cell: Cell, names: Iterable[str]) -> str:
    told = [f"{escape(name)} {percent(cell.cpu_shares[name])}" for name in names]
    return ", ".join(told) or NOTHING
