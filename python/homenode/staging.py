"""Folders in which something is made before it gets its name, so that nothing is ever half there.

A lock tells whether the maker lives. It belongs to the file that the maker holds open, so the
kernel lets go of it when the process ends, however it ends, and processes of other containers see
it, as those of other hosts do where the file system passes locks on. A process id tells none of
this. What nobody holds is swept by whoever makes something beside it next. On a file system that
takes no locks nothing is swept: what lives cannot be told there from what was left.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

from homenode.errors import StoreError

PREFIX = ".tmp-homenode-"
"""Of the names of all such folders."""
LOCK = "lock"
"""File of such a folder that its maker holds locked."""
_TRIES = 100


@contextlib.contextmanager
def staging(root: Path) -> Iterator[Path]:
    """An empty folder below `root`, which is made if need be; what is still in it afterwards goes
    with it. Folders of makers that are gone go first. Raises `OSError`.

    Names in it are the caller's, but for that of the lock.
    """
    root.mkdir(parents=True, exist_ok=True)
    sweep(root)
    folder, lock = _made(root)
    try:
        yield folder
    finally:
        _remove(folder)
        lock.close()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file aside and rename it, so that it is never half there. Raises `OSError`.

    Its folder is there: one that was mistyped is not made.
    """
    with staging(path.parent.resolve(strict=True)) as folder:
        aside = folder / "new"
        aside.write_bytes(content)
        aside.replace(path)


def write_folder(
    folder: Path, files: Mapping[str, bytes], ours: Callable[[Path], bool] | None = None
) -> None:
    """Write a folder of files as a whole or not at all. One that is there is kept, unless it is
    `ours`. Raises `StoreError`.
    """
    if folder.exists() and not (ours is not None and ours(folder)):
        step = "name another folder with -o" if ours else "name another folder, or use --force"
        raise StoreError(f"{folder} is there already", next_step=step)
    try:
        with staging(folder.parent) as aside:
            draft = aside / "new"
            draft.mkdir()
            for name, content in files.items():
                (draft / name).write_bytes(content)
            if folder.exists():
                folder.rename(aside / "old")
            draft.rename(folder)
    except OSError as failure:
        raise StoreError(
            f"{folder} cannot be written: {failure.strerror}",
            next_step="name a folder in one that is there and yours",
        ) from failure


def sweep(root: Path) -> None:
    """Remove this user's folders of makers that are gone. What cannot be locked is left alone, and
    so is a folder with something in it but no lock: that is not ours. In a place that all may write
    to, another user could put a link where his folder was, and root would empty what it leads to.
    """
    with contextlib.suppress(OSError):
        found = [one for one in os.scandir(root) if one.name.startswith(PREFIX)]
        for one in found:
            if one.is_dir(follow_symlinks=False) and _own(one):
                _sweep(Path(one.path))


def _own(one: os.DirEntry[str]) -> bool:
    """Not where it went meanwhile."""
    with contextlib.suppress(OSError):
        return one.stat(follow_symlinks=False).st_uid == os.geteuid()
    return False


def is_held(lock: Path) -> bool:
    """Whether someone holds a lock, or it cannot be told; not if there is none."""
    try:
        with lock.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def hold(lock: Path) -> IO[bytes]:
    """Lock a file of our own, which is made if need be, until what is returned is closed, at the
    latest until this process ends. Where no locks are taken it is held by nobody.
    """
    file = lock.open("ab")
    # Who looks whether it is held holds it for that moment: we wait.
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX)
    return file


def held_alone(lock: Path) -> IO[bytes] | None:
    """The same without waiting: None if another has it. Raises `OSError`."""
    file = lock.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    except OSError:
        return file  # where no locks are taken it is held by nobody
    return file


def _made(root: Path) -> tuple[Path, IO[bytes]]:
    """A new folder and its lock. A sweep may come between any two steps; then another is made."""
    for _ in range(_TRIES):
        folder = root / f"{PREFIX}{secrets.token_hex(8)}"
        folder.mkdir()
        try:
            lock = hold(folder / LOCK)
        except FileNotFoundError:
            continue
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat((folder / LOCK).stat(), os.fstat(lock.fileno())):
                return folder, lock
        lock.close()
    raise OSError(f"folders in {root} go as soon as they are made")


def _sweep(folder: Path) -> None:
    try:
        lock = (folder / LOCK).open("r+b")
    except FileNotFoundError:
        with contextlib.suppress(OSError):
            folder.rmdir()  # only if it is empty
        return
    except OSError:
        return
    with lock, contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(folder)


def _remove(folder: Path) -> None:
    """The lock goes last and alone, so that what is cut short is taken up by the next sweep."""
    with contextlib.suppress(OSError):
        for one in list(folder.iterdir()):
            if one.name != LOCK:
                _delete(one)
        if [one.name for one in folder.iterdir()] == [LOCK]:
            (folder / LOCK).unlink()
            folder.rmdir()


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()
