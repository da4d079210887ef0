"""Run folders on disk: written under a temporary name and renamed when complete, so that none is
ever half there.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from homenode.errors import StoreError
from homenode.simulate.answers import Fingerprint
from homenode.staging import staging

INTERVAL_TABLES = ("partition", "cpu", "pool")
"""Tables that every run has."""
GUEST_TABLES = ("virtual_machine", "switch", "volume")
"""Interval tables of runs with a partition whose guest runs virtual machines."""
PROVENANCE: Final = "provenance.json"
"""File of a run folder that is written last."""
_DRAFT = "run"
_TRIES = 8
_FULL = (None, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors that say a disk or a quota is full; Arrow's carry no number."""


def runs_folder(out: str | Path) -> Path:
    """The folder that keeps runs. Raises `StoreError` for a word that names none."""
    if not str(out):
        raise StoreError(
            "the folder of the runs has no name",
            next_step="write `.` for this one, or leave it out for `runs`",
        )
    try:
        named = b"\0" not in str(out).encode()
    except UnicodeEncodeError:
        named = False
    if not named:
        raise StoreError(
            f"{str(out)!r} cannot name the folder of the runs",
            there="the libraries that write tables take names in UTF-8 without zero bytes only",
            next_step="name another folder with --out",
        )
    folder = Path(out)
    # The same libraries would take a tilde for a home.
    return folder.absolute() if str(folder).startswith("~") else folder


def table_path(folder: Path, table: str) -> Path:
    """Where a run folder keeps a result table."""
    if table == "dispatches":
        return folder / "dispatches.parquet"
    return folder / "intervals" / f"{table}.parquet"


def dump_json(value: object) -> str:
    """JSON in the one spelling all result files use."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def fingerprint(path: Path) -> Fingerprint:
    """Size and SHA-256 of a file, by which damage is seen."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def fingerprints(folder: Path) -> dict[str, Fingerprint]:
    """Of all files of a run folder, by path below it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): fingerprint(path) for path in files}


@contextlib.contextmanager
def drafting(root: Path) -> Iterator[Path]:
    """A folder beside the run folders in which one is made; it is gone afterwards unless it was
    published.
    """
    try:
        with staging(root) as folder:
            draft = folder / _DRAFT
            (draft / "intervals").mkdir(parents=True)
            yield draft
    except OSError as error:
        # Arrow puts "Error writing bytes to file. Detail: [errno 28] " before the reason.
        reason = (error.strerror or str(error)).rpartition("] ")[2]
        full = "free some space or " if error.errno in _FULL else ""
        raise StoreError(
            f"cannot write results into {root}: {reason}; {full}name another folder with --out "
            "(nothing was kept)"
        ) from error


def publish(draft: Path, final: Path) -> None:
    """Give a complete folder its name; a run of the same name, which holds the same results, is
    replaced.
    """
    for number in range(_TRIES):
        with contextlib.suppress(FileNotFoundError):
            final.rename(draft.with_name(f"old-{number}"))
        try:
            draft.rename(final)
        except OSError as error:
            # Another process has put the same run there in between.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        else:
            break
    # Else the others keep coming first, with the same results.
