"""`homenode fcx`, `homenode hyptop` and `homenode sysinfo`: a run as the tools of z/VM and of Linux
on a mainframe would show it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli import complete
from homenode.cli.output import JsonOption, OutOption, PartitionOption, show_json
from homenode.cli.tools import LATEST, chosen
from homenode.errors import NotFoundError

if TYPE_CHECKING:
    from homenode.tools.guestview import GuestView

RunArgument = Annotated[
    str,
    typer.Argument(
        help="Run id, or the beginning of one; the newest run if not given.",
        metavar="[RUN]",
        autocompletion=complete.runs,
    ),
]
ReplicationOption = Annotated[
    int, typer.Option("--replication", help="Which replication.", metavar="N")
]


def fcx(
    run: RunArgument = LATEST,
    report: Annotated[
        str | None,
        typer.Argument(
            help="Report by number or name, such as FCX108 or DEVICE; lists them if not given.",
            metavar="[REPORT]",
        ),
    ] = None,
    partition: PartitionOption = None,
    every: Annotated[
        bool, typer.Option("--all", help="DEVICE: a line for every volume, not their mean.")
    ] = False,
    replication: ReplicationOption = 0,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Show a run as z/VM's Performance Toolkit would.

    Run and report may stand in either order. Without a report, the reports are listed.
    """
    from homenode.tools import fcx as reports
    from homenode.tools.guestview import zvm_partition

    run, report = _in_order(run, report, out)
    found = None if report is None else reports.report(report)
    view = _view(run, replication, out)
    name = zvm_partition(view, partition)
    if found is None:
        _list_reports(as_json=as_json)
        return
    if as_json:
        show_json(found.rows(view, name, every))
    else:
        typer.echo(found.render(view, name, every), nl=False)


def _in_order(run: str, report: str | None, out: str) -> tuple[str, str | None]:
    """Run and report, in whichever order they came: a report's name is no run's. Raises `ToolError`
    where neither is a report and neither a run, so that it is not known which was meant.
    """
    from homenode.tools import fcx as reports
    from homenode.tools.errors import ToolError

    def asks(word: str) -> bool:
        return reports.is_report(word) or reports.is_number(word)

    if report is None:
        return (LATEST, run) if asks(run) else (run, None)
    if asks(report):
        return run, report
    if asks(run):
        return report, run
    # None is a report: the one that is no run was meant for one, and is named.
    if _is_run(run, out):
        return run, report
    if _is_run(report, out):
        return report, run
    text = f"neither {run} nor {report} is a report, and neither is a run"
    raise ToolError(f"{text}; `homenode fcx` lists the reports, `homenode runs` the runs")


def _is_run(word: str, out: str) -> bool:
    from homenode.simulate.kept.finding import find

    try:
        find(word, out)
    except NotFoundError:
        return False
    return True


def _list_reports(*, as_json: bool) -> None:
    from homenode.cli.output import show
    from homenode.report.tables import plain_table
    from homenode.tools.fcx import listing

    if as_json:
        show_json([dict(zip(_KEYS, row, strict=True)) for row in listing()])
        return
    table = plain_table(*_KEYS)
    for column in table.columns:
        column.justify = "left"
    for row in listing():
        table.add_row(*row)
    show(table)


_KEYS = ("report", "name", "tells", "layout")


def hyptop(
    run: RunArgument = LATEST,
    partition: Annotated[
        str | None,
        typer.Option(
            "-p",
            "--partition",
            help="Virtual machines of this partition, as z/VM counts them; the partitions of the "
            "machine, as PR/SM does, if not given.",
            metavar="NAME",
            autocompletion=complete.partitions,
        ),
    ] = None,
    fields: Annotated[
        str | None, typer.Option("--fields", "-f", help="Fields, as c:ms,o.", metavar="LETTERS")
    ] = None,
    sort: Annotated[
        list[str] | None,
        typer.Option("--sort", "-S", help="Sort field; twice reverses.", metavar="LETTER"),
    ] = None,
    systems: Annotated[
        str | None, typer.Option("--sys", "-s", help="Only these systems.", metavar="NAMES")
    ] = None,
    types: Annotated[
        str | None,
        typer.Option("--cpu_types", "-t", help="Only cores of these types.", metavar="TYPES"),
    ] = None,
    batch: Annotated[bool, typer.Option("--batch_mode", "-b", help="Batch mode.")] = False,
    delay: Annotated[
        float | None,
        typer.Option("--delay", "-d", help="Length of an iteration.", metavar="SECONDS"),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option("--iterations", "-n", min=1, help="How many; one if not given.", metavar="N"),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", help="json, json-seq, jsonl, pairs or csv.", metavar="FORMAT"),
    ] = None,
    replication: ReplicationOption = 0,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Show a run as hyptop would: partitions of the machine, or virtual machines of z/VM."""
    from homenode.tools import hyptop as tool

    request = tool.Request(
        partition=partition,
        fields=fields,
        sort=tuple(sort or ()),
        systems=tuple(systems.split(",")) if systems else (),
        types=tuple(types.split(",")) if types else (),
        batch=batch,
        delay_s=delay,
        iterations=iterations,
        form="json" if as_json else form,
    )
    typer.echo(tool.render(_view(run, replication, out), request), nl=False)


def sysinfo(
    run: RunArgument = LATEST,
    partition: PartitionOption = None,
    guest: Annotated[
        str | None,
        typer.Option("--guest", "-g", help="In this virtual machine.", metavar="NAME"),
    ] = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Show /proc/sysinfo of a partition or a guest.

    As Linux in the partition, or in the virtual machine, would print it.
    """
    from homenode.simulate.run import Run
    from homenode.tools.guestview import view_of
    from homenode.tools.sysinfo import sysinfo as facts

    found = Run.load(run, out)
    told = facts(view_of(found), chosen(found, partition, run), guest)
    if as_json:
        show_json(told.as_json())
    else:
        typer.echo(told.text(), nl=False)


def _view(run: str, replication: int, out: str) -> GuestView:
    from homenode.simulate.run import Run
    from homenode.tools.guestview import view_of

    return view_of(Run.load(run, out), replication)
