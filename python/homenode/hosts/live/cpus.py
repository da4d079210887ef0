"""Logical processors: which are ours, which share a core, in which order to take them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from homenode.hosts.errors import MeasureError
from homenode.hosts.live.cgroups import parse_cpu_list

_TREE = Path("/sys/devices/system/cpu")


def allowed() -> tuple[int, ...]:
    """Logical processors that this process may use."""
    return tuple(sorted(os.sched_getaffinity(0)))


def siblings(tree: Path = _TREE) -> Mapping[int, tuple[int, ...]]:
    """Threads of the same core, by logical processor; each alone where the host does not say."""
    found = {}
    for cpu in allowed():
        path = tree / f"cpu{cpu}" / "topology" / "thread_siblings_list"
        try:
            found[cpu] = parse_cpu_list(path.read_text()) or (cpu,)
        except OSError:
            found[cpu] = (cpu,)
    return found


def pick(
    count: int,
    cpus: tuple[int, ...] | None = None,
    threads: Mapping[int, tuple[int, ...]] | None = None,
) -> tuple[int, ...]:
    """So many logical processors: a thread of each core first, their siblings last.

    Raises `MeasureError` when there are not so many.
    """
    every = allowed() if cpus is None else cpus
    if not 1 <= count <= len(every):
        raise MeasureError(
            f"{count} logical processors are asked",
            there=f"this process may use {len(every)}",
            next_step=f"ask for 1 to {len(every)}",
        )
    threads = siblings() if threads is None else threads
    order = sorted(every, key=lambda cpu: (threads.get(cpu, (cpu,)).index(cpu), cpu))
    return tuple(sorted(order[:count]))
