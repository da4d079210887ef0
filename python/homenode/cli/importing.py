"""`homenode import`: listings of a real server made into a scenario."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from homenode.cli.output import JsonOption, show_json, tell

FilesArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Outputs of vparstatus -v, vparstatus -M and parstatus -C of one server.",
        metavar="FILE...",
    ),
]


def import_listings(
    files: FilesArgument,
    machine: Annotated[
        str | None,
        typer.Option("--machine", help="Machine, if no listing names it.", metavar="MODEL"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Scenario file to write.", metavar="SCENARIO"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a scenario of what a real server's tools say of its partitions.

    Every value of it says the line it was read from, or what was assumed. It is printed if no file
    is named.
    """
    from homenode.importing import import_files

    imported = import_files(files, machine)
    if output is not None:
        imported.save(output)
    for notice in imported.notices:
        tell(f"note: {notice}")
    if as_json:
        written = {"scenario": None if output is None else str(output), "text": imported.text}
        show_json({**written, **imported.summary()})
    elif output is None:
        sys.stdout.write(imported.text)
    else:
        count = len(imported.scenario.partitions)
        plural = "s" if count > 1 else ""
        tell(f"{output}: {count} partition{plural} of {imported.scenario.machine.title}")
