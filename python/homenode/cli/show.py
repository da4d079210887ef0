"""`homenode show`: a machine with its partitions as a map, or a run over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli.importing import positive
from homenode.cli.layout import LATEST, LayoutArgument, layout, names_file
from homenode.cli.output import (
    DarkOption,
    JsonOption,
    OutOption,
    PictureOption,
    console,
    draw,
    show_json,
    show_whole,
)
from homenode.cli.output import show as show_tables
from homenode.errors import HomenodeError, InputError
from homenode.model.units import TIME, UnitError

if TYPE_CHECKING:
    from pathlib import Path

    from homenode.simulate.kept.kept_run import KeptRun


def show(
    which: LayoutArgument = LATEST,
    over_time: Annotated[
        bool, typer.Option("--over-time", help="Of a run: cores over time, and responses.")
    ] = False,
    replication: Annotated[
        int, typer.Option("--replication", help="With --over-time: which.", metavar="N")
    ] = 0,
    dispatches: Annotated[
        str | None,
        typer.Option(
            "--dispatches",
            help='Of a run: who was on which core from then, such as "3 s".',
            metavar="TIME",
        ),
    ] = None,
    lasting: Annotated[
        str, typer.Option("--lasting", help="With --dispatches: for how long.", metavar="TIME")
    ] = "1 s",
    picture: PictureOption = None,
    dark: DarkOption = False,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Show the machine as a map: who is where, what is free.

    Whose each core is, who is at home on which chip, where memory lies; of a run also the cores
    used on each chip, and how many dispatches were at home, near it and far from it. With
    --over-time what a run used in each interval, against entitlement, pool and capacity.
    """
    from homenode.simulate.kept.kept_run import KeptRun

    if (over_time or dispatches is not None) and names_file(which):
        raise HomenodeError(
            f"{which} is a scenario: only a run goes on over time",
            next_step=f"make one with `homenode run {which}` and name it",
        )
    if dispatches is not None:
        stretch = (_time("--dispatches", dispatches), positive("--lasting", lasting, TIME))
        drawn = (picture, dark)
        _dispatches(which, out, replication, stretch, drawn, as_json=as_json)
        return
    if over_time:
        _over_time(KeptRun.load(which, out), replication, (picture, dark), as_json=as_json)
        return
    from homenode.report.machine_map import map_of

    scenario = next(iter(layout(which, out).expand()))
    told = map_of(scenario, None if names_file(which) else KeptRun.load(which, out))
    if picture is not None:
        from homenode.report.machine_drawing import MachineDrawing

        draw(MachineDrawing(told), picture, dark=dark)
    if as_json:
        show_json(told)
        return
    from homenode.report.map_text import map_lines, map_tables

    show_whole("\n".join([*map_lines(told, console().width), ""]))
    show_tables(*map_tables(told))


def _over_time(
    run: KeptRun, replication: int, drawn: tuple[Path | None, bool], *, as_json: bool
) -> None:
    from homenode.simulate.kept.course import course_of

    told = course_of(run, replication)
    picture, dark = drawn
    if picture is not None:
        from homenode.report.course_pictures import course_picture

        draw(course_picture(told), picture, dark=dark)
    if as_json:
        show_json(told)
        return
    from homenode.report.courses import course_tables

    show_tables(*course_tables(told, console().width))


def _time(option: str, text: str) -> int:
    """A moment, which may be the first [ns]."""
    try:
        return int(TIME.parse(text))
    except UnitError as error:
        raise InputError(f"{option}: {error}", next_step=f'write {option} "3 s"') from error


def _dispatches(
    which: str,
    out: str,
    replication: int,
    stretch: tuple[int, int],
    drawn: tuple[Path | None, bool],
    *,
    as_json: bool,
) -> None:
    from homenode.report.dispatches import stretch_of, stretch_picture, stretch_table
    from homenode.simulate.run import Run

    told = stretch_of(Run.load(which, out), replication, *stretch)
    picture, dark = drawn
    if picture is not None:
        draw(stretch_picture(told), picture, dark=dark)
    if as_json:
        show_json(told)
        return
    show_tables(stretch_table(told))
