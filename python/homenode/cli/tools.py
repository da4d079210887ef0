"""A run shown as the machine's own tools would show it: `homenode lparstat -p lpar3 1 5`.

`-p` names the partition and `-r` the run; everything else goes to the tool as it is, so its flags
mean what they mean there. `--out`, `--replication` and `--json` are homenode's as well.
"""

from __future__ import annotations

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
        from homenode.tools.choice import tool_of

        found = KeptRun.load(run, out)
        module, shown, words = tool_of(
            tool, found, replication, partition, lambda: chosen(found, partition, run)
        )
        arguments = [*words, *context.args]
        if as_json:
            show_json(module.rows(shown, arguments))
        else:
            typer.echo(module.render(shown, arguments), nl=False)

    show.__doc__ = about
    return show


lparstat = _command(
    """Show a partition as lparstat would.

    Default, -h, -H, -i, -d, -E; interval and count. -h is the tool's own: --help shows this.
    """,
    "lparstat",
)
mpstat = _command(
    """Show a partition, or a host, as mpstat would.

    AIX: default, -s, -d, -a. Linux in a partition, or without -p the host of Linux: -P ALL, -o
    JSON. Interval and count.
    """,
    "mpstat",
)
vmstat = _command(
    """Show a partition, or a host, as vmstat would.

    Of AIX, of Linux, or without -p the host of Linux. Interval and count.
    """,
    "vmstat",
)
sar = _command(
    """Show a partition, or a host, as sar would.

    AIX: default or -P ALL. Linux, or without -p the host of Linux: -u, -u ALL, -q, -w, -P ALL.
    HP-UX: -u, -q, -M. Interval and count.
    """,
    "sar",
)
pidstat = _command(
    """Show groups of a host as pidstat would.

    A line a group, as of a process: -u, -w, -h, -H; interval and count. -p is one of the groups; -h
    is the tool's own: --help shows this.
    """,
    "pidstat",
)
domstats = _command(
    """Show the guests of a KVM host as virsh domstats would.

    State, processor time and memory since the start. -p is one of them.
    """,
    "domstats",
)
virt_top = _command(
    """Show the guests of a KVM host as virt-top would.

    As with --stream; interval and count.
    """,
    "virt-top",
)
xentop = _command(
    """Show the domains of a Xen host as xentop would.

    As with -b; interval and count.
    """,
    "xentop",
)
esxtop = _command(
    """Show virtual machines of ESXi as esxtop would.

    The CPU panel, with -m that of memory; -b writes the CSV of batch mode; -d seconds, -n count.
    """,
    "esxtop",
)
numastat = _command(
    """Show where memory lies on a host as numastat would.

    As with -c and a group of threads for a process.
    """,
    "numastat",
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
