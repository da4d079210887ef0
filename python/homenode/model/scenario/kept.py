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


def stand_alone(scenario: Scenario) -> tuple[str, dict[str, bytes]]:
    """The text to keep, and by path below the run folder the files it names."""
    document = parse_document(scenario.text, scenario.source, ScenarioError)
    places = _named(document)
    names = _kept_names(dict.fromkeys(str(document.value(place)) for place in places))
    files = {kept: _content(scenario.folder / name) for name, kept in names.items()}
    text = document.text
    spots = [(document.positions.spots[place], names[document.value(place)]) for place in places]
    # From the end, so that what stands before keeps its place.
    for spot, kept in sorted(spots, key=lambda pair: -(pair[0].value or 0)):
        text = text[: spot.value] + json.dumps(kept, ensure_ascii=False) + text[spot.end :]
    if scenario.file.name is None:
        text = f"name = {json.dumps(scenario.name)}\n{text}"
    return text, files


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
        profile: Path = ("partition", row, "workload", "profile")
        places += [profile, (*profile, "base")]
        if document.value(("partition", row, "workload", "kind")) == "trace":
            places.append(("partition", row, "workload", "file"))
        gangs: Path = ("partition", row, "guest", "daemons", "gangs")
        places += [(*gangs, at, "file") for at in range(len(document.value(gangs) or ()))]
    return [
        place
        for place in places
        if isinstance(name := document.value(place), str) and (place[-1] == "file" or is_path(name))
    ]


def _kept_names(names: dict[str, None]) -> dict[str, str]:
    """A path below the run folder for each name: its last part, numbered where that is taken."""
    kept: dict[str, str] = {}
    for number, name in enumerate(names):
        path = f"{FOLDER}/{PurePath(name).name}"
        kept[name] = path if path not in kept.values() else f"{FOLDER}/{number}-{path[6:]}"
    return kept
