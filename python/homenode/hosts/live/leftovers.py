"""Control groups of sessions that were killed and could not tidy up.

Only what is surely ours and surely left: groups named after a process that is gone.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from homenode.hosts.live.cgroups import gone, read_numbers, remove_folder

_GROUP = re.compile(r"homenode-(\d+)(-runner)?")
_ENDING_S = 2.0


def sweep_groups(places: Iterable[Path]) -> list[Path]:
    """End what runs in groups of dead sessions below these places, and remove them."""
    swept: list[Path] = []
    for place in dict.fromkeys(places):
        with contextlib.suppress(OSError):
            swept += [folder for folder in sorted(place.iterdir()) if _swept(folder)]
    return swept


def _swept(folder: Path) -> bool:
    """Whether a group was one of a dead session and is removed. Others may remove it meanwhile."""
    named = _GROUP.fullmatch(folder.name)
    if named is None or Path(f"/proc/{named[1]}").exists():
        return False
    with contextlib.suppress(OSError):
        if folder.stat().st_uid == os.geteuid() and _ended(folder):
            for each in _inside_first(folder):
                remove_folder(each)
            return True
    return False


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
