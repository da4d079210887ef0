"""`homenode run` and `homenode runs`."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homenode.cli.output import (
    JobsOption,
    JsonOption,
    OutOption,
    ReplicationsOption,
    show,
    show_json,
    tell,
)  # fmt: skip
from homenode.cli.points import (
    CsvOption,
    Form,
    MarkdownOption,
    ShowOption,
    form_of,
    show_points,
)  # fmt: skip
from homenode.cli.progress import progress_bar
from homenode.cli.ran import run_json, show_run
from homenode.cli.scenarios import ScenarioArgument, scenario_at
from homenode.errors import DamagedRunError, HomenodeError

if TYPE_CHECKING:
    from homenode.simulate.kept.points import Point
    from homenode.simulate.run import Run


class Find(enum.StrEnum):
    """What can be looked for."""

    USERS = "users"
    SCORE = "score"


FindOption = Annotated[
    Find | None,
    typer.Option(
        "--find",
        help="Look for the most users whose mean response is under a limit, or for the score over N"
        " to 2N warehouses; by several runs.",
    ),
]
LimitOption = Annotated[
    str | None,
    typer.Option("--response", help='With --find users: the limit, such as "2 s".', metavar="TIME"),
]
PartitionOption = Annotated[
    str | None,
    typer.Option(
        "-p",
        "--partition",
        help="With --find: in which partition; the only one with such a workload if not given.",
        metavar="NAME",
    ),
]
_MOST_TOLD = 5


def run(
    scenario: ScenarioArgument,
    replications: ReplicationsOption = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", "-s", help="Seed, in place of the scenario's.", metavar="N"),
    ] = None,
    find: FindOption = None,
    response: LimitOption = None,
    partition: PartitionOption = None,
    metrics: ShowOption = None,
    as_csv: CsvOption = False,
    as_markdown: MarkdownOption = False,
    jobs: JobsOption = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Simulate a layout or a sweep.

    Reports cores, throughput, response and locality of every partition, and keeps the run. A sweep
    ends with one table of all points. What a scenario looks for by its table [find], or --find, is
    found by several runs; all are kept.
    """
    from homenode.simulate.kept.points import chosen_metrics, compared, point_of
    from homenode.simulate.runner import InterruptedRun, run_scenario

    form = form_of(as_csv=as_csv, as_markdown=as_markdown, as_json=as_json)
    wanted = chosen_metrics(metrics)
    loaded = scenario_at(scenario)
    options: dict[str, Any] = {
        "replications": replications,
        "seed": seed,
        "jobs": jobs,
        "out": out,
    }
    if find is not None or response is not None or partition is not None or loaded.looks_for:
        from homenode.cli.find import run_find

        if metrics is not None or form in (Form.CSV, Form.MARKDOWN):
            raise HomenodeError(
                "--show, --csv and --markdown have no meaning for what is looked for",
                next_step="leave them out; `homenode compare RUN RUN...` takes the kept runs",
            )
        asked = {"of": find and find.value, "response": response, "partition": partition}
        run_find(loaded, asked, options, as_json=as_json)
        return
    points = list(loaded.expand())
    alone = form in (Form.CSV, Form.MARKDOWN)
    answers: list[dict[str, Any]] = []
    kept: list[Point] = []
    stopped: InterruptedRun | None = None
    for number, point in enumerate(points, start=1):
        count = f" ({number} of {len(points)})" if len(points) > 1 else ""
        done: Run | None
        try:
            with progress_bar(f"running {scenario.name}{count}") as progress:
                done = run_scenario(point, progress=progress, **options)
        except InterruptedRun as interruption:
            stopped, done = interruption, interruption.run
            stopped.earlier = tuple(one.run for one in kept)
        if done is not None:
            kept.append(point_of(done, wanted))
            if as_json and len(points) > 1:
                answers.append({"point": dict(point.point), **run_json(done)})
            elif not alone:
                show_run(done, point.point, as_json=as_json)
        if stopped is not None:
            break
    if answers:
        show_json({"runs": answers, "table": compared(kept, wanted).as_json()})
    elif kept and (alone or len(points) > 1 or metrics is not None) and form is not Form.JSON:
        show_points(compared(kept, wanted), form)
    if stopped is not None:
        raise stopped


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
        keys = ("run", "scenario", "seed", "replications", "date", "version", "point")
        show_json([{key: kept.provenance.get(key) for key in keys} for kept in found])
    elif found:
        from homenode.report.runs import runs_table

        show(runs_table(found))
    elif not damaged:
        tell(f"{out} holds no run; make one with `homenode run SCENARIO`")
