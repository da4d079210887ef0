"""A scenario as a run folder keeps it: able to stand alone.

It says its name, which otherwise is that of its file and decides the random numbers, and files that
it names (a machine or a profile of one's own) lie beside it.
"""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from pathlib import PurePath

from homenode.errors import ScenarioError
from homenode.model.catalog.names import is_path
from homenode.model.document import Document, parse_document
from homenode.model.document.positions import Path
from homenode.model.scenario.scenario import Scenario

FOLDER = "files"
"""Folder for files that a scenario names, below the run folder."""
WORK_FILE = f"{FOLDER}/work.json"
"""The work that was found for the cores it takes."""


def stand_alone(scenario: Scenario, work: bytes | None = None) -> tuple[str, dict[str, bytes]]:
    """The text to keep, and by path below the run folder the files it names; `work` is what was
    found for those partitions that tell it by the cores it takes.
    """
    document = parse_document(scenario.text, scenario.source, ScenarioError)
    places = _named(document)
    names = _kept_names(dict.fromkeys(str(document.value(place)) for place in places))
    files = {kept: _content(scenario.folder / name) for name, kept in names.items()}
    text = document.text
    spots = document.positions.spots
    edits = [
        (spots[place], json.dumps(names[document.value(place)], ensure_ascii=False))
        for place in places
    ]
    if work is not None:
        files[WORK_FILE] = work
        edits += [(spots[place], _with_work(document, place)) for place in _by_cores(document)]
    # From the end, so that what stands before keeps its place.
    for spot, kept in sorted(edits, key=lambda pair: -(pair[0].value or 0)):
        text = text[: spot.value] + kept + text[spot.end :]
    if scenario.file.name is None:
        text = f"name = {json.dumps(scenario.name)}\n{text}"
    return text, files


def named_files(scenario: Scenario) -> list[str]:
    """The files that a scenario names, as it writes them."""
    document = parse_document(scenario.text, scenario.source, ScenarioError)
    return list(dict.fromkeys(str(document.value(place)) for place in _named(document)))


def _content(path: FilePath) -> bytes:
    """What is in a file that was read before, when the scenario was."""
    try:
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        step = "put it back, or load the scenario again"
        raise ScenarioError(f"{path} cannot be read any more: {reason}", next_step=step) from error


def _named(document: Document) -> list[Path]:
    """Where the scenario names a file."""
    places: list[Path] = [("machine", "file")]
    for row in range(len(document.data.get("partition", ()))):
        for workload in _workloads(document, row):
            profile: Path = (*workload, "profile")
            places += [profile, (*profile, "base")]
            if document.value((*workload, "kind")) == "trace":
                places.append((*workload, "file"))
        machines: Path = ("partition", row, "virtual_machine")
        for one in range(len(document.value(machines) or ())):
            if document.value((*machines, one, "workload", "kind")) == "trace":
                places.append((*machines, one, "workload", "file"))
        gangs: Path = ("partition", row, "guest", "daemons", "gangs")
        places += [(*gangs, at, "file") for at in range(len(document.value(gangs) or ()))]
    for workload in _told_by_cores(document):
        places += _of_cores(document, workload)
    return [
        place
        for place in places
        if isinstance(name := document.value(place), str)
        and (place[-1] in ("file", "work_file", "schedule") or is_path(name))
    ]


def _workloads(document: Document, row: int) -> list[Path]:
    """Where the workloads of a partition stand."""
    here: Path = ("partition", row, "workload")
    told = document.value(here)
    return [(*here, at) for at in range(len(told))] if isinstance(told, list) else [here]


def _of_cores(document: Document, workload: Path) -> list[Path]:
    """Where work told by the cores it takes may name a file. Its reference is not needed any more,
    for its work is kept.
    """
    schedule: Path = (*workload, "schedule")
    told = document.value(schedule)
    rows = range(len(told)) if isinstance(told, list) else ()
    return [(*workload, "work_file"), schedule, *((*schedule, row, "file") for row in rows)]


def _told_by_cores(document: Document) -> list[Path]:
    """Every workload that is told by the cores it takes, of partitions and virtual machines."""
    found: list[Path] = []
    for row, partition in enumerate(document.data.get("partition", ())):
        here: Path = ("partition", row)
        machines = partition.get("virtual_machine", ())
        found += [
            *_workloads(document, row),
            *((*here, "virtual_machine", one, "workload") for one in range(len(machines))),
        ]
    return [one for one in found if document.value((*one, "kind")) == "cores"]


def _by_cores(document: Document) -> list[Path]:
    """The kind of every workload whose work was found."""
    told = _told_by_cores(document)
    return [(*one, "kind") for one in told if document.value((*one, "work_file")) is None]


def _with_work(document: Document, place: Path) -> str:
    """The kind as it is written, followed by the file of its work: in the same line of a table
    within a line, else in a line of its own.
    """
    spot = document.positions.spots[place]
    within = document.text[spot.end :].lstrip(" \t")[:1] in (",", "}")
    return f'"cores"{", " if within else chr(10)}work_file = {json.dumps(WORK_FILE)}'


def _kept_names(names: dict[str, None]) -> dict[str, str]:
    """A path below the run folder for each name: its last part, numbered where that is taken."""
    kept: dict[str, str] = {}
    for number, name in enumerate(names):
        path = f"{FOLDER}/{PurePath(name).name}"
        kept[name] = path if path not in kept.values() else f"{FOLDER}/{number}-{path[6:]}"
    return kept
