"""Where an export is put: made aside and renamed when it is whole, so that nothing is ever half
there.

What lies there already is replaced only if that is asked for, and of a folder only if all its files
are among those that take their place: an export never deletes what it did not write.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from homenode.records.exporting.errors import ExportError
from homenode.staging import staging

_FEW = 3


def put(target: Path, write: Callable[[Path], object], *, force: bool) -> list[Path]:
    """Call `write` with a place on the file system of `target`, then rename; the files that are
    there now, sorted. `ExportError` if something is in the way or cannot be written.
    """
    target = Path(os.path.abspath(target))  # noqa: PTH100 - a link is not followed
    _refuse_taken(target, force=force)
    try:
        with staging(target.parent) as folder:
            aside = folder / "new"
            write(aside)
            _replace(aside, target)
    except OSError as error:
        raise ExportError(
            f"{target} cannot be written: {error.strerror or error}",
            next_step="free some space or name another place with -o (nothing was kept)",
        ) from error
    return files_of(target)


def files_of(path: Path) -> list[Path]:
    """The file itself, or all files of a folder, sorted."""
    if not path.is_dir():
        return [path]
    return sorted(found for found in path.rglob("*") if found.is_symlink() or found.is_file())


def _refuse_taken(target: Path, *, force: bool) -> None:
    if target.name in ("", ".."):
        raise ExportError(f"{target} is no place for an export", next_step="name another with -o")
    plain = not target.is_symlink() and (target.is_file() or target.is_dir())
    if _there(target) and not plain:
        raise ExportError(
            f"{target} is a link, a device or a pipe, which an export does not replace",
            next_step="name a file with -o; the forms of commands are printed without it",
        )
    if _there(target) and not force:
        raise ExportError(
            f"{target} is there already",
            next_step="name another place with -o, or replace it with --force",
        )


def _replace(aside: Path, target: Path) -> None:
    if not _there(target):
        aside.rename(target)
    elif target.is_dir():
        _replace_folder(aside, target)
    elif aside.is_dir():
        raise ExportError(
            f"{target} is a file, and this export is a folder",
            next_step="name another place with -o",
        )
    else:
        aside.replace(target)


def _replace_folder(aside: Path, target: Path) -> None:
    """Put a folder in the place of an earlier one of the same files."""
    new = {path.relative_to(aside) for path in files_of(aside)} if aside.is_dir() else set()
    foreign = [
        path.relative_to(target).as_posix()
        for path in files_of(target)
        if path.relative_to(target) not in new
    ]
    if foreign or not aside.is_dir():
        shown = ", ".join(foreign[:_FEW]) + (", ..." if len(foreign) > _FEW else "")
        holds = f" and holds {shown}" if foreign else ""
        raise ExportError(
            f"{target} is a folder{holds}, which this export does not write",
            next_step="name another place with -o",
        )
    old = aside.with_name("old")
    target.rename(old)
    try:
        aside.rename(target)
    except OSError:
        old.rename(target)
        raise


def _there(path: Path) -> bool:
    return path.exists() or path.is_symlink()
