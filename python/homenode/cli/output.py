"""Where the commands print: answers on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
OutOption = Annotated[
    str, typer.Option("--out", help="Folder that keeps the runs.", metavar="FOLDER")
]
RunOption = Annotated[
    str, typer.Option("-r", "--run", help="Run id, or the beginning of one.", metavar="RUN")
]
JobsOption = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="Threads; all cores if not given.", metavar="N"),
]
ReplicationsOption = Annotated[
    int | None,
    typer.Option(
        "--replications", "-n", min=1, help="Replications, in place of the scenario's.", metavar="N"
    ),
]
_WIDEST = 1_000
_WHEN_NOT_A_TERMINAL = 160


def console(*, stderr: bool = False) -> Console:
    """A console that does not take a file for a narrow terminal."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _WHEN_NOT_A_TERMINAL
    return Console(stderr=stderr, highlight=False, soft_wrap=False, width=width)


def show(*tables: Table) -> None:
    """Print tables, each below its title, an empty line between them.

    A table that is wider than the terminal is printed in full and broken by the terminal: a figure
    that is cut off would be worse.
    """
    from rich.text import Text

    out = console()
    for number, table in enumerate(tables):
        if number:
            out.print()
        # A title of its own line: rich would break it to the width of the table.
        title, table.title = table.title, None
        if title:
            out.print(Text(str(title), style="bold"), no_wrap=True)
        out.width = max(out.width, _least_width(out, table))
        out.print(table)


def _least_width(out: Console, table: Table) -> int:
    """Columns of the terminal below which something of the table would be cut off."""
    from rich.measure import Measurement

    options = out.options.update(max_width=_WIDEST)
    for column in table.columns:
        if column.no_wrap:
            cells = [column.header, *column.cells]
            column.min_width = max(Measurement.get(out, options, cell).maximum for cell in cells)
    return Measurement.get(out, options, table).minimum


def show_text(lines: str | Iterable[str]) -> None:
    """Print plain sentences as they are; the terminal wraps them."""
    from rich.text import Text

    out = console()
    for line in [lines] if isinstance(lines, str) else lines:
        out.print(Text(line))


def show_json(value: Any) -> None:
    """Print JSON, nothing else."""
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def tell(text: str) -> None:
    """A remark beside the answer."""
    sys.stderr.write(f"{text}\n")
