"""`homenode study`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli import complete
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
from homenode.errors import HomenodeError

if TYPE_CHECKING:
    from homenode.evidence.study import CalibrationResult, Study, StudyResult

_WORDS = (
    "validation   neither fitted to nor seen before a choice that acts on the row",
    "informed     seen before such a choice",
    "constructed  by construction: comes out whatever the mechanisms do; no evidence",
    "null         what one number for each metric, chosen in hindsight, would pass",
)
"""The summary's columns."""


def study(
    name: Annotated[
        str | None,
        typer.Argument(help="Name of the study.", metavar="NAME", autocompletion=complete.studies),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All studies.")] = False,
    list_only: Annotated[bool, typer.Option("--list", help="List the studies.")] = False,
    refit: Annotated[
        bool,
        typer.Option(
            "--calibrate", help="Fit the parameters to the calibration rows and print them."
        ),
    ] = False,
    picture: PictureOption = None,
    dark: DarkOption = False,
    replications: ReplicationsOption = None,
    jobs: JobsOption = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Compare with a published result.

    Prints published, simulated and deviation row by row; apart by what the rows are worth as
    evidence, how many come out, beside a null model that knows nothing of layouts. The picture has
    what the source draws (lines over the processors where a study has scenarios in several sizes,
    published and simulated bars where all rows are ratios to one layout, else user and system
    cores of every case over time, and ilcs and vlcs beside them), and below every row within its
    tolerance or not, beside what the null model would have said.
    """
    if list_only:
        show_list(as_json=as_json)
        return
    from homenode.evidence.study import list_studies, load_study

    if (name is None) != every:
        raise HomenodeError("name a study, or ask for --all or --list")
    if picture is not None:
        _check_picture(picture, alone=not (every or refit))
    studies = [load_study(one) for one in (list_studies() if every else [str(name)])]
    if refit:
        results = [
            calibrate_one(one, replications, jobs)
            for one in studies
            if one.calibrations or not every
        ]
        show_calibrations(results, as_json=as_json)
        return
    compared = [run_one(one, replications, jobs, out) for one in studies]
    if picture is not None:
        from homenode.report.study_pictures import study_picture

        draw(study_picture(compared[0]), picture, dark=dark)
    if as_json:
        answers = [result.as_json() for result in compared]
        show_json({"studies": answers} if every else answers[0])
        return
    for result in compared:
        show_study(result)
    if every:
        show_summary(compared)


def _check_picture(picture: Path, *, alone: bool) -> None:
    """Refuse what cannot be drawn before the runs, which take long."""
    from homenode.report.pictures import picture_path

    if not alone:
        raise HomenodeError("a picture is of one study that is compared", next_step="name one")
    picture_path(picture)


def run_one(one: Study, replications: int | None, jobs: int | None, out: str) -> StudyResult:
    """Run a study with a progress bar."""
    from homenode.evidence.study import run_study

    with progress_bar(f"study {one.name}") as progress:
        return run_study(one, replications=replications, jobs=jobs, out=out, progress=progress)


def calibrate_one(one: Study, replications: int | None, jobs: int | None) -> CalibrationResult:
    """Refit a study with a progress bar."""
    from homenode.evidence.study import calibrate_study

    with progress_bar(f"calibrating {one.name}") as progress:
        return calibrate_study(one, replications=replications, jobs=jobs, progress=progress)


def show_list(*, as_json: bool) -> None:
    """Names and titles."""
    from homenode.evidence.study.listing import heads
    from homenode.report.tables import plain_table

    studies = heads()
    if as_json:
        show_json(
            [
                {"study": s.name, "title": s.title, "source": s.source, "claim": s.claim}
                for s in studies
            ]
        )
        return
    table = plain_table("study", "rows")
    table.add_column("title")
    for one in studies:
        table.add_row(one.name, str(one.rows), one.title)
    show(table)


def show_study(result: StudyResult, *, kept: bool = True) -> None:
    """Table, counts beside the null model, what was advised, misses, what the study assumed, and,
    if they are kept, its runs.
    """
    from homenode.report.studies import (
        advice_lines,
        error_lines,
        miss_lines,
        not_modelled_lines,
        study_table,
    )

    show(study_table(result))
    show_text(["", *error_lines(result)])
    if result.advices:
        show_text(["", "Advised:", *(f"  {line}" for line in advice_lines(result))])
    misses = miss_lines(result)
    show_text(["", "Missed:" if misses else "No row is missed.", *(f"  {line}" for line in misses)])
    left_out = not_modelled_lines(result)
    if left_out:
        show_text(["", "Not modelled, and not counted:", *(f"  {line}" for line in left_out)])
    if result.study.assumptions:
        show_text(["", "Assumed:", *(f"  {line}" for line in result.study.assumptions)])
    show_text("")
    runs = dict.fromkeys(run.id for run in result.runs.values())
    if kept and runs:
        place = next(iter(result.runs.values())).path.parent
        tell(f"runs: {', '.join(runs)}, kept in {place}")


def show_summary(results: list[StudyResult]) -> None:
    """A line a study."""
    from homenode.report.studies import summary_table

    show(summary_table(results))
    show_text(["", *_WORDS])


def show_calibrations(results: list[CalibrationResult], *, as_json: bool) -> None:
    """Found parameters and those of the files."""
    from homenode.report.studies import calibration_table

    if as_json:
        answers = [result.as_json() for result in results]
        show_json(answers[0] if len(answers) == 1 else {"studies": answers})
        return
    for result in results:
        show(calibration_table(result))
        tell(f"{result.study.name}: {result.evaluations} evaluations; the files were not changed")
