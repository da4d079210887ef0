"""`homenode show`: a machine with its partitions as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.cli.layout import LATEST, LayoutArgument, layout, names_file
from homenode.cli.output import (
    JsonOption,
    OutOption,
    PictureOption,
    console,
    show_json,
    show_whole,
    tell,
)
from homenode.cli.output import show as show_tables

if TYPE_CHECKING:
    from pathlib import Path

    from homenode.report.machine_map import MachineMap


def show(
    which: LayoutArgument = LATEST,
    picture: PictureOption = None,
    out: OutOption = "runs",
    as_json: JsonOption = False,
) -> None:
    """Show the machine as a map: who is where, what is free.

    Whose each core is, who is at home on which chip, where memory lies; of a run also the cores
    used on each chip, and how many dispatches were at home, near it and far from it.
    """
    from homenode.report.machine_map import map_of
    from homenode.simulate.kept.kept_run import KeptRun

    scenario = next(iter(layout(which, out).expand()))
    told = map_of(scenario, None if names_file(which) else KeptRun.load(which, out))
    if picture is not None:
        _draw(told, picture)
    if as_json:
        show_json(told)
        return
    from homenode.report.map_text import map_lines, map_tables

    show_whole("\n".join([*map_lines(told, console().width), ""]))
    show_tables(*map_tables(told))


def _draw(told: MachineMap, picture: Path) -> None:
    from homenode.report.map_pictures import map_picture
    from homenode.report.pictures import save_picture

    tell(f"drew {save_picture(map_picture(told), picture)}")
