"""`homenode partition-table`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli import complete
from homenode.cli.output import (
    DarkOption,
    JsonOption,
    PictureOption,
    draw,
    show,
    show_json,
    show_text,
)
from homenode.errors import HomenodeError

if TYPE_CHECKING:
    from homenode.evidence.capability import CapabilityTable, Prediction


def partition_table(
    table: Annotated[
        str,
        typer.Argument(
            help=(
                "Capability factors: a table by name, a .toml of your own, or a sysinfo text; with"
                " --predict a machine."
            ),
            metavar="TABLE",
            autocompletion=complete.factors,
        ),
    ],
    processors: Annotated[
        str | None,
        typer.Option("--processors", help="Sizes that are compared.", metavar="N,N,..."),
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option("--parts", help="Numbers of equal partitions.", metavar="N,N,..."),
    ] = None,
    total: Annotated[
        int | None,
        typer.Option(
            "--total",
            help="Processors that are divided; the largest size if not given.",
            metavar="N",
        ),
    ] = None,
    interpolate: Annotated[
        bool,
        typer.Option("--interpolate", help="Draw a line between points, predict beyond the last."),
    ] = False,
    predict: Annotated[
        bool,
        typer.Option("--predict", help="Predict the factors from the machine's topology."),
    ] = False,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            help="Work that is predicted for.",
            metavar="NAME",
            autocompletion=complete.profiles,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option("--threads", help="Threads of a core that are busy (1).", metavar="N"),
    ] = None,
    layout: Annotated[
        Path | None,
        typer.Option("--layout", help="Where processors go, in place of ours.", metavar="FILE"),
    ] = None,
    picture: PictureOption = None,
    dark: DarkOption = False,
    as_json: JsonOption = False,
) -> None:
    """What a large partition is worth beside smaller ones.

    Capability of partitions by their processors, and of one large partition against several small
    ones of as many processors, from a table of capacity adjustment factors (CAF), or with
    --predict from what an instruction costs on so many processors of a machine.
    """
    wanted = _numbers(processors, "--processors")
    prediction = _prediction(table, profile, layout, threads) if predict else None
    if prediction is None:
        only: dict[str, object] = {"--profile": profile, "--threads": threads, "--layout": layout}
        read = _published(table, only, beyond=interpolate)
    else:
        read = prediction.table(max([prediction.largest, *wanted, total or 0]))
    if picture is not None:
        _draw(read, picture, dark=dark)
    choice = _Choice(wanted, total, _numbers(parts, "--parts"), interpolate)
    _show(read, prediction, choice, as_json=as_json)


@dataclass(frozen=True)
class _Choice:
    """Which sizes and divisions are asked for; those not given follow from the table."""

    processors: list[int]
    total: int | None
    parts: list[int]
    interpolate: bool


def _show(
    read: CapabilityTable, prediction: Prediction | None, choice: _Choice, *, as_json: bool
) -> None:
    """The tables, or the same as data."""
    from homenode.evidence import capability
    from homenode.report import partition_table as report

    between = choice.interpolate
    asked = choice.processors or capability.default_sizes(read)
    whole = max(asked) if choice.total is None else choice.total
    counts = choice.parts or capability.default_parts(read, whole, interpolate=between)
    sizes = capability.sizes(read, asked, interpolate=between)
    splits = capability.splits(read, whole, counts, interpolate=between)
    if as_json:
        show_json(report.capability_json(read, sizes, splits))
        return
    causes = [] if prediction is None else [report.cause_table(prediction, sizes)]
    show(report.size_table(read, sizes), report.split_table(read, splits), *causes)
    factors = [size.factor for size in sizes] + [split.factor for split in splits]
    show_text(["", *report.capability_lines(read, factors), *report.other_sides(splits)])


def _draw(read: CapabilityTable, picture: Path, *, dark: bool) -> None:
    """The curve as a file."""
    from homenode.report.partition_table import capability_curve

    draw(capability_curve(read), picture, dark=dark)


def _published(name: str, options: dict[str, object], *, beyond: bool) -> CapabilityTable:
    """A table of factors, `beyond` its last point as its machine's description predicts; refuses
    what has a meaning for predictions only.
    """
    from homenode.evidence import capability

    _only_with_predict(options)
    table = capability.capability_table(name)
    if not beyond or table.machine is None:
        return table
    return capability.Curve(table.machine, table).reaching() or table


def _prediction(
    name: str, profile: str | None, layout: Path | None, threads: int | None
) -> Prediction:
    """The prediction of a machine; a table's name stands for its machine."""
    from homenode.evidence import capability

    machine = name
    if name in capability.capability_tables():
        machine = capability.capability_table(name).machine or name
    work = profile or capability.REFERENCE
    busy = 1 if threads is None else threads
    return capability.Prediction.of(machine, work, layout, threads=busy)


def _only_with_predict(options: dict[str, object]) -> None:
    """Refuses what has a meaning for predictions only."""
    for option, value in options.items():
        if value is not None:
            raise HomenodeError(
                f"{option} {value} has a meaning with --predict only",
                next_step=f"add --predict, or leave {option} out",
            )


def _numbers(text: str | None, option: str) -> list[int]:
    """The whole numbers of a list with commas; none if nothing was given."""
    if text is None:
        return []
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise HomenodeError(
                f"{option} {text}: {word or 'nothing'} is not a plain whole number",
                next_step=f"write numbers with commas, such as {option} 1,2,4",
            )
    return [int(word) for word in words]
