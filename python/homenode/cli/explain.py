"""`homenode explain`."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli import complete
from homenode.cli.output import (
    DarkOption,
    JsonOption,
    OnlyPartitionOption,
    OutOption,
    PictureOption,
    draw,
    show,
    show_json,
    show_text,
)
from homenode.errors import HomenodeError, NotFoundError

if TYPE_CHECKING:
    from homenode.simulate.explain.explanation import Explanation
    from homenode.simulate.run import Run
    from homenode.simulate.trials import Trial


_PORTS = 20
"""Ports that are shown."""


class By(enum.StrEnum):
    """What an explanation counts in."""

    CORES = "cores"
    CPI = "cpi"


def explain(
    run: Annotated[
        str,
        typer.Argument(
            help="Run id, beginning of one, scenario name or latest; with the partition.",
            metavar="RUN[:PARTITION]",
            autocompletion=complete.runs,
        ),
    ] = "latest",
    other: Annotated[
        str | None,
        typer.Argument(
            help="Explain the difference of this one to the first.",
            metavar="[RUN[:PARTITION]]",
            autocompletion=complete.runs,
        ),
    ] = None,
    partition: OnlyPartitionOption = None,
    picture: PictureOption = None,
    dark: DarkOption = False,
    by: Annotated[
        By,
        typer.Option("--by", help="Count in cores or in cycles per instruction."),
    ] = By.CORES,
    traffic: Annotated[
        bool,
        typer.Option(
            "--traffic",
            help="Also what memory controllers, links and caches carried, busiest first.",
        ),
    ] = False,
    tries: Annotated[
        bool,
        typer.Option(
            "--try",
            help="Also simulate fewer virtual processors and more entitlement of a partition.",
        ),
    ] = False,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Where the cores went.

    Of one partition, of all partitions of a run, or the difference of two. Two that did different
    work are compared at equal work.
    """
    if partition is not None:
        run = _told_once(run, partition)
    explanations = find_explanations(run, other, out, by.value)
    trials = _trials(run, other, out) if tries else []
    if picture is not None:
        from homenode.report.pictures import waterfalls

        draw(waterfalls(explanations), picture, dark=dark)
    if as_json:
        answers = [explanation.as_json() for explanation in explanations]
        if trials:
            answers[0]["trials"] = [one.as_json() for one in trials]
        show_json(answers[0] if len(answers) == 1 else {"explanations": answers})
        return
    for explanation in explanations:
        show_explanation(explanation)
    if trials:
        from homenode.report.explanations import trials_table

        show(trials_table(trials))
    if traffic:
        _show_traffic(open_partition(run, out)[0])


def _trials(run: str, other: str | None, out: str) -> list[Trial]:
    """What is simulated for `--try`, with progress."""
    from homenode.cli.progress import progress_bar
    from homenode.simulate.trials import tried

    kept, partition = open_partition(run, out)
    if other is not None or (partition is None and len(kept.partitions) > 1):
        one = kept.partitions[0] if partition is None else partition
        raise HomenodeError(
            "--try takes one partition of one run", next_step=f"write {kept.name}:{one} --try"
        )
    with progress_bar(f"trying {kept.name}") as progress:

        def each(done: float, doing: str) -> None:
            if progress is not None:
                progress(done, None, doing)

        return tried(kept, partition, each=each)


def _show_traffic(run: Run) -> None:
    """What lines travel through, the most used first."""
    from homenode.report.fabric import traffic_table

    show(traffic_table(run.traffic()[:_PORTS]))


def _told_once(run: str, partition: str) -> str:
    """`RUN:PARTITION`, of a run that does not name one itself."""
    if partition.endswith((".svg", ".png")):
        raise NotFoundError(
            f"-p {partition}: -p names a partition", next_step=f"write --picture {partition}"
        )
    name, colon, other = run.partition(":")
    if colon and other != partition:
        raise HomenodeError(
            f"the partition is {other} and {partition}", next_step="name it once, with : or with -p"
        )
    return f"{name}:{partition}"


def find_explanations(first: str, second: str | None, root: str, by: str) -> list[Explanation]:
    """The explanations two arguments ask for; a run without a partition stands for all of its
    partitions.
    """
    from homenode.simulate.explain.explanation import explain as explain_run

    run, partition = open_partition(first, root)
    if second is not None:
        other, other_partition = open_partition(second, root)
        mine, theirs = _matched(other, other_partition), _matched(run, partition)
        return [explain_run(other, mine or partition, run, theirs or other_partition, by=by)]
    partitions = run.partitions if partition is None else [partition]
    return [explain_run(run, name, by=by) for name in partitions]


def _matched(run: Run, partition: str | None) -> str | None:
    """The partition named, or the only one there is; None where the other's name must do."""
    if partition is None and len(run.partitions) == 1:
        return run.partitions[0]
    return partition


def open_partition(text: str, root: str) -> tuple[Run, str | None]:
    """`RUN:PARTITION` or `RUN`."""
    from homenode.simulate.run import Run

    name, _, partition = text.partition(":")
    run = Run.load(name or "latest", root)
    return run, run.partition(partition) if partition else None


def show_explanation(explanation: Explanation) -> None:
    """Table and paragraph."""
    from homenode.report.explanations import explanation_table

    show(explanation_table(explanation))
    show_text(["", explanation.paragraph, ""])
