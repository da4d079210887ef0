"""Commands on results of `homenode measure` that are there already: comparison, measured beside
simulated, runs needed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli.output import JsonOption, OutOption, show, show_json, show_text

if TYPE_CHECKING:
    from homenode.measure.comparison import Comparison

_PERCENT = re.compile(r"\s*(?P<number>[+-]?\d+(?:\.\d+)?)\s*%?\s*")
CLAIM_HELP = "Hold this against it: at least so many per cent faster, as 30."


def percentage(text: str, option: str) -> float:
    """A number of per cent, with or without its sign; `option` names it in messages."""
    found = _PERCENT.fullmatch(text)
    if found is None:
        from homenode.measure.errors import MeasureError

        raise MeasureError(
            f"{option} {text}: that is no number of per cent", next_step=f"write {option} 30"
        )
    return float(found["number"])


def compare_files(
    first: Annotated[Path, typer.Argument(help="Result that is compared with.", metavar="A.json")],
    second: Annotated[Path, typer.Argument(help="Result that is compared.", metavar="B.json")],
    again: Annotated[
        Path | None,
        typer.Option("--again", help="Another session of A's host: a noise floor.", metavar="FILE"),
    ] = None,
    claim: Annotated[str | None, typer.Option("--claim", help=CLAIM_HELP, metavar="PCT")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Only this case or adapter; may be repeated.", metavar="CASE"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Two hosts by their result files: deviation, saving, and what of it is chance."""
    from homenode.measure.comparison import compare
    from homenode.measure.result import load

    pct = None if claim is None else percentage(claim, "--claim")
    found = compare(
        load(first),
        load(second),
        again=None if again is None else load(again),
        only=only or (),
        claim_pct=pct,
    )
    show_comparison(found, as_json=as_json)


def show_comparison(found: Comparison, *, as_json: bool) -> None:
    """Print a comparison."""
    from homenode.report.measured import comparison_sentences, comparison_tables

    if as_json:
        show_json(found.as_json())
        return
    show(*comparison_tables(found))
    show_text(["", *comparison_sentences(found)])


def beside(
    file: Annotated[Path, typer.Argument(help="Result file.", metavar="FILE.json")],
    run: Annotated[str, typer.Argument(help="Kept simulated run.", metavar="RUN")] = "latest",
    case: Annotated[
        str | None, typer.Option("--case", help="Case of the result.", metavar="CASE")
    ] = None,
    partition: Annotated[
        str | None, typer.Option("--partition", "-p", help="Partition of the run.")
    ] = None,
    processors: Annotated[
        int | None, typer.Option("--processors", min=1, help="Of a scaling set, which.")
    ] = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """A measured case beside a simulated partition, by the same figures."""
    from homenode.measure.comparison import beside as lay_beside
    from homenode.measure.result import load
    from homenode.measure.simulated import records_of
    from homenode.report.measured import beside_sentences, beside_table
    from homenode.results.run import Run

    found = lay_beside(
        load(file).records,
        records_of(Run.load(run, out), partition),
        case=case,
        processors=processors,
    )
    if as_json:
        show_json(found.as_json())
        return
    show(beside_table(found))
    show_text(["", *beside_sentences(found)])


def needed(
    noise: Annotated[
        str, typer.Option("--noise", help="Variation from run to run (CV).", metavar="PCT")
    ],
    claim: Annotated[
        str, typer.Option("--claim", help="Difference that must be seen.", metavar="PCT")
    ],
    as_json: JsonOption = False,
) -> None:
    """How many runs a claim takes, before they are made.

    To see a difference four times in five at a risk of 5 % of seeing one that is not there.
    """
    from homenode.measure.statistics import runs_needed

    cv, deviation = percentage(noise, "--noise") / 100, percentage(claim, "--claim") / 100
    each = runs_needed(cv, deviation)
    # The ratio of a pair varies by both of its runs.
    pairs = runs_needed(min(1.0, cv * 2**0.5), deviation, paired=True)
    if as_json:
        asked = {"noise_pct": 100 * cv, "claim_pct": 100 * deviation}
        show_json(asked | {"runs": each, "pairs": pairs})
        return
    show_text(
        f"To see {100 * deviation:g} % through {100 * cv:g} % of noise: {each} runs of each host, "
        f"or {pairs} pairs of two settings in turn."
    )
