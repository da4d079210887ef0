"""Commands on results that are there already, and how a result is printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homenode.cli import complete
from homenode.cli.measure.options import CLAIM_HELP, OnlyOption, names_of, percentage
from homenode.cli.output import (
    DarkOption,
    JsonOption,
    OutOption,
    PartitionOption,
    PictureOption,
    draw,
    show,
    show_json,
    show_text,
    tell,
)
from homenode.errors import HomenodeError

if TYPE_CHECKING:
    from homenode.hosts.comparison import Comparison
    from homenode.hosts.result import Result


def show_result(
    file: Annotated[Path, typer.Argument(help="Result file.", metavar="FILE.json")],
    machine: Annotated[
        str | None,
        typer.Option(
            "--machine",
            help="Hold scaling against this machine's curve.",
            metavar="M",
            autocompletion=complete.machines,
        ),
    ] = None,
    only: OnlyOption = None,
    claim: Annotated[str | None, typer.Option("--claim", help=CLAIM_HELP, metavar="PCT")] = None,
    runs: Annotated[bool, typer.Option("--runs", help="Every repetition, a row each.")] = False,
    parts: Annotated[
        bool, typer.Option("--parts", help="Processor time by user, system, server, client.")
    ] = False,
    picture: PictureOption = None,
    dark: DarkOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print a kept result again, or what a validation found.

    Of two settings in turn their comparison; with --machine, --runs or --parts the result itself.
    --picture draws the comparison, or else what came out under each load.
    """
    from homenode.hosts.comparison import compare_settings
    from homenode.hosts.comparison.refuse import only_of
    from homenode.hosts.result import parsed, restored
    from homenode.judge.report import is_report

    data = parsed(file)
    if is_report(data):
        asked: dict[str, object] = {"--machine": machine, "--only": only, "--claim": claim}
        asked |= {"--runs": runs, "--parts": parts, "--picture": picture, "--dark": dark}
        _show_validation(
            data, file, [name for name, told in asked.items() if told], as_json=as_json
        )
        return
    pct = None if claim is None else percentage(claim, "--claim")
    result = only_of(restored(data, file), names_of(only))
    of_two = set(result.systems) == {"a", "b"}
    if picture is not None:
        _draw(compare_settings(result) if of_two else result, picture, dark=dark)
    if pct is not None and not of_two:
        raise HomenodeError(
            f"{file} is of one system, and a claim is about two",
            next_step="homenode measure compare A.json B.json --claim, or measure two settings",
        )
    if runs or parts:
        show_runs(result, runs=runs, parts=parts, as_json=as_json)
        return
    if of_two and machine is None:
        try:
            show_comparison(compare_settings(result, claim_pct=pct), as_json=as_json)
        except HomenodeError as error:
            tell(f"not compared: {error}")
        else:
            return
    show_figures(result, machine, as_json=as_json)


def _show_validation(data: object, file: Path, asked: Sequence[str], *, as_json: bool) -> None:
    from homenode.cli.measure.judging import show_judged
    from homenode.hosts.errors import MeasureError
    from homenode.judge.report import restored

    if asked:
        raise MeasureError(
            f"{asked[0]} is for results; {file} is a report of `homenode measure validate`",
            next_step="leave it out",
        )
    show_judged(restored(data, file), as_json=as_json)


def compare_files(
    first: Annotated[Path, typer.Argument(help="Result that is compared with.", metavar="A.json")],
    second: Annotated[Path, typer.Argument(help="Result that is compared.", metavar="B.json")],
    again: Annotated[
        Path | None,
        typer.Option("--again", help="Another session of A's host: a noise floor.", metavar="FILE"),
    ] = None,
    claim: Annotated[str | None, typer.Option("--claim", help=CLAIM_HELP, metavar="PCT")] = None,
    only: OnlyOption = None,
    picture: PictureOption = None,
    dark: DarkOption = False,
    as_json: JsonOption = False,
) -> None:
    """Two hosts by their result files: deviation, saving, and what of it is chance."""
    from homenode.hosts.comparison import compare
    from homenode.hosts.result import load

    pct = None if claim is None else percentage(claim, "--claim")
    found = compare(
        load(first),
        load(second),
        again=None if again is None else load(again),
        only=names_of(only),
        claim_pct=pct,
    )
    if picture is not None:
        _draw(found, picture, dark=dark)
    show_comparison(found, as_json=as_json)


def _draw(found: Comparison | Result, picture: Path, *, dark: bool) -> None:
    """Draw a comparison, or the load curves of a result."""
    from homenode.hosts.result import Result
    from homenode.report.hosts import comparison_picture, load_picture
    from homenode.report.pictures import picture_path

    place = picture_path(picture)
    chart = load_picture(found) if isinstance(found, Result) else comparison_picture(found)
    draw(chart, place, dark=dark)


def show_comparison(found: Comparison, *, as_json: bool) -> None:
    """Print a comparison."""
    from homenode.report.hosts import comparison_sentences, comparison_tables

    if as_json:
        show_json(found.as_json())
        return
    show(*comparison_tables(found))
    show_text(["", *comparison_sentences(found)])


def show_runs(result: Result, *, runs: bool, parts: bool, as_json: bool) -> None:
    """Print the repetitions of a result, or where its processor time went, or both."""
    from homenode.hosts.result import record_json
    from homenode.report.hosts import parts_table, runs_table

    if as_json:
        # Whichever was asked for, a record holds it.
        show_json([record_json(run) for run in result.records])
        return
    if runs:
        show(runs_table(result))
    if runs and parts:
        show_text("")
    if parts:
        show(parts_table(result))


def beside(
    file: Annotated[Path, typer.Argument(help="Result file.", metavar="FILE.json")],
    run: Annotated[
        str, typer.Argument(help="Kept simulated run.", metavar="RUN", autocompletion=complete.runs)
    ] = "latest",
    case: Annotated[
        str | None, typer.Option("--case", help="Case of the result.", metavar="CASE")
    ] = None,
    partition: PartitionOption = None,
    processors: Annotated[
        int | None, typer.Option("--processors", min=1, help="Of a scaling set, which.")
    ] = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """A measured case beside a simulated partition, by the same figures."""
    from homenode.hosts.comparison import beside as lay_beside
    from homenode.hosts.result import load
    from homenode.judge.replications import records_of
    from homenode.report.hosts import beside_sentences, beside_table
    from homenode.simulate.run import Run

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
    file: Annotated[
        Path | None,
        typer.Argument(help="A result whose noise is taken, case by case.", metavar="[FILE.json]"),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option("--noise", help="Variation from run to run (CV).", metavar="PCT"),
    ] = None,
    claim: Annotated[
        str | None,
        typer.Option("--claim", help="Difference that must be seen.", metavar="PCT"),
    ] = None,
    only: OnlyOption = None,
    as_json: JsonOption = False,
) -> None:
    """How many runs a claim takes, before they are made.

    To see a difference four times in five at a risk of 5 % of seeing one that is not there. The
    noise is assumed (--noise), or that of the runs in a result.
    """
    from homenode.hosts.statistics import runs_needed

    deviation = percentage(claim, "--claim") / 100 if claim is not None else None
    if deviation is None:
        raise _lacks("--claim", 'the difference that must be seen, as --claim "5 %"')
    if (file is None) == (noise is None):
        raise _lacks("either --noise or a result", 'as --noise "3 %", or FILE.json')
    if file is not None:
        _needed_by_case(file, deviation, names_of(only), as_json=as_json)
        return
    cv = percentage(noise or "", "--noise") / 100
    # The ratio of a pair varies by both of its runs.
    each = runs_needed(cv, deviation)
    pairs = runs_needed(min(1.0, cv * 2**0.5), deviation, paired=True)
    if as_json:
        asked = {"noise_pct": 100 * cv, "claim_pct": 100 * deviation}
        show_json(asked | {"runs": each, "pairs": pairs})
        return
    show_text(
        f"To see {100 * deviation:g} % through {100 * cv:g} % of noise: {each} runs of each host, "
        f"or {pairs} pairs of two settings in turn."
    )


def _lacks(what: str, how: str) -> HomenodeError:
    from homenode.hosts.errors import MeasureError

    return MeasureError(f"homenode measure needed asks for {what}", next_step=f"give it, {how}")


def _needed_by_case(file: Path, deviation: float, only: Sequence[str], *, as_json: bool) -> None:
    from homenode.hosts.comparison.refuse import only_of
    from homenode.hosts.errors import MeasureError
    from homenode.hosts.reduce import cells_of
    from homenode.hosts.reduce.plan import plans
    from homenode.hosts.result import load
    from homenode.report.hosts import plan_sentences, plan_table

    found = plans(cells_of(only_of(load(file), only).records), deviation)
    if not found:
        raise MeasureError(
            f"{file} has no case with two runs that count, and so no noise",
            next_step="measure with --repeats 4 or more, or assume a noise with --noise",
        )
    if as_json:
        show_json({"claim_pct": 100 * deviation, "cases": [plan.as_json() for plan in found]})
        return
    show(plan_table(found, deviation))
    show_text(["", *plan_sentences(found, deviation)])


def show_figures(result: Result, machine: str | None = None, *, as_json: bool) -> None:
    """Print what a result says case by case; scaling against a machine's curve, if one is named."""
    from homenode.hosts.reduce import summary_json
    from homenode.report.hosts import sentences, tables

    of_machine: tuple[Any, ...] = ()
    if machine is not None:
        from homenode.evidence.capability import capability_of

        curve = capability_of(machine)
        of_machine = (curve.capability, curve.source)
    if as_json:
        show_json(summary_json(result, *of_machine))
        return
    show(*tables(result, *of_machine))
    show_text(["", *sentences(result, *of_machine)])
