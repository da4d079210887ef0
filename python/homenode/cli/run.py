"""`homenode run` and `homenode runs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homenode.cli.output import (
    JobsOption,
    JsonOption,
    OutOption,
    ReplicationsOption,
    show,
    show_json,
    show_text,
    tell,
)  # fmt: skip
from homenode.cli.progress import progress_bar
from homenode.cli.scenarios import ScenarioArgument, scenario_at
from homenode.errors import DamagedRunError

if TYPE_CHECKING:
    from homenode.simulate.run import Run

_MOST_TOLD = 5
_JSON_KEYS = ("run", "partitions", "workload_category", "machine", "steady")


def run(
    scenario: ScenarioArgument,
    replications: ReplicationsOption = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", "-s", help="Seed, in place of the scenario's.", metavar="N"),
    ] = None,
    jobs: JobsOption = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Simulate a layout or a sweep.

    Reports cores, throughput, response and locality of every partition, and keeps the run.
    """
    from homenode.simulate.runner import InterruptedRun, run_scenario

    points = list(scenario_at(scenario).expand())
    answers: list[dict[str, Any]] = []
    kept: list[str] = []
    stopped: InterruptedRun | None = None
    for number, point in enumerate(points, start=1):
        count = f" ({number} of {len(points)})" if len(points) > 1 else ""
        done: Run | None
        try:
            with progress_bar(f"running {scenario.name}{count}") as progress:
                done = run_scenario(
                    point,
                    replications=replications,
                    seed=seed,
                    jobs=jobs,
                    out=out,
                    progress=progress,
                )
        except InterruptedRun as interruption:
            stopped, done = interruption, interruption.run
            stopped.earlier = tuple(kept)
        if done is not None:
            kept.append(done.id)
            if as_json and len(points) > 1:
                answers.append({"point": dict(point.point), **run_json(done)})
            else:
                show_run(done, point.point, as_json=as_json)
        if stopped is not None:
            break
    if answers:
        show_json({"runs": answers})
    if stopped is not None:
        raise stopped


def run_json(done: Run) -> dict[str, object]:
    """What `--json` prints of a run; the category is that of machines which have one."""
    summary: Mapping[str, object] = done.summary
    return {key: summary[key] for key in _JSON_KEYS if key in summary}


def show_run(done: Run, point: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a run's figures."""
    from homenode.report.runs import run_tables, unsteady_lines

    if as_json:
        show_json(run_json(done))
        return
    if point:
        show_text(", ".join(f"{axis} = {value}" for axis, value in point.items()))
    show(*run_tables(done))
    show_text(unsteady_lines(done))
    plural = "s" if done.replications > 1 else ""
    tell(
        f"run {done.id}: {done.replications} replication{plural} of "
        f"{done.summary['machine']['simulated_s']:g} s, seed {done.seed}, kept in {done.path}"
    )


def runs(
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """List kept runs, newest first."""
    from homenode.simulate.kept.kept_run import KeptRun

    damaged: list[DamagedRunError] = []
    found = KeptRun.all(out, damaged)
    for error in damaged[:_MOST_TOLD]:
        tell(f"left out: {error}")
    if len(damaged) > _MOST_TOLD:
        tell(f"left out: {len(damaged) - _MOST_TOLD} more damaged folders of {out}")
    if as_json:
        keys = ("run", "scenario", "seed", "replications", "date", "version")
        show_json([{key: kept.provenance.get(key) for key in keys} for kept in found])
    elif found:
        from homenode.report.runs import runs_table

        show(runs_table(found))
    elif not damaged:
        tell(f"{out} holds no run; make one with `homenode run SCENARIO`")
