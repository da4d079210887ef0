"""`homenode export`: a kept run in the formats that other programs read."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from homenode.cli import complete
from homenode.cli.output import (
    JsonOption,
    OnlyPartitionOption,
    OutOption,
    show,
    show_json,
    tell,
)

LATEST = "latest"
_FEW = 5
_DATES = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S%z"]

RunArgument = Annotated[
    str,
    typer.Argument(
        help="Run id, or the beginning of one.", metavar="RUN", autocompletion=complete.runs
    ),
]
FormOption = Annotated[
    str | None,
    typer.Option(
        "--as",
        help="Form; without one, all forms are listed.",
        metavar="FORM",
        autocompletion=complete.forms,
    ),
]
TargetOption = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="File or folder to write.", metavar="PATH"),
]
ReplicationOption = Annotated[
    int | None,
    typer.Option("--replication", help="Which replication; 0 if not given.", metavar="N"),
]
IntervalOption = Annotated[
    str | None,
    typer.Option("--interval", help="Length of a sample, such as '5 s'.", metavar="TIME"),
]
StartOption = Annotated[
    datetime | None,
    typer.Option(
        "--start",
        formats=_DATES,
        help="Date at which the measured time begins (UTC); 2000-01-01 if not given.",
        metavar="DATE",
    ),
]
AtOption = Annotated[
    str | None,
    typer.Option("--at", help="Moment that a tree shows, such as '5 s'.", metavar="TIME"),
]
LiveOption = Annotated[
    str | None,
    typer.Option("--live", help="How long a tree goes on changing.", metavar="TIME"),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


def export_run(
    run: RunArgument = LATEST,
    form: FormOption = None,
    output: TargetOption = None,
    partition: OnlyPartitionOption = None,
    replication: ReplicationOption = None,
    interval: IntervalOption = None,
    start: StartOption = None,
    at: AtOption = None,
    live: LiveOption = None,
    force: ForceOption = False,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Write a run in a form that other programs read.

    Without --as the forms are listed. Commands and other texts are printed if no file is named.
    """
    from homenode.records import exporting
    from homenode.simulate.kept.changed import changed_lines
    from homenode.simulate.run import Run

    if form is None:
        _list_forms(as_json)
        return
    options = exporting.ExportOptions(
        partition=partition,
        replication=replication,
        interval_ns=_nanoseconds("--interval", interval),
        start=start,
        at_ns=_nanoseconds("--at", at),
        live_ns=_nanoseconds("--live", live),
    )
    chosen = exporting.exporter(form)
    found = Run.load(run, out)
    for line in changed_lines(found.spec):
        tell(f"{line}; what stands once in a file is as at the end")
    if chosen.kind == "text" and output is None:
        _print(exporting.text(found, form, options), form, as_json)
        return
    told: list[Path] = []

    def tell_files(files: list[Path]) -> None:
        told.extend(files)
        _tell(files, form, as_json)

    try:
        exporting.export(found, form, output, options, force=force, written=tell_files)
    except KeyboardInterrupt:
        if not told:
            raise
        raise KeyboardInterrupt("interrupted: what was written stays as it is") from None


def _list_forms(as_json: bool) -> None:
    from rich.table import Table

    from homenode.records import exporting

    forms = [exporting.exporter(name) for name in exporting.names()]
    if as_json:
        show_json([{"form": f.name, "title": f.title, "kind": f.kind} for f in forms])
        return
    table = Table("form", "what is written", box=None)
    for one in forms:
        table.add_row(one.name, one.title)
    show(table)


def _print(text: str, form: str, as_json: bool) -> None:
    if as_json:
        show_json({"form": form, "text": text})
    else:
        typer.echo(text, nl=False)


def _tell(files: list[Path], form: str, as_json: bool) -> None:
    if as_json:
        show_json({"form": form, "files": [str(file) for file in files]})
        return
    for file in files[:_FEW]:
        tell(f"{file}: {file.stat().st_size:,} bytes")
    if len(files) > _FEW:
        tell(f"and {len(files) - _FEW} more files")


def _nanoseconds(option: str, text: str | None) -> int | None:
    """A length of time; a bare number is seconds."""
    if text is None:
        return None
    from homenode.model.units import TIME, UnitError
    from homenode.records.exporting import ExportError

    bare = text.strip().replace(".", "", 1).isdigit()
    try:
        length = int(TIME.parse(f"{text} s" if bare else text))
    except UnitError as error:
        raise ExportError(f"{option}: {error}") from error
    if length <= 0:
        raise ExportError(f"{option}: {text} is no length of time", next_step="write it like '5 s'")
    return length
