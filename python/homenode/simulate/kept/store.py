"""Run folders on disk: written under a temporary name and renamed when complete, so that none is
ever half there.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from homenode.errors import StoreError

INTERVAL_TABLES = ("partition", "cpu", "pool")
"""Tables that every run has."""
GUEST_TABLES = ("virtual_machine", "switch", "volume")
"""Interval tables of runs with a partition whose guest runs virtual machines."""
_STAGING = ".tmp-"
_TRIES = 8
_FULL = (None, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors that say a disk or a quota is full; Arrow's carry no number."""


def table_path(folder: Path, table: str) -> Path:
    """Where a run folder keeps a result table."""
    if table == "dispatches":
        return folder / "dispatches.parquet"
    return folder / "intervals" / f"{table}.parquet"


def dump_json(value: Any) -> str:
    """JSON in the one spelling all result files use."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def fingerprint(path: Path) -> dict[str, Any]:
    """Size and SHA-256 of a file, by which damage is seen."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def fingerprints(folder: Path) -> dict[str, dict[str, Any]]:
    """Of all files of a run folder, by path below it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): fingerprint(path) for path in files}


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name and rename it, so that it is never half there."""
    aside = path.with_name(f"{_STAGING}{path.name}-{os.getpid()}")
    try:
        aside.write_bytes(content)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


@contextlib.contextmanager
def staging(root: Path, name: str) -> Iterator[Path]:
    """A temporary folder beside the run folders; it is gone afterwards unless it was published."""
    folder = root / f"{_STAGING}{name}-{os.getpid()}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        _sweep(root)
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "intervals").mkdir(parents=True)
        yield folder
    except OSError as error:
        # Arrow puts "Error writing bytes to file. Detail: [errno 28] " before the reason.
        reason = (error.strerror or str(error)).rpartition("] ")[2]
        full = "free some space or " if error.errno in _FULL else ""
        raise StoreError(
            f"cannot write results into {root}: {reason}; {full}name another folder with --out "
            "(nothing was kept)"
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(folder: Path, final: Path) -> None:
    """Give a complete folder its name; a run of the same name, which holds the same results, is
    replaced.
    """
    aside = final.with_name(f"{_STAGING}old-{final.name}-{os.getpid()}")
    for _ in range(_TRIES):
        with contextlib.suppress(FileNotFoundError):
            final.rename(aside)
        try:
            folder.rename(final)
        except OSError as error:
            # Another process has put the same run there in between.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        else:
            break
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    # Else the others keep coming first, with the same results.


def run_folders(root: Path) -> list[Path]:
    """All kept runs, newest first."""
    if not root.is_dir():
        return []
    found = [p for p in root.iterdir() if p.is_dir() and not p.name.startswith(".")]
    return sorted(found, key=lambda p: (-_written_at(p), p.name))


def _written_at(folder: Path) -> float:
    """Time of the provenance file, which is written last [s]."""
    for path in (folder / "provenance.json", folder):
        with contextlib.suppress(OSError):
            return path.stat().st_mtime
    return 0.0


def _sweep(root: Path) -> None:
    """Remove what a process that was killed left behind."""
    for path in root.glob(f"{_STAGING}*-*"):
        pid = path.name.rpartition("-")[2]
        if pid.isdigit() and not _is_alive(int(pid)):
            shutil.rmtree(path, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
