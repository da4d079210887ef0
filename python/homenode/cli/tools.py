"""A run shown as the machine's own tools would show it: `homenode lparstat -p lpar3 1 5`.

`-p` names the partition and `-r` the run; everything else goes to the tool as it is, so its flags
mean what they mean there. `--out`, `--replication` and `--json` are homenode's as well.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli.output import JsonOption, OutOption, PartitionOption, RunOption, show_json
from homenode.cli.scenarios import scenario_at
from homenode.errors import NotFoundError

if TYPE_CHECKING:
    from homenode.model.spec import Spec
    from homenode.simulate.kept.kept_run import KeptRun

LATEST = "latest"


def _command(about: str, tool: str) -> Callable[..., None]:
    def show(
        context: typer.Context,
        partition: PartitionOption = None,
        run: RunOption = LATEST,
        replication: Annotated[
            int, typer.Option("--replication", help="Which replication.", metavar="N")
        ] = 0,
        out: OutOption = "runs",
        as_json: JsonOption = False,
    ) -> None:
        from homenode.simulate.kept.kept_run import KeptRun
        from homenode.tools.view import KeptRunView

        found = KeptRun.load(run, out)
        view = KeptRunView.of(found, replication)
        arguments = ["-p", chosen(found, partition, run), *context.args]
        module = importlib.import_module(f"homenode.tools.{tool}")
        if as_json:
            show_json(module.rows(view, arguments))
        else:
            typer.echo(module.render(view, arguments), nl=False)

    show.__doc__ = about
    return show


lparstat = _command(
    """Show a partition as lparstat would.

    Default, -h, -H, -i, -d, -E; interval and count. -h is the tool's own: --help shows this.
    """,
    "lparstat",
)
mpstat = _command(
    """Show a partition as mpstat would.

    Default, -s, -d, -a; interval and count.
    """,
    "mpstat",
)
vmstat = _command(
    """Show a partition as vmstat would.

    Interval and count.
    """,
    "vmstat",
)
sar = _command(
    """Show a partition as sar would.

    Default or -P ALL; interval and count.
    """,
    "sar",
)


def lssrad(
    context: typer.Context,
    partition: PartitionOption = None,
    run: RunOption = LATEST,
    replication: Annotated[
        int, typer.Option("--replication", help="Which replication.", metavar="N")
    ] = 0,
    frame: Annotated[
        bool, typer.Option("--frame", help="All partitions; -r may be a scenario file too.")
    ] = False,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Show a partition as lssrad would.

    With -av. With --frame all partitions at their places, as no partition sees them.
    """
    if not frame:
        _lssrad(context, partition, run, replication, out, as_json)
        return
    from homenode.tools import UsageError
    from homenode.tools import frame as tool

    if partition is not None or set("".join(context.args)) - set("-av"):
        raise UsageError(
            "lssrad --frame shows all partitions in one form",
            next_step="leave everything else out but -r, --out and --json",
        )
    spec = _frozen(run, out)
    if as_json:
        show_json(tool.rows(spec))
    else:
        typer.echo(tool.render(spec), nl=False)


_lssrad = _command("", "lssrad")


def _frozen(run: str, out: str) -> Spec:
    """What was simulated, or would be."""
    from homenode.simulate.kept.kept_run import KeptRun

    if Path(run).suffix == ".toml":
        return scenario_at(Path(run)).layout_spec()
    return KeptRun.load(run, out).spec


def chosen(found: KeptRun, partition: str | None, run: str) -> str:
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
