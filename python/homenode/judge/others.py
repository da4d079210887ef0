"""Turns of everything else on the host: the kernel's own threads and daemons.

Each time that a thread gives its processor up of its own accord is the end of a turn. They are
counted while one loop runs alone; in the simulation they come as often and stay as long, those
that are bound to a processor there, the others wherever they are placed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_VOLUNTARY = re.compile(rb"^voluntary_ctxt_switches:\s*(\d+)$", re.MULTILINE)
_ALLOWED = re.compile(rb"^Cpus_allowed_list:\s*(\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Thread:
    """What one thread has done since it began."""

    turns: int
    run_ns: int
    bound: bool
    """Whether it may run on one processor only."""


@dataclass(frozen=True)
class Turns:
    """Turns in some time."""

    free: int = 0
    free_ns: int = 0
    """Their processor time [ns]."""
    bound: int = 0
    bound_ns: int = 0


Look = Mapping[int, Thread]
"""Threads by their number."""


def look(proc: Path = Path("/proc"), processors: int | None = None) -> Look:
    """All threads but our own; what cannot be read is left out. On a host of one processor none is
    bound.
    """
    several = (processors or os.cpu_count() or 1) > 1
    mine = str(os.getpid())
    found: dict[int, Thread] = {}
    for process in os.scandir(proc):
        if not process.name.isdigit() or process.name == mine:
            continue
        try:
            tasks = list(os.scandir(Path(process.path, "task")))
        except OSError:
            continue
        for task in tasks:
            one = _thread(Path(task.path), several)
            if one is not None:
                found[int(task.name)] = one
    return found


def _thread(task: Path, several: bool) -> Thread | None:
    try:
        status = (task / "status").read_bytes()
        run_ns = int((task / "schedstat").read_bytes().split()[0])
    except (OSError, IndexError, ValueError):
        return None
    turns, allowed = _VOLUNTARY.search(status), _ALLOWED.search(status)
    if turns is None or allowed is None:
        return None
    return Thread(int(turns[1]), run_ns, several and allowed[1].isdigit())


def between(before: Look, after: Look) -> Turns:
    """Turns of the threads that both looks saw: what began or ended between them is not known."""
    turns = {False: 0, True: 0}
    run_ns = {False: 0, True: 0}
    for number, late in after.items():
        early = before.get(number)
        if early is None or late.run_ns < early.run_ns:
            continue  # new, or another thread of the same number
        turns[late.bound] += late.turns - early.turns
        run_ns[late.bound] += late.run_ns - early.run_ns
    return Turns(turns[False], run_ns[False], turns[True], run_ns[True])
