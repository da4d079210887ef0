"""`homenode sql`."""

from __future__ import annotations

from typing import Annotated

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

    Views: partition_intervals, cpu_intervals, pool_intervals, dispatches, summary, runs.
    """
    from homenode.report.numbers import NOTHING, significant
    from homenode.report.runs import plain_table
    from homenode.results.query import query as ask

    answer = ask(query, out, run)
    if as_json:
        show_json(answer.to_dicts())
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
