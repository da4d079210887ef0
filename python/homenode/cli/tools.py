"""A run shown as the machine's own tools would show it: `homenode lparstat -p lpar3 1 5`.

Everything after homenode's own options goes to the tool's own reader of arguments. `-p` names the
partition and `-r` the run; a tool's own flag of the same letter is reached after `--`.
"""

from __future__ import annotations

import importlib
from typing import Annotated

import typer

from homenode.cli.output import JsonOption, OutOption, show_json

TOOLS = {
    "lparstat": "Processor use of a partition: default, -h, -H, -i, -d, -E; interval and count.",
    "mpstat": "Logical CPUs of a partition: default, -s, -d, -a; interval and count.",
    "vmstat": "Threads, interrupts and processor use of a partition; interval and count.",
    "sar": "Processor use by logical CPU (-P ALL) or of the partition; interval and count.",
    "lssrad": "Where a partition's memory and processors lie (-av).",
}
_PASS_ON = {
    "ignore_unknown_options": True,
    "allow_extra_args": True,
    "help_option_names": ["--help"],
}


def register(app: typer.Typer) -> None:
    """Add a command for each tool."""
    for name, text in TOOLS.items():
        app.command(name, help=text, context_settings=dict(_PASS_ON))(_command(name))


def _command(tool: str):  # type: ignore[no-untyped-def]
    def show(
        context: typer.Context,
        partition: Annotated[
            str | None,
            typer.Option(
                "-p", "--partition", help="Partition; the only one if not given.", metavar="NAME"
            ),
        ] = None,
        run: Annotated[
            str, typer.Option("-r", "--run", help="Run id, or the beginning of one.", metavar="RUN")
        ] = "latest",
        out: OutOption = "runs",
        as_json: JsonOption = False,
    ) -> None:
        from homenode.results import Run

        found = Run.load(run, out)
        module = importlib.import_module(f"homenode.tools.{tool}")
        name = found.partition(partition)
        if as_json:
            show_json(module.as_json(found, name, list(context.args)))
        else:
            typer.echo(module.render(found, name, list(context.args)), nl=False)

    show.__doc__ = TOOLS[tool]
    return show
