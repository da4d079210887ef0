"""`homenode run` and `homenode runs`."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homenode.cli.output import (
    DarkOption,
    JobsOption,
    JsonOption,
    OutOption,
    ReplicationsOption,
    draw,
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
    from homenode.simulate.kept.course import Course
    from homenode.simulate.kept.points import Point
    from homenode.simulate.run import Run
    from homenode.simulate.scenario import Scenario


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
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            help="Run with ever more replications until half of each interval of cores, throughput"
            ' and response is at most this share of its mean, such as "5%".',
            metavar="SHARE",
        ),
    ] = None,
    find: FindOption = None,
    response: LimitOption = None,
    partition: PartitionOption = None,
    metrics: ShowOption = None,
    as_csv: CsvOption = False,
    as_markdown: MarkdownOption = False,
    picture: Annotated[
        Path | None,
        typer.Option(
            "-i",
            "--picture",
            help="Also draw the run over time, of a sweep a panel a point (.svg or .png).",
            metavar="FILE",
        ),
    ] = None,
    dark: DarkOption = False,
    jobs: JobsOption = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Simulate a layout or a sweep.

    Reports cores, throughput, response and locality of every partition, and keeps the run. A sweep
    ends with one table of all points. What a scenario looks for by its table [find], or --find, is
    found by several runs; all are kept.
    """
    from homenode.simulate.kept.points import chosen_metrics

    form = form_of(as_csv=as_csv, as_markdown=as_markdown, as_json=as_json)
    wanted = chosen_metrics(metrics)
    loaded = scenario_at(scenario)
    options: dict[str, Any] = {
        "replications": replications,
        "seed": seed,
        "jobs": jobs,
        "out": out,
    }
    narrow = None if until is None else _share(until)
    if find is not None or response is not None or partition is not None or loaded.looks_for:
        from homenode.cli.find import run_find

        if metrics or picture or until or form in (Form.CSV, Form.MARKDOWN):
            raise HomenodeError(
                "--show, --csv, --markdown, --picture and --until have no meaning for what is"
                " looked for",
                next_step="leave them out; `homenode compare RUN RUN...` takes the kept runs",
            )
        asked = {"of": find and find.value, "response": response, "partition": partition}
        run_find(loaded, asked, options, as_json=as_json)
        return
    points = list(loaded.expand())
    if picture is not None:
        _refuse_picture(picture, len(points))
    asked_for = _Asked(scenario.name, wanted, metrics is not None, form, picture, narrow, dark)
    _run_all(points, options, asked_for)


@dataclass(frozen=True)
class _Asked:
    """What is to be shown of the runs of a scenario."""

    name: str
    metrics: tuple[str, ...]
    named: bool
    """Whether metrics were asked for: then there is a table of one point too."""
    form: Form
    picture: Path | None
    narrow: float | None
    """How narrow intervals are to be, as a share of their means."""
    dark: bool
    """Whether the picture is for a dark ground."""


def _run_all(points: Sequence[Scenario], options: dict[str, Any], asked: _Asked) -> None:
    """Run every point, show each and then all beside each other; Ctrl-C keeps what is complete."""
    from homenode.simulate.kept.course import course_of
    from homenode.simulate.kept.points import compared, point_in_words, point_of
    from homenode.simulate.runner import InterruptedRun
    from homenode.simulate.runner.ready import all_ready

    answers: list[dict[str, Any]] = []
    kept: list[Point] = []
    courses: dict[str, Course] = {}
    stopped: InterruptedRun | None = None
    if len(points) > 1:
        with progress_bar(f"finding the work of {asked.name}") as progress:
            points = all_ready(points, progress)
    for number, point in enumerate(points, start=1):
        count = f" ({number} of {len(points)})" if len(points) > 1 else ""
        done: Run | None
        try:
            with progress_bar(f"running {asked.name}{count}") as progress:
                done = _run_one(point, asked.narrow, {"progress": progress, **options})
        except InterruptedRun as interruption:
            stopped, done = interruption, interruption.run
            stopped.earlier = tuple(one.run for one in kept)
        if done is not None:
            kept.append(point_of(done, asked.metrics))
            answers += _show_one(done, point, asked, alone=len(points) == 1)
            if asked.picture is not None:
                first = done.provenance["replications"][0]
                courses[point_in_words(point.point)] = course_of(done, first)
        if stopped is not None:
            break
    if asked.picture is not None and courses:
        _draw(courses, asked.picture, dark=asked.dark)
    if answers:
        show_json({"runs": answers, "table": compared(kept, asked.metrics).as_json()})
    elif kept and _has_table(asked, len(points)):
        show_points(compared(kept, asked.metrics), asked.form)
    if stopped is not None:
        raise stopped


def _run_one(point: Scenario, narrow: float | None, options: dict[str, Any]) -> Run:
    """The run of a point; with so many replications that it is narrow, if that is asked for."""
    from homenode.simulate.runner import run_scenario

    if narrow is None:
        return run_scenario(point, **options)
    from homenode.report.precision import missed_lines
    from homenode.simulate.until import run_until

    done = run_until(point, narrow, **options)
    for line in missed_lines(done, narrow):
        tell(line)
    return done


def _share(text: str) -> float:
    """A share such as `5%`."""
    from homenode.model.units import SHARE, UnitError

    try:
        share = float(SHARE.parse(text))
    except UnitError as error:
        raise HomenodeError(f"--until {text}: {error}", next_step='write --until "5%"') from error
    if not 0 < share < 1:
        raise HomenodeError(
            f"--until {text}: no interval can be that narrow", next_step="ask for 1% to 50%"
        )
    return share


def _has_table(asked: _Asked, points: int) -> bool:
    """Whether a table of all points follows; with JSON it has been printed."""
    written = asked.form in (Form.CSV, Form.MARKDOWN)
    return asked.form is not Form.JSON and (written or asked.named or points > 1)


def _show_one(done: Run, point: Scenario, asked: _Asked, *, alone: bool) -> list[dict[str, Any]]:
    """Show a run, unless only the table is wanted; of a sweep as JSON, its entry."""
    if asked.form is Form.JSON and not alone:
        return [{"point": dict(point.point), **run_json(done)}]
    if asked.form in (Form.TABLE, Form.JSON):
        show_run(done, point.point, as_json=asked.form is Form.JSON)
    return []


def _refuse_picture(picture: Path, points: int) -> None:
    """Before anything is run: what cannot be drawn, or not written there."""
    from homenode.report.course_pictures import MOST_POINTS
    from homenode.report.pictures import picture_path

    picture_path(picture)
    if points > MOST_POINTS:
        raise HomenodeError(
            f"--picture draws at most {MOST_POINTS} points of a sweep, this one makes {points:,}",
            next_step="leave it out, then draw one with `homenode show RUN --over-time --picture`",
        )


def _draw(courses: dict[str, Course], picture: Path, *, dark: bool) -> None:
    """A run alone with all its panels, several side by side."""
    from homenode.report.course_pictures import course_picture, sweep_picture

    told = list(courses.values())
    title = f"{told[0]['run']} to {told[-1]['run']}, replication {told[0]['replication']}"
    chart = course_picture(told[0]) if len(told) == 1 else sweep_picture(courses, title)
    draw(chart, picture, dark=dark)


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
        keys = ("run", "scenario", "seed", "replications", "date", "version", "point", "changes")
        show_json([{key: kept.provenance.get(key) for key in keys} for kept in found])
    elif found:
        from homenode.report.runs import runs_table

        show(runs_table(found))
    elif not damaged:
        tell(f"{out} holds no run; make one with `homenode run SCENARIO`")
