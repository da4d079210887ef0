"""`homenode measure validate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli.measure.ending import ended_by_signals, interrupted, told_when_too_early
from homenode.cli.measure.options import GateOption, length_of, limits_of, names_of
from homenode.cli.measure.progress import session_progress
from homenode.cli.output import JsonOption, show, show_json, show_text, tell

if TYPE_CHECKING:
    from homenode.judge.report import Report


def validate(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer experiments, shorter and less often.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="More: groups in groups, nice, slices, burst, periods.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Only these experiments; may be repeated.", metavar="A,B"),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option("--repeats", min=1, help="So many passes over all and no more.", metavar="N"),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds", min=1.0, help="Length of an experiment, 4 or 2.5 s.", metavar="S"
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            "--minutes",
            min=0.5,
            help="Time for all trials: 13, full 22, quick 4; no limit beside --repeats.",
            metavar="MIN",
        ),
    ] = None,
    processors: Annotated[
        int, typer.Option("--processors", min=1, help="Logical processors to use.", metavar="N")
    ] = 2,
    against: Annotated[
        Path | None, typer.Option("--against", help="An earlier report.", metavar="FILE.json")
    ] = None,
    database: Annotated[
        bool,
        typer.Option("--database/--no-database", help="With PostgreSQL, alone and under weights."),
    ] = True,
    gate: GateOption = "3 %",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Keep the report.", metavar="FILE.json")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Let this host judge the simulator: the same experiments live and simulated."""
    from homenode import judge
    from homenode.hosts.keeping import check_file
    from homenode.judge.report import KIND
    from homenode.judge.trial import STEAL

    if output is not None:
        check_file(output, KIND)
    with session_progress("validating") as progress, ended_by_signals(), told_when_too_early():
        report = judge.run(
            quick=quick,
            full=full,
            passes=repeats,
            seconds=length_of(seconds),
            processors=processors,
            only=names_of(only),
            against=against,
            with_database=database,
            minutes=minutes,
            **limits_of(gate, STEAL),
            progress=lambda share, doing: progress(doing, share, None),
        )
    show_judged(report, output, as_json=as_json)
    if report.interrupted:
        raise interrupted("interrupted: what is shown comes from the trials that were finished")


def show_judged(report: Report, output: Path | None = None, *, as_json: bool) -> None:
    """Prints what the judge found and keeps it, in this order: a closed pipe loses no report."""
    from homenode.report.validation import sentences, tables

    try:
        if as_json:
            show_json(report.as_json())
        else:
            show(*tables(report))
            show_text(["", *sentences(report)])
    finally:
        if output is not None:
            report.save(output)
            tell(f"kept in {output}")
