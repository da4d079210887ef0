"""`homenode sql`."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from homenode.cli.output import JsonOption, OutOption, show, show_json


def sql(
    query: Annotated[str, typer.Argument(help="One SELECT statement.", metavar="QUERY")],
    run: Annotated[
        str | None, typer.Option("--run", "-r", help="Ask about this run only.", metavar="RUN")
    ] = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Ask kept runs anything.

    Views: partition_intervals, cpu_intervals, pool_intervals, dispatches, summary, runs; of z/VM
    virtual_machine_intervals, switch_intervals, volume_intervals.
    """
    from homenode.report.numbers import NOTHING, significant
    from homenode.report.tables import plain_table
    from homenode.simulate.kept.query import query as ask

    answer = ask(query, out, run)
    if as_json:
        show_json([{name: _plain(v) for name, v in row.items()} for row in answer.to_dicts()])
        return
    table = plain_table(*answer.columns)
    for row in answer.iter_rows():
        table.add_row(
            *(
                significant(v, 6) if isinstance(v, float) else NOTHING if v is None else str(v)
                for v in row
            )
        )
    show(table)


def _plain(value: Any) -> Any:
    """What JSON has: no number that is none, and text for dates and the like."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return value if isinstance(value, (str, int, float)) or value is None else str(value)
