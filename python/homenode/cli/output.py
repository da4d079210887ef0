"""Where the commands print: answers on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homenode.cli import complete

if TYPE_CHECKING:
    import altair as alt
    from rich.console import Console
    from rich.table import Table

    from homenode.report.machine_drawing import MachineDrawing

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
OutOption = Annotated[
    str, typer.Option("--out", help="Folder that keeps the runs.", metavar="FOLDER")
]
PictureOption = Annotated[
    Path | None,
    typer.Option("-i", "--picture", help="Also draw it (.svg or .png).", metavar="FILE"),
]
DarkOption = Annotated[bool, typer.Option("--dark", help="Draw the picture for a dark ground.")]
PartitionOption = Annotated[
    str | None,
    typer.Option(
        "-p",
        "--partition",
        help="Partition; the only one if not given.",
        metavar="NAME",
        autocompletion=complete.partitions,
    ),
]
OnlyPartitionOption = Annotated[
    str | None,
    typer.Option(
        "-p",
        "--partition",
        help="Only this partition.",
        metavar="NAME",
        autocompletion=complete.partitions,
    ),
]
RunOption = Annotated[
    str,
    typer.Option(
        "-r",
        "--run",
        help="Run id, or the beginning of one.",
        metavar="RUN",
        autocompletion=complete.runs,
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="Threads; all cores if not given.", metavar="N"),
]
ProcessesOption = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", min=1, help="Processes; as many as cores if not given.", metavar="N"
    ),
]
OnOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        help="A cluster that does it: ray (this machine's, or one that is started), or"
        " ray://HOST:PORT.",
        metavar="CLUSTER",
    ),
]
ReplicationsOption = Annotated[
    int | None,
    typer.Option(
        "--replications", "-n", min=1, help="Replications, in place of the scenario's.", metavar="N"
    ),
]
_WHEN_NOT_TOLD = 80
"""Columns of a terminal, where there is none and COLUMNS does not tell them."""
_MOST_DIGITS = 6


def console(*, stderr: bool = False) -> Console:
    """A console as wide as the terminal, or as COLUMNS says."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _columns()
    return Console(stderr=stderr, highlight=False, soft_wrap=False, width=width, emoji=False)


def _columns() -> int:
    told = os.environ.get("COLUMNS", "")
    if not (told.isascii() and told.isdigit() and len(told) < _MOST_DIGITS and int(told)):
        return _WHEN_NOT_TOLD
    return int(told)


def show(*tables: Table | str) -> None:
    """Print tables, each below its title, an empty line between them; a sentence stands right below
    the table before it.

    A table that is wider than the terminal is printed in parts, each with the columns that name its
    rows: nothing is cut off or left out.
    """
    from rich.text import Text

    from homenode.report.parts import parts_of

    out = console()
    asked = 0
    for number, table in enumerate(tables):
        if isinstance(table, str):
            out.print(Text(table))
            continue
        if number:
            out.print()
        # A title of its own line: rich would break it to the width of the table.
        title, table.title = table.title, None
        if title:
            out.print(Text(str(title), style="bold"))
        parts, whole = parts_of(table, out)
        for place, part in enumerate(parts):
            if place:
                out.print()
            out.print(part)
        asked = max(asked, whole if len(parts) > 1 else 0)
    if asked:
        tell(f"in parts, for they are too wide; COLUMNS={asked} shows them whole")


def show_text(lines: str | Iterable[str]) -> None:
    """Print plain sentences as they are; the terminal wraps them."""
    from rich.text import Text

    out = console()
    for line in [lines] if isinstance(lines, str) else lines:
        out.print(Text(line))


def show_whole(text: str) -> None:
    """Print a text of fixed form, such as another program's: no line of it is broken."""
    sys.stdout.write(f"{text}\n")


def show_json(value: Any) -> None:
    """Print JSON, nothing else."""
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def tell(text: str) -> None:
    """A remark beside the answer."""
    sys.stderr.write(f"{text}\n")


def draw(chart: alt.TopLevelMixin | MachineDrawing, picture: Path, *, dark: bool = False) -> None:
    """Write a picture and say where it is."""
    from homenode.report.pictures import save_picture

    tell(f"drew {save_picture(chart, picture, dark=dark)}")
