"""Which folders are kept runs, and which of them someone means.

A run folder is known by the provenance that is written into it last, not by its name: people put
other folders beside their runs, rename them and copy them.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path

from homenode.errors import NotFoundError, nearest
from homenode.simulate.kept.store import PROVENANCE, runs_folder

LATEST = "latest"
STUDIES = "studies"
"""Folder below that of the runs, with a folder for each study."""
_OURS = (PROVENANCE, "spec.json", "summary.json", "replications.json")
"""Files of which a damaged run may have kept one; a folder without any is none of ours."""


def run_folders(root: str | Path) -> list[Path]:
    """All folders that are runs or were, newest first; copies too."""
    try:
        there = [one for one in runs_folder(root).iterdir() if not one.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = [one for one in there if _may_be_run(one)]
    return sorted(found, key=lambda one: (-_written_at(one), one.name))


def _may_be_run(folder: Path) -> bool:
    """Whether a file of a run lies in it; what may not be looked into is told as such when read."""
    try:
        return any((folder / name).is_file() for name in _OURS)
    except PermissionError:
        return True


def folder_of_study(root: str | Path, study: str) -> Path:
    """Where a study keeps its runs: apart, so that they are never the latest of one's own."""
    return runs_folder(root) / STUDIES / study


def _written_at(folder: Path) -> float:
    """Time of the provenance [s]; long ago where it is missing."""
    with contextlib.suppress(OSError):
        return (folder / PROVENANCE).stat().st_mtime
    return 0.0


def run_of(folder: Path) -> str | None:
    """The id of the run that a folder holds; None if it does not say."""
    run = _told(folder).get("run")
    return run if isinstance(run, str) else None


def _told(folder: Path) -> dict[str, object]:
    """What a folder says of where it is from; nothing if that cannot be read."""
    try:
        told = json.loads((folder / PROVENANCE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def original(folder: Path) -> Path | None:
    """The folder of which this is a copy: the one beside it that is called like the run."""
    run = run_of(folder)
    if run is None or run == folder.name or Path(run).name != run:
        return None
    beside = folder.with_name(run)
    return beside if run_of(beside) == run else None


def find(which: str | Path, root: str | Path) -> Path:
    """The folder of a run, by its path, its name, the id of the run, a unique beginning, the name
    of the scenario (its newest run; layouts that advice or a reader changed have that name too, and
    come after those that are as in the file) or `latest`, which is no copy. Runs of studies answer
    to their names, but where a run beside does. Raises `NotFoundError`.
    """
    folder = Path(which)
    if folder.is_dir() and (isinstance(which, Path) or "/" in str(which)):
        return folder
    folders, name = run_folders(root), str(which)
    if name == LATEST and folders:
        return next((one for one in folders if original(one) is None), folders[0])
    of_studies = [] if name == LATEST else _of_studies(root)
    found = _called(name, folders) or _called(name, of_studies)
    if found is not None:
        return found
    if not folders:
        raise NotFoundError(
            f"there is no run {name}: {root} holds none; make one with `homenode run SCENARIO`"
        )
    there = [one.name for one in (*folders, *of_studies)]
    raise NotFoundError(f"there is no run {name} in {root}{nearest(name, there)}")


def _called(name: str, folders: Sequence[Path]) -> Path | None:
    """The one that a name means; None if it means none."""
    exact = [one for one in folders if one.name == name]
    of_scenario = [one for one in folders if one.name.rpartition("-")[0] == name]
    beginning = [one for one in folders if name and one.name.startswith(name)]
    if exact or of_scenario:
        as_read = (one for one in of_scenario if not _told(one).get("changes"))
        return exact[0] if exact else next(as_read, of_scenario[0])
    if len(beginning) > 1:
        names = ", ".join(one.name for one in beginning[:8])
        raise NotFoundError(f"{name} could be any of the runs {names}; write more of the id")
    renamed = [one for one in folders if run_of(one) == name] if not beginning else []
    return next(iter(beginning or renamed), None)


def _of_studies(root: str | Path) -> list[Path]:
    """Runs of all studies, newest first."""
    try:
        studies = list((runs_folder(root) / STUDIES).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = [one for study in studies for one in run_folders(study)]
    return sorted(found, key=lambda one: (-_written_at(one), one.name))
