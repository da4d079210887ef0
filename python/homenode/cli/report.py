"""`homenode report`: a run as one page to hand over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli import complete
from homenode.cli.output import JsonOption, OutOption, show_json, tell
from homenode.cli.progress import progress_bar

if TYPE_CHECKING:
    from homenode.planner import Advice
    from homenode.simulate.run import Run


def report(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="Kept runs, the layout as it is first.",
            metavar="RUN...",
            autocompletion=complete.runs,
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write.", metavar="FILE.html")
    ],
    pdf: Annotated[
        Path | None,
        typer.Option("--pdf", help="Also print it, by an installed Chromium.", metavar="FILE.pdf"),
    ] = None,
    advise: Annotated[
        str | None,
        typer.Option(
            "--advise", help='Also ask for advice, for so long, such as "30 s".', metavar="TIME"
        ),
    ] = None,
    question: Annotated[
        str | None, typer.Option("--question", help="What was asked.", metavar="TEXT")
    ] = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Write a run as one page to hand over.

    The question, the layout as a map, the answer, where the cores went, over time, how far it can
    be trusted, where it is from; of several runs each is held against the first. One HTML file
    that opens without a network.
    """
    from homenode.cli.advise import time_of
    from homenode.report.handed.page import report_path, write_report
    from homenode.report.handed.pdf import write_pdf
    from homenode.report.handed.sections import sections
    from homenode.simulate.run import Run

    report_path(output)
    seconds = time_of("--advise", advise)
    kept = [Run.load(name, out) for name in runs]
    advice = None if seconds is None else _advice(kept[0], seconds, out)
    with progress_bar(f"writing {output.name}"):
        written = write_report(kept[0].name, sections(kept, question, advice), output)
        printed = None if pdf is None else write_pdf(written, pdf)
    size = written.stat().st_size
    if as_json:
        told = {"file": str(written), "bytes": size, "runs": [run.id for run in kept]}
        show_json({**told, "pdf": None if printed is None else str(printed)})
        return
    tell(f"wrote {written}, {size / 1e6:.1f} MB")
    if printed is not None:
        tell(f"wrote {printed}")


def _advice(run: Run, seconds: float, out: str) -> Advice:
    """What the planner says of the layout of a run."""
    from homenode.planner import advise
    from homenode.simulate.scenario import Scenario

    with progress_bar(f"advice for {run.name}") as progress:

        def each(share: float, doing: str) -> None:
            if progress is not None:
                progress(share, None, doing)

        scenario = Scenario.load(run.path / "scenario.toml")
        return advise(scenario, seconds=seconds, out=out, each=each)
