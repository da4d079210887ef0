"""`homenode compare-machines`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli import complete
from homenode.cli.output import (
    JobsOption,
    JsonOption,
    ReplicationsOption,
    show,
    show_json,
    show_text,
)
from homenode.cli.progress import progress_bar
from homenode.errors import Interrupted

if TYPE_CHECKING:
    from homenode.evidence.compare import MachineComparison


def compare_machines(
    base: Annotated[
        str,
        typer.Argument(
            help="Machine that is compared with: a name or a file.",
            metavar="A",
            autocompletion=complete.machines,
        ),
    ],
    machine: Annotated[
        str,
        typer.Argument(
            help="Machine that is compared: a name or a file.",
            metavar="B",
            autocompletion=complete.machines,
        ),
    ],
    suite: Annotated[
        str,
        typer.Option(
            "--suite",
            help="Suite of workload classes: a name or a file.",
            metavar="NAME",
            autocompletion=complete.suites,
        ),
    ] = "linux",
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Only this class or case; may be repeated.", metavar="CLASS"),
    ] = None,
    replications: ReplicationsOption = None,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
) -> None:
    """What another machine would gain, class of work by class of work.

    Simulates every case of a suite on both machines: throughput, processor time of a unit of work,
    and what of the processor changed it.
    """
    from homenode.evidence.compare import compare_machines as compare

    with progress_bar(f"{base} and {machine}") as progress:
        result = compare(
            base,
            machine,
            suite,
            only=only or (),
            replications=replications,
            jobs=jobs,
            progress=progress,
        )
    if as_json:
        show_json(result.as_json())
    elif result.cases or result.left_out:
        show_comparison(result)
    if result.interrupted:
        count = len(result.cases)
        done = "1 case was" if count == 1 else f"{count} cases were"
        raise Interrupted(f"interrupted: {done} complete; nothing was kept of the others")


def show_comparison(result: MachineComparison) -> None:
    """Tables, and how to read them."""
    from homenode.report.comparisons import comparison_lines, comparison_tables

    show(*comparison_tables(result))
    show_text(["", *comparison_lines(result)])
