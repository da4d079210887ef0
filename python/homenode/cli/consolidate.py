"""`homenode consolidate`."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli import complete
from homenode.cli.importing import CpusOption, PathsArgument, UnpackedOption, limits_of, positive
from homenode.cli.output import (
    DarkOption,
    JsonOption,
    PictureOption,
    draw,
    show,
    show_json,
    show_text,
    tell,
)
from homenode.cli.progress import progress_bar
from homenode.errors import InputError

if TYPE_CHECKING:
    from homenode.planner.consolidation.answer import Consolidation


class Gaps(enum.StrEnum):
    """What counts where a partition was not recorded."""

    PEAK = "peak"
    ZERO = "zero"
    LEAVE_OUT = "leave-out"


OntoOption = Annotated[
    list[str],
    typer.Option(
        "--onto", help="Machines they go to, such as ibm-power-e1080x2.", metavar="MACHINE[xN]"
    ),
]
CoresOption = Annotated[
    int | None,
    typer.Option("--cores", min=1, help="Cores of each machine that are in use.", metavar="N"),
]
MemoryOption = Annotated[
    str | None, typer.Option("--memory", help="Memory of each machine.", metavar="SIZE")
]
PercentileOption = Annotated[
    float, typer.Option("--percentile", help="Of all steps, that peaks are.", metavar="P")
]
HeadroomOption = Annotated[
    str | None,
    typer.Option("--headroom", help='Cores that stay unused, such as "20%".', metavar="SHARE"),
]
HoursOption = Annotated[
    str | None, typer.Option("--hours", help="Only these hours, such as 8-18.", metavar="H-H")
]
DaysOption = Annotated[
    str | None, typer.Option("--days", help="Only these days, such as mon-fri.", metavar="DAYS")
]
ZoneOption = Annotated[
    list[str] | None,
    typer.Option(
        "--zone",
        help="Time zone that hours are told in; with NAME=, in which that was recorded.",
        metavar="[NAME=]ZONE",
    ),
]
FromOption = Annotated[
    list[str] | None,
    typer.Option("--from", help="Machine that was recorded.", metavar="NAME=MACHINE"),
]
RatingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rating",
        help="What a core is worth (rPerf, MIPS, SAPS) of what was recorded and of the targets.",
        metavar="NAME=N[/CORES]",
    ),
]
ProfileOption = Annotated[
    str,
    typer.Option(
        "--profile",
        help="Work by which the cost model compares machines.",
        metavar="NAME",
        autocompletion=complete.profiles,
    ),
]
GrowthOption = Annotated[
    str | None,
    typer.Option(
        "--growth", help="Growth in place of the recorded one, such as 2%/month.", metavar="RATE"
    ),
]
GapsOption = Annotated[
    Gaps, typer.Option("--gaps", help="What counts where a partition was not recorded.")
]
ApartOption = Annotated[
    list[str] | None,
    typer.Option("--apart", help="Never on one machine.", metavar="NAME,NAME"),
]
StepOption = Annotated[
    str | None,
    typer.Option("--step", help="Length of a step; that of the samples if not given."),
]
FolderOption = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Folder for a scenario of each machine.", metavar="FOLDER"),
]


def consolidate(
    paths: PathsArgument,
    onto: OntoOption,
    cores: CoresOption = None,
    memory: MemoryOption = None,
    percentile: PercentileOption = 97.0,
    headroom: HeadroomOption = None,
    hours: HoursOption = None,
    days: DaysOption = None,
    zone: ZoneOption = None,
    recorded_on: FromOption = None,
    rating: RatingOption = None,
    profile: ProfileOption = "oltp",
    growth: GrowthOption = None,
    gaps: GapsOption = Gaps.PEAK,
    apart: ApartOption = None,
    step: StepOption = None,
    cpus: CpusOption = None,
    seed: Annotated[
        int, typer.Option("--seed", "-s", min=0, help="Seed of the search.", metavar="N")
    ] = 1,
    unpacked: UnpackedOption = None,
    output: FolderOption = None,
    picture: PictureOption = None,
    dark: DarkOption = False,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Where recorded partitions go, and the cores they need.

    Says what is left: cores, days, how many more of which partition, and what a lost machine or
    node would leave. With -o, writes a scenario of each machine at its fullest, for advise.
    """
    from homenode.model.units import SIZE, TIME
    from homenode.planner.consolidation.asked import Asked
    from homenode.planner.consolidation.front import Consolidating
    from homenode.planner.consolidation.layouts import save

    zones, told = _zones(zone or [])
    asked = Asked(
        percentile=percentile,
        headroom=_share(headroom),
        cores=cores,
        memory_bytes=None if memory is None else positive("--memory", memory, SIZE),
        hours=hours,
        days=days,
        zone=told,
        zones=zones,
        machines=_pairs("--from", recorded_on or [], "MACHINE"),
        ratings=tuple(rating or ()),
        profile=profile,
        growth=growth,
        gaps=gaps.value,
        step_s=None if step is None else positive("--step", step, TIME) / 1e9,
        apart=tuple(_group(one) for one in apart or ()),
        seed=seed,
    )
    if picture is not None:
        from homenode.report.pictures import picture_path

        picture_path(picture)
    with progress_bar(f"consolidating {paths[0].name}") as progress:
        work = Consolidating(paths, onto, asked, limits_of(unpacked), cpus, progress)
        found = work.answer()
    files = [] if output is None else save(work, output, force=force)
    if picture is not None:
        from homenode.report.consolidation_pictures import consolidation_picture

        draw(consolidation_picture(found), picture, dark=dark)
    if as_json:
        show_json({**found.as_json(), "scenarios": [str(file) for file in files]})
        return
    _show(found)
    for file in files:
        tell(f"{file}: the fullest moment of it; homenode advise {file}")


def _show(found: Consolidation) -> None:
    from homenode.report.consolidation import (
        answer_lines,
        binding_lines,
        legend,
        machines_table,
        note_lines,
        partitions_table,
    )

    show_text([*answer_lines(found), *binding_lines(found), ""])
    show(machines_table(found))
    show_text([""])
    show(partitions_table(found))
    show_text(legend(found))
    for line in note_lines(found):
        tell(line)


def _share(text: str | None) -> float:
    from homenode.model.units import SHARE, UnitError

    try:
        return 0.0 if text is None else float(SHARE.parse(text))
    except UnitError as error:
        raise InputError(f"--headroom {text}: {error}", next_step='write it like "20%"') from error


def _zones(texts: Sequence[str]) -> tuple[dict[str, str], str]:
    """Zones of recordings by pattern, and the one in which is told."""
    of = _pairs("--zone", [one for one in texts if "=" in one], "ZONE")
    plain = [one for one in texts if "=" not in one]
    if len(plain) > 1:
        raise InputError(f"--zone: hours are told in one zone, not in {' and '.join(plain)}")
    return of, plain[0] if plain else "UTC"


def _pairs(option: str, texts: Sequence[str], what: str) -> dict[str, str]:
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name.strip() or not value.strip():
            raise InputError(f"{option} {text}", next_step=f"write {option} NAME={what}")
        found[name.strip()] = value.strip()
    return found


def _group(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if len(names) < 2:
        raise InputError(
            f"--apart {text}: one alone is apart already", next_step="name two or more"
        )
    return names
