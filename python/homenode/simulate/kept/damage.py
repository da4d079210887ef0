"""Reading a run folder that may be damaged: which file, what is wrong with it, what to do.

The provenance of a run holds size and SHA-256 of every other file. The small files are compared
when a run is opened; of the tables only the size, and the rest when they are read.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from homenode.errors import DamagedRunError
from homenode.simulate.answers import RunFiles
from homenode.simulate.kept.reading import NEXT, reading, unreadable
from homenode.simulate.kept.store import PROVENANCE, fingerprint

_MAGIC = b"PAR1"


def read_files(folder: Path, names: Sequence[str], tables: Iterable[Path]) -> RunFiles:
    """The JSON files of a run folder by name, after a look at its tables."""
    if not folder.is_dir():
        raise DamagedRunError(f"{folder} is not a run folder")
    with reading(folder):
        if not any((folder / name).exists() for name in names) and folder.is_dir():
            raise DamagedRunError(f"{folder} holds no run: there is none of a run's files in it")
    files = {name: _read_json(folder, name) for name in names}
    written = _written(folder, files[PROVENANCE])
    for name in names:
        if name != PROVENANCE:
            _compare(folder, name, written, whole=True)
    found = cast(RunFiles, files)
    check_tables(folder, tables, found[PROVENANCE])
    return found


def check_tables(folder: Path, tables: Iterable[Path], provenance: Mapping[str, object]) -> None:
    """A look at tables that not every run has."""
    written = _written(folder, provenance)
    for table in tables:
        _check_table(folder, table)
        _compare(folder, table.relative_to(folder).as_posix(), written, whole=False)


def earlier_version(folder: Path) -> DamagedRunError:
    """A run whose tables lack causes that are now told apart."""
    return DamagedRunError(
        f"{folder} was kept by an earlier version of homenode, which told fewer causes apart",
        next_step=f"simulate it again: homenode run {folder / 'scenario.toml'}",
    )


def refuse_earlier(folder: Path, spec: Mapping[str, object]) -> None:
    """Refuse a run of an earlier version: its figures are no longer comparable. Its scenario file
    is still a scenario.
    """
    machine = spec.get("machine")
    if isinstance(machine, Mapping) and "stores" not in machine:
        raise earlier_version(folder)


def check_whole(folder: Path, table: Path, provenance: Mapping[str, object]) -> None:
    """Whether a table that is about to be read is as it was written."""
    written = _written(folder, provenance)
    _compare(folder, table.relative_to(folder).as_posix(), written, whole=True)


def _written(folder: Path, provenance: object) -> Mapping[str, Mapping[str, object]]:
    """The fingerprints a run was kept with."""
    written = provenance.get("files") if isinstance(provenance, dict) else None
    if not isinstance(written, dict) or not all(isinstance(f, dict) for f in written.values()):
        raise DamagedRunError(
            f"{folder / PROVENANCE} is damaged: it does not say how the files were written; {NEXT}"
        )
    return written


def _compare(
    folder: Path, name: str, written: Mapping[str, Mapping[str, object]], *, whole: bool
) -> None:
    path, then = folder / name, written.get(name, {})
    with reading(folder):
        size = path.stat().st_size
    if size != then.get("bytes"):
        raise DamagedRunError(
            f"{path} is damaged: it has {size} bytes, {then.get('bytes', 'none')} were written; "
            f"{NEXT}"
        )
    if not whole:
        return
    with reading(folder):
        digest = fingerprint(path)["sha256"]
    if digest != then.get("sha256"):
        raise DamagedRunError(f"{path} is damaged: it is not what was written; {NEXT}")


def _read_json(folder: Path, name: str) -> object:
    path = folder / name
    try:
        with reading(folder):
            text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DamagedRunError(f"{path} cannot be read ({error}); {NEXT}") from error
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        where = (
            f"{error.msg.removesuffix(' at')} at line {error.lineno}, column {error.colno}"
            if isinstance(error, json.JSONDecodeError)
            else "nested too deeply"
        )
        raise DamagedRunError(f"{path} is damaged: {where}; {NEXT}") from error


def _check_table(folder: Path, path: Path) -> None:
    """A look at both ends of a Parquet file: one that was cut off or is foreign shows there."""
    try:
        with path.open("rb") as file:
            ends = file.read(len(_MAGIC))
            file.seek(-min(len(_MAGIC), path.stat().st_size), os.SEEK_END)
            ends += file.read()
    except FileNotFoundError:
        raise unreadable(folder, FileNotFoundError(errno.ENOENT, "", str(path))) from None
    except PermissionError as error:
        raise unreadable(folder, error) from error
    except OSError as error:
        raise DamagedRunError(f"{path} is damaged: {error.strerror}; {NEXT}") from error
    if ends != _MAGIC + _MAGIC:
        raise DamagedRunError(
            f"{path} is damaged: it does not begin and end as a Parquet file; {NEXT}"
        )
