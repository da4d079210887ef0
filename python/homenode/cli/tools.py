"""A run shown as the machine's own tools would show it: `homenode lparstat -p lpar3 1 5`.

`-p` names the partition and `-r` the run; everything else goes to the tool as it is, so its flags
mean what they mean there. `--out`, `--replication` and `--json` are homenode's as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homenode.cli.output import JsonOption, OutOption, show_json
from homenode.errors import NotFoundError

if TYPE_CHECKING:
    from homenode.simulate.run import Run

TOOLS = {
    "lparstat": "lparstat of a partition. Default, -h, -H, -i, -d, -E; interval and count.",
    "mpstat": "mpstat of a partition. Default, -s, -d, -a; interval and count.",
    "vmstat": "vmstat of a partition. Interval and count.",
    "sar": "sar of a partition. Default or -P ALL; interval and count.",
    "lssrad": "lssrad of a partition. -av.",
}
_PASS_ON: dict[str, Any] = {
    "ignore_unknown_options": True,
    "allow_extra_args": True,
    "help_option_names": ["--help"],
}
LATEST = "latest"


def register(app: typer.Typer) -> None:
    """Add a command for each tool."""
    for name, text in TOOLS.items():
        app.command(name, help=text, context_settings=dict(_PASS_ON))(_command(name))


def _command(tool: str) -> Callable[..., None]:
    def show(
        context: typer.Context,
        partition: Annotated[
            str | None,
            typer.Option("-p", help="Partition; the only one if not given.", metavar="NAME"),
        ] = None,
        run: Annotated[
            str, typer.Option("-r", "--run", help="Run id, or the beginning of one.", metavar="RUN")
        ] = LATEST,
        replication: Annotated[
            int, typer.Option("--replication", help="Which replication.", metavar="N")
        ] = 0,
        out: OutOption = "runs",
        as_json: JsonOption = False,
    ) -> None:
        from homenode import tools
        from homenode.simulate.run import Run

        found = Run.load(run, out)
        view = tools.KeptRunView.of(found, replication)
        arguments = ["-p", chosen(found, partition, run), *context.args]
        if as_json:
            show_json(tools.rows(tool, view, arguments))
        else:
            typer.echo(tools.render(tool, view, arguments), nl=False)

    show.__doc__ = TOOLS[tool]
    return show


def chosen(found: Run, partition: str | None, run: str) -> str:
    """The partition asked for; the message says how to name it, or another run."""
    try:
        return found.partition(partition)
    except NotFoundError as error:
        step = "name another run with -r; `homenode runs` lists them"
        if partition is None:
            step = f"write -p {found.partitions[0]}"
        elif run != LATEST:
            step = "name a partition of this run, or another run with -r"
        raise NotFoundError(error.problem, asked=partition, next_step=step) from None
