"""`homenode solve`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homenode.cli.output import JsonOption, OutOption, show, show_json, show_text
from homenode.cli.points import Form, ShowOption, show_points
from homenode.cli.progress import progress_bar
from homenode.cli.ran import figures_json, show_figures
from homenode.cli.scenarios import ScenarioArgument, scenario_at
from homenode.errors import HomenodeError

if TYPE_CHECKING:
    from pathlib import Path

    from homenode.simulate.run import Run
    from homenode.simulate.scenario import Scenario
    from homenode.simulate.solved.beside import Beside
    from homenode.simulate.solved.figures import Solved

_USUAL = ("physc", "etr_per_s", "response_ms_mean")
"""Metrics of the table of all points if none are named: those of a run's that are known."""


def solve(
    scenario: ScenarioArgument,
    metrics: ShowOption = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Run it too and show how far the solved figures are off."),
    ] = False,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Solve a layout or a sweep without simulating it.

    Prints what `run` prints as far as the steady state tells it, in a small part of the time and
    without chance: means, percentiles of responses, no intervals. Nothing is kept but the runs of
    --check.
    """
    from homenode.simulate.kept.points import chosen_metrics, compared, point_of

    chosen = None if metrics is None else chosen_metrics(metrics)
    loaded = scenario_at(scenario)
    if loaded.looks_for:
        raise HomenodeError(
            f"{loaded.source}: what a scenario looks for is simulated only",
            next_step=f"take its table [find] away, or use `homenode run {scenario}`",
        )
    points = _solved(list(loaded.expand()), scenario.name)
    checked = [_checked(one, of, chosen, out) if check else None for one, of in points]
    solved = [of for _, of in points]
    wanted = chosen or _known(solved)
    told = compared([point_of(of, wanted) for of in solved], wanted)
    if as_json:
        answers = [_json(of, run) for of, run in zip(solved, checked, strict=True)]
        several = {"runs": answers, "table": told.as_json(), "solved": True}
        show_json(several if len(points) > 1 else answers[0])
        return
    for of, run in zip(solved, checked, strict=True):
        _show(of, run)
    if len(points) > 1 or (chosen and not check):
        show_points(told, Form.TABLE)
    _say(solved)


def _known(solved: Sequence[Solved]) -> list[str]:
    """The usual metrics that a partition has."""
    told = [metrics for of in solved for metrics in of.metrics.values()]
    return [name for name in _USUAL if any(one[name].mean is not None for one in told)]


def _solved(points: Sequence[Scenario], name: str) -> list[tuple[Scenario, Solved]]:
    """Each point with its solution; all of their work is found before."""
    from homenode.simulate.runner.ready import all_ready

    with progress_bar(f"finding the work of {name}") as progress:
        ready = all_ready(points, progress)
    return [(point, point.solve()) for point in ready]


def _checked(
    point: Scenario, of: Solved, metrics: Sequence[str] | None, out: str | Path
) -> tuple[Run, list[Beside]]:
    """The run of a point, and the solution beside it."""
    from homenode.simulate.solved.beside import COMPARED, beside

    with progress_bar(f"running {of.name}") as progress:
        run = point.run(out=out, progress=progress)
    return run, beside(of, run, metrics or COMPARED)


def _json(of: Solved, checked: tuple[Run, list[Beside]] | None) -> dict[str, Any]:
    told: dict[str, Any] = {"point": of.point} if of.point else {}
    said: dict[str, Any] = {
        "solved": True,
        "left_out": list(of.left_out),
        "within": {name: sure.cores for name, sure in of.sureness.items()},
        "beside_greedy": {name: [*others] for name, others in of.crowded.items()},
    }
    if of.kept_from:
        said["kept_from"] = {name: [*others] for name, others in of.kept_from.items()}
    if of.wanting_all:
        said["wanting_all"] = {name: [*others] for name, others in of.wanting_all.items()}
    if of.looked_for_late:
        said["looked_for_late"] = list(of.looked_for_late)
    if of.balances:
        said["balances"] = {name: list(both) for name, both in of.balances.items()}
    told |= {**figures_json(of), **said}
    if checked is not None:
        run, rows = checked
        told["check"] = {"run": run.id, "metrics": [row.as_json() for row in rows]}
    return told


def _show(of: Solved, checked: tuple[Run, list[Beside]] | None) -> None:
    from homenode.report.runs import unsteady_lines
    from homenode.report.solved import beside_table

    show_figures(of, of.point)
    show_text(unsteady_lines(of))
    if checked is not None:
        run, rows = checked
        show(beside_table(rows, run.id))


def _say(solved: Sequence[Solved]) -> None:
    from homenode.report.solved import solved_lines

    show_text(solved_lines(solved))
