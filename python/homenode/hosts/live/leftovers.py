"""Control groups and folders of sessions that were killed and could not tidy up.

Only what is surely ours and surely left: groups named after a process that is gone, and folders
whose lock nobody holds.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from homenode.hosts.live.cgroups import gone, read_numbers, remove_folder

_GROUP = re.compile(r"homenode-(\d+)(-runner)?")
_LOCK = ".lock"
_ENDING_S = 2.0


def sweep_groups(places: Iterable[Path]) -> list[Path]:
    """End what runs in groups of dead sessions below these places, and remove them."""
    swept = []
    for place in dict.fromkeys(places):
        with contextlib.suppress(OSError):
            for folder in [each for each in place.iterdir() if each.is_dir()]:
                named = _GROUP.fullmatch(folder.name)
                if named is None or Path(f"/proc/{named[1]}").exists() or not _own(folder):
                    continue
                if _ended(folder):
                    for each in _inside_first(folder):
                        remove_folder(each)
                    swept.append(folder)
    return swept


def _inside_first(folder: Path) -> Iterator[Path]:
    for each in [each for each in folder.iterdir() if each.is_dir()]:
        yield from _inside_first(each)
    yield folder


def _ended(folder: Path) -> bool:
    """Whether nothing runs in a group any more, by force if need be."""
    until = time.monotonic() + _ENDING_S
    while True:
        pids = [n for each in _inside_first(folder) for n in read_numbers(each / "cgroup.procs")]
        # 0 stands for a process of another container: then the name is not of this one either.
        if 0 in pids:
            return False
        living = [pid for pid in pids if not gone(pid)]
        if not living:
            return True
        if time.monotonic() > until:
            return False
        for pid in living:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def hold(folder: Path) -> IO[bytes]:
    """Mark a folder as used until what is returned is closed, at the latest with this process."""
    lock = (folder / _LOCK).open("wb")
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return lock


def sweep_folders(place: Path, prefix: str) -> list[Path]:
    """Remove folders of our own that nobody holds; those without a lock are left alone."""
    swept = []
    for folder in sorted(place.glob(f"{prefix}*")):
        if folder.is_symlink() or not _own(folder):
            continue
        with contextlib.suppress(OSError), (folder / _LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
            swept.append(folder)
    return swept


def _own(path: Path) -> bool:
    return path.stat().st_uid == os.geteuid()
