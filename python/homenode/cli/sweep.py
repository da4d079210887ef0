"""`homenode sweep`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from homenode.cli.output import (
    DarkOption,
    JsonOption,
    OnOption,
    PictureOption,
    ProcessesOption,
    ReplicationsOption,
    draw,
    show_json,
    show_text,
    tell,
)
from homenode.cli.points import (
    CsvOption,
    Form,
    MarkdownOption,
    ShowOption,
    form_of,
    show_points,
)  # fmt: skip
from homenode.cli.progress import progress_bar
from homenode.cli.scenarios import ScenarioArgument, scenario_at

if TYPE_CHECKING:
    from pathlib import Path

    from homenode.simulate.scenario import Scenario
    from homenode.simulate.sweep.results import SweepResults

_MOST_TOLD = 50
"""Points of which a table is printed for people."""
_MOST_WRITTEN = 10_000
"""Points of which one is printed for programs; beyond it the file is to be read."""
_MOST_REFUSED = 3


def sweep(
    scenario: ScenarioArgument,
    on: OnOption = None,
    jobs: ProcessesOption = None,
    replications: ReplicationsOption = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", "-s", help="Seed, in place of the scenario's.", metavar="N"),
    ] = None,
    metrics: ShowOption = None,
    as_csv: CsvOption = False,
    as_markdown: MarkdownOption = False,
    picture: PictureOption = None,
    dark: DarkOption = False,
    out: Annotated[
        str, typer.Option("--out", help="Folder that keeps the sweeps.", metavar="FOLDER")
    ] = "sweeps",
    as_json: JsonOption = False,
) -> None:
    """Work off a sweep of thousands of points.

    By all cores, or on a cluster. The metrics of each point are kept in two tables, not its run.
    What was begun goes on where it was: give the same command again. The picture of two axes is a
    map of heat, that of one a line.
    """
    from homenode.simulate.kept.points import chosen_metrics
    from homenode.simulate.sweep import run_sweep

    form = form_of(as_csv=as_csv, as_markdown=as_markdown, as_json=as_json)
    wanted = chosen_metrics(metrics)
    loaded = scenario_at(scenario)
    if picture is not None:
        _check_picture(picture, loaded)
    with progress_bar(f"sweeping {scenario.name}, {loaded.points:,} points") as progress:
        done = run_sweep(
            loaded,
            on=on,
            jobs=jobs,
            replications=replications,
            seed=seed,
            out=out,
            progress=progress,
        )
    _show(done, wanted, form)
    if picture is not None:
        from homenode.report.sweep_pictures import points_picture
        from homenode.simulate.kept.points import compared

        draw(points_picture(compared(done.read(wanted), wanted)), picture, dark=dark)
    if done.refused:
        raise typer.Exit(1)


def _check_picture(picture: Path, loaded: Scenario) -> None:
    """Refuse what cannot be drawn before the runs, which take long."""
    from homenode.report.pictures import picture_path
    from homenode.report.sweep_pictures import check_sweep

    picture_path(picture)
    check_sweep(tuple(loaded.axes), loaded.points)


def _show(done: SweepResults, metrics: tuple[str, ...], form: Form) -> None:
    from homenode.simulate.kept.points import compared

    most = _MOST_TOLD if form is Form.TABLE else _MOST_WRITTEN
    told = compared(done.read(metrics), metrics) if done.points <= most else None
    if form is Form.JSON:
        said: dict[str, Any] = {"sweep": done.id, "folder": str(done.folder)}
        said |= {key: done.provenance[key] for key in ("points", "axes", "refused", "engine")}
        show_json({**said, "table": None if told is None else told.as_json()})
        return
    if told is not None and told.rows:
        show_points(told, form)
    for number, why in list(done.refused.items())[:_MOST_REFUSED]:
        tell(f"point {number} has no answer: {why}")
    if len(done.refused) > _MOST_REFUSED:
        tell(f"{len(done.refused) - _MOST_REFUSED:,} more points have no answer")
    if form is Form.TABLE:
        more = "" if told is not None else "; --csv prints them"
        show_text(f"{done.points:,} points in {done.results}, every metric of each{more}")
    elif told is None:
        tell(f"{done.points:,} points are more than are printed: read {done.results}")
