"""`homenode scaling`."""

from __future__ import annotations

from typing import Annotated

import typer

from homenode.cli.numbers import whole_numbers
from homenode.cli.output import (
    DarkOption,
    JobsOption,
    JsonOption,
    OutOption,
    PictureOption,
    ReplicationsOption,
    draw,
    show,
    show_json,
    show_text,
    tell,
)
from homenode.cli.progress import progress_bar
from homenode.cli.scenarios import ScenarioArgument, scenario_at


def scaling(
    scenario: ScenarioArgument,
    processors: Annotated[
        str,
        typer.Option("--processors", help="Logical processors of each size.", metavar="N,N,..."),
    ],
    picture: PictureOption = None,
    dark: DarkOption = False,
    replications: ReplicationsOption = None,
    jobs: JobsOption = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """How a z/VM partition scales, and what bends the curve.

    Runs the scenario in every size, with processors, central memory and tiles or guests in
    proportion, and holds ITR against the capability curve of the machine.
    """
    from homenode.evidence.scaling import run_scaling
    from homenode.report.pictures import picture_path
    from homenode.report.scaling import scaling_picture, scaling_tables

    sizes = whole_numbers(processors, "--processors")
    if picture is not None:
        # Before the runs, which take long.
        picture_path(picture)
    found = scenario_at(scenario)
    with progress_bar(f"scaling {scenario.name}") as progress:
        result = run_scaling(
            found, sizes, replications=replications, jobs=jobs, out=out, progress=progress
        )
    if picture is not None:
        draw(scaling_picture(result), picture, dark=dark)
    if as_json:
        show_json(result.as_json())
        return
    show(*scaling_tables(result))
    show_text(["", *result.verdict, ""])
    tell(f"runs: {', '.join(size.run.id for size in result.sizes)}")
