"""`homenode import`: recordings and listings of real servers made into a scenario."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli import complete
from homenode.cli.output import JsonOption, show_json, tell
from homenode.cli.progress import progress_bar
from homenode.errors import InputError

if TYPE_CHECKING:
    from homenode.model.units import Kind
    from homenode.records.importing.assemble import Assembled, AssembleOptions
    from homenode.records.importing.facts import Facts
    from homenode.records.importing.opening.bounds import Limits

PathsArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Recordings, listings, dumps of /proc and /sys; folders and archives of them.",
        metavar="PATH...",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="Folder to make; of vparstatus listings, the scenario file.",
        metavar="FOLDER",
    ),
]
MachineOption = Annotated[
    str | None,
    typer.Option("--machine", help="Machine, if no recording names it.", metavar="MODEL"),
]
SystemOption = Annotated[
    str | None,
    typer.Option("--system", help="Server to take, if several were recorded.", metavar="KEY"),
]
CpusOption = Annotated[
    int | None,
    typer.Option(
        "--cpus",
        help="Logical processors of the host, if no recording tells (vmstat).",
        metavar="N",
    ),
]
StepOption = Annotated[
    str | None,
    typer.Option("--step", help="Simulated time for which a window is played.", metavar="TIME"),
]
WindowOption = Annotated[
    str | None,
    typer.Option("--window", help="Recorded time that makes a window.", metavar="TIME"),
]
ConvertOption = Annotated[
    bool,
    typer.Option(
        "--convert/--no-convert",
        help="Try the scenario to find the work that recorded cores were.",
    ),
]
UnpackedOption = Annotated[
    str | None,
    typer.Option(
        "--unpacked", help="What archives may unpack to; 16 GiB if not given.", metavar="SIZE"
    ),
]
TablesOption = Annotated[
    Path | None,
    typer.Option(
        "--tables",
        help="Keep all sections of recordings as Parquet there; make no scenario.",
        metavar="FOLDER",
    ),
]


def import_recordings(
    paths: PathsArgument,
    output: OutputOption = None,
    machine: MachineOption = None,
    system: SystemOption = None,
    cpus: CpusOption = None,
    profile: Annotated[
        str,
        typer.Option(
            "--profile",
            help="Work profile of the recorded demand.",
            metavar="NAME",
            autocompletion=complete.profiles,
        ),
    ] = "oltp",
    step: StepOption = None,
    window: WindowOption = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the scenario.", metavar="NAME")
    ] = None,
    convert: ConvertOption = True,
    unpacked: UnpackedOption = None,
    tables: TablesOption = None,
    look: Annotated[
        bool, typer.Option("--look", help="Say what the files are; make no scenario.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make a scenario of recordings of servers.

    Of what their tools recorded or list. Says what was taken and what was left and why. The folder
    holds scenario.toml and the recorded demand; listings of virtual partitions are printed as a
    scenario if no file is named.
    """
    from homenode.records.importing import import_paths, read_paths
    from homenode.records.importing.front import MOST_PROCESSORS

    limits = limits_of(unpacked)
    if cpus is not None and not 0 < cpus <= MOST_PROCESSORS:
        raise InputError(
            f"--cpus: {cpus} is no number of processors of a host",
            next_step=f"give one from 1 to {MOST_PROCESSORS}",
        )
    if look:
        _tell_reading(read_paths(paths, limits, cpus), as_json=as_json)
        return
    if tables is not None:
        _keep_tables(paths, tables, limits, force=force, as_json=as_json)
        return
    options = _options(name, machine, system, profile, step, window, convert=convert)
    with progress_bar(f"importing {paths[0].name}") as progress:
        assembled = import_paths(
            paths,
            options,
            limits=limits,
            processors=cpus,
            progress=progress,
            reading=None if as_json else _tell_facts,
        )
    if assembled.is_one_file:
        _answer_layout(assembled, output, as_json=as_json)
        return
    folder = output or _default_folder(paths)
    assembled.save(folder, force=force)
    _answer(assembled, folder / "scenario.toml", as_json=as_json)


def _options(
    name: str | None,
    machine: str | None,
    system: str | None,
    profile: str,
    step: str | None,
    window: str | None,
    *,
    convert: bool,
) -> AssembleOptions:
    from homenode.records.importing.assemble import AssembleOptions

    return AssembleOptions(
        name=name,
        machine=machine,
        system=system,
        profile=profile,
        step_ns=_duration("--step", step),
        window_ns=_duration("--window", window),
        convert=convert,
    )


def _duration(option: str, text: str | None) -> int | None:
    from homenode.model.units import TIME

    return None if text is None else positive(option, text, TIME)


def limits_of(unpacked: str | None) -> Limits:
    """Bounds of what archives may unpack to."""
    from homenode.model.units import SIZE
    from homenode.records.importing.opening.bounds import Limits

    return Limits() if unpacked is None else Limits(positive("--unpacked", unpacked, SIZE))


def positive(option: str, text: str, kind: Kind) -> int:
    """A quantity above 0 in its base unit."""
    from homenode.model.units import UnitError

    try:
        value = int(kind.parse(text))
    except UnitError as error:
        raise InputError(f"{option}: {error}") from error
    if value <= 0:
        step = f"write it like '{kind.example}'"
        raise InputError(f"{option}: {text} is no {kind.name} above 0", next_step=step)
    return value


def _tell_facts(facts: Facts) -> None:
    from homenode.records.importing.telling import sentences

    for line in sentences(facts):
        tell(line)


def _tell_reading(facts: Facts, *, as_json: bool) -> None:
    from homenode.records.importing.telling import summary

    if as_json:
        show_json(summary(facts))
    else:
        _tell_facts(facts)


def _keep_tables(
    paths: list[Path], folder: Path, limits: Limits, *, force: bool, as_json: bool
) -> None:
    from homenode.records.importing.tables import write_tables

    files = write_tables(paths, folder, limits=limits, force=force)
    if as_json:
        show_json({"files": [str(file) for file in files]})
    else:
        tell(f"{folder}: {len(files)} files")


def _default_folder(paths: list[Path]) -> Path:
    """A folder here that is called like the recording."""
    only = paths[0].resolve() if len(paths) == 1 else Path("imported")
    name = only.name.split(".", 1)[0] or "imported"
    return Path(f"{name}-imported" if only.is_dir() else name)


def _answer_layout(assembled: Assembled, output: Path | None, *, as_json: bool) -> None:
    """A scenario that is one file is printed, unless a file is named for it."""
    if output is not None:
        assembled.save_file(output)
    _answer(assembled, output, as_json=as_json)
    if output is None and not as_json:
        sys.stdout.write(assembled.text)


def _answer(assembled: Assembled, scenario: Path | None, *, as_json: bool) -> None:
    if as_json:
        from homenode.records.importing.telling import note_data, summary

        read = summary(assembled.facts)
        read["notes"] += [note_data(notice) for notice in assembled.notices]
        text = {"text": assembled.text} if assembled.is_one_file else {}
        file = None if scenario is None else str(scenario)
        show_json({"scenario": file, **text, **assembled.summary(), **read})
        return
    from homenode.records.importing.telling import noted

    for line in noted(assembled.notices):
        tell(line)
    if scenario is not None:
        count = len(assembled.scenario.partitions)
        plural = "s" if count > 1 else ""
        tell(f"{scenario}: {count} partition{plural} of {assembled.scenario.machine.title}")
