"""`homenode sql`."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from homenode.cli import complete
from homenode.cli.output import JsonOption, OutOption, show, show_json
from homenode.errors import HomenodeError
from homenode.model.units import SIZE, TIME, Kind, UnitError
from homenode.simulate.kept.query import MEMORY_LIMIT, TIME_LIMIT_NS


def sql(
    query: Annotated[str, typer.Argument(help="One SELECT statement.", metavar="QUERY")],
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            "-r",
            help="Ask about this run only.",
            metavar="RUN",
            autocompletion=complete.runs,
        ),
    ] = None,
    time_limit: Annotated[
        str, typer.Option("--time-limit", help="Time it may take.", metavar="TIME")
    ] = TIME.format(TIME_LIMIT_NS),
    memory_limit: Annotated[
        str, typer.Option("--memory-limit", help="Memory it may take.", metavar="SIZE")
    ] = SIZE.format(MEMORY_LIMIT),
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Ask kept runs anything.

    Views: partition_intervals, cpu_intervals, pool_intervals, fabric_intervals, dispatches,
    summary, runs, points (of sweeps); of several workloads of a partition workloads and
    workload_intervals; of devices that interrupt interrupt_intervals; of ESXi on several memory
    nodes home_intervals; of z/VM virtual_machine_intervals, switch_intervals, volume_intervals.
    """
    from homenode.model.numbers import NOTHING, significant
    from homenode.report.tables import plain_table
    from homenode.simulate.kept.query import query as ask

    answer = ask(
        query,
        out,
        run,
        time_limit_ns=_positive(TIME, "--time-limit", time_limit),
        memory_limit=_positive(SIZE, "--memory-limit", memory_limit),
    )
    if as_json:
        show_json([{name: _plain(v) for name, v in row.items()} for row in answer.to_dicts()])
        return
    table = plain_table(*map(_harmless, answer.columns))
    for row in answer.iter_rows():
        table.add_row(
            *(
                significant(v, 6)
                if isinstance(v, float)
                else (NOTHING if v is None else _harmless(str(v)))
                for v in row
            )
        )
    show(table)


def _harmless(text: str) -> str:
    """With what would steer the terminal, or the printing of the table, as escapes."""
    from rich.markup import escape

    shown = (one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
    return escape("".join(shown))


def _positive(kind: Kind, option: str, text: str) -> int:
    """A quantity above 0 in its base unit."""
    try:
        value = int(kind.parse(text))
    except UnitError as error:
        raise HomenodeError(f"{option}: {error}") from error
    if not 0 < value < 2**63:
        raise HomenodeError(f"{option}: {text} is no {kind.name} above 0 and below 2^63")
    return value


def _plain(value: Any) -> Any:
    """What JSON has: no number that is none, and text for dates and the like."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return value if isinstance(value, (str, int, float)) or value is None else str(value)
