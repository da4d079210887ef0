"""`homenode affinity` and `homenode lsmemopt`: how near to each other processors and memory of a
PowerVM server lie, and what a run of the Dynamic Platform Optimizer would bring.
"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli.layout import LATEST, LayoutArgument, layout
from homenode.cli.output import JsonOption, OutOption, show, show_json, show_text, tell

if TYPE_CHECKING:
    from homenode.simulate.affinity.frame import FrameAffinity
    from homenode.simulate.scenario import Scenario

ProtectOption = Annotated[
    list[str] | None,
    typer.Option("-x", "--protect", help="Not to be moved; may be repeated.", metavar="NAME"),
]


class Resource(enum.StrEnum):
    """What scores are asked for."""

    SYS = "sys"
    LPAR = "lpar"


class Operation(enum.StrEnum):
    """Which scores."""

    CURRENT = "currscore"
    CALCULATED = "calcscore"


def affinity(
    which: LayoutArgument = LATEST,
    protect: ProtectOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Write the layout after the run as a scenario.", metavar="FILE"
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Show who lies where, and what a DPO run would bring.

    On a PowerVM server: nodes, chips, entitled cores and memory of every partition, the affinity
    score of each and of the frame, now and after the Dynamic Platform Optimizer has placed all
    anew, and how the price of an instruction changes.
    """
    from homenode.errors import ScenarioError
    from homenode.report.affinity import affinity_lines, affinity_tables
    from homenode.simulate.affinity.frame import affinity as affinity_of

    if output is not None and protect:
        raise ScenarioError(
            "a layout with protected partitions cannot be written as a scenario",
            next_step="leave -x out, or state the homes of those in a file of your own",
        )
    scenario = layout(which, out)
    found = affinity_of(scenario, protect or ())
    if output is not None:
        _write(scenario, output, force=force)
    if as_json:
        show_json(found.as_json())
        return
    show(*affinity_tables(found, scenario.machine))
    show_text(["", *affinity_lines(found)])


def _write(scenario: Scenario, output: Path, *, force: bool) -> None:
    from homenode.errors import InputError
    from homenode.simulate.affinity.optimised import placed_anew
    from homenode.staging import write_whole

    if output.exists() and not force:
        raise InputError(
            f"{output} is there already", next_step="name another file, or add --force"
        )
    try:
        write_whole(output, placed_anew(scenario).to_toml().encode())
    except OSError as error:
        raise InputError(f"{output} cannot be written: {error.strerror}") from error
    tell(f"the layout after the run is in {output}")


def lsmemopt(
    which: LayoutArgument = LATEST,
    resource: Annotated[
        Resource, typer.Option("-r", help="Of the system, or of each partition.")
    ] = Resource.LPAR,
    operation: Annotated[
        Operation, typer.Option("-o", help="Scores now, or after a DPO run as well.")
    ] = Operation.CURRENT,
    protect: ProtectOption = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Show affinity scores as the HMC would.

    With its rows; the formula of the scores is homenode's own, see homenode affinity.
    """
    from homenode.simulate.affinity.frame import affinity as affinity_of
    from homenode.tools import lsmemopt as tool

    found: FrameAffinity = affinity_of(layout(which, out), protect or ())
    if as_json:
        show_json(tool.rows(found, resource.value, operation.value))
    else:
        typer.echo(tool.render(found, resource.value, operation.value), nl=False)
