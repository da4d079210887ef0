"""`homenode compare`, and the table with which a sweep ends."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli import complete
from homenode.cli.output import (
    JsonOption,
    OnlyPartitionOption,
    OutOption,
    show,
    show_json,
    show_text,
    show_whole,
)  # fmt: skip
from homenode.errors import HomenodeError

if TYPE_CHECKING:
    from homenode.simulate.kept.points import Comparison


class Form(enum.StrEnum):
    """How a table is written."""

    TABLE = "table"
    CSV = "csv"
    MARKDOWN = "markdown"
    JSON = "json"


ShowOption = Annotated[
    str | None,
    typer.Option(
        "--show",
        help="Metrics of the table of all points, such as physc,response_ms_p95.",
        metavar="METRICS",
    ),
]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print the table of all points as CSV.")]
MarkdownOption = Annotated[
    bool, typer.Option("--markdown", help="Print the table of all points as Markdown.")
]


def form_of(*, as_csv: bool, as_markdown: bool, as_json: bool) -> Form:
    """The one form that is asked for."""
    asked = {Form.CSV: as_csv, Form.MARKDOWN: as_markdown, Form.JSON: as_json}
    wanted = [form for form, yes in asked.items() if yes]
    if len(wanted) > 1:
        names = " and ".join(f"--{form.value}" for form in wanted)
        raise HomenodeError(f"{names} exclude each other", next_step="leave all but one out")
    return wanted[0] if wanted else Form.TABLE


def show_points(told: Comparison, form: Form) -> None:
    """Print the table of all points."""
    from homenode.report.points import as_csv, markdown, points_line, points_table

    if form is Form.CSV:
        show_whole(as_csv(told).rstrip("\n"))
    elif form is Form.MARKDOWN:
        show_whole(markdown(told).rstrip("\n"))
    else:
        show(points_table(told))
        show_text(points_line(told))


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="Runs by id or beginning of one; the first is what others are held against.",
            metavar="RUN...",
            autocompletion=complete.runs,
        ),
    ],
    metrics: ShowOption = None,
    partition: OnlyPartitionOption = None,
    as_csv: CsvOption = False,
    as_markdown: MarkdownOption = False,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Compare kept runs in one table.

    Chosen metrics of each partition; each run is held against the first. Where runs share scenario
    and seed, differences are taken replication by replication, which see the same random numbers.
    """
    from homenode.simulate.kept.kept_run import KeptRun
    from homenode.simulate.kept.points import chosen_metrics, compared, point_of

    form = form_of(as_csv=as_csv, as_markdown=as_markdown, as_json=as_json)
    wanted = chosen_metrics(metrics)
    found = [KeptRun.load(which, out) for which in runs]
    names = [run.partition(partition) for run in found[:1]] if partition is not None else []
    told = compared([point_of(run, wanted) for run in found], wanted, names)
    if form is Form.JSON:
        show_json({"paired": told.paired, "table": told.as_json()})
    else:
        show_points(told, form)
