"""Whether a case can run here, and if not, why and what would help."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from homenode.hosts.adapter import Side
from homenode.hosts.live.packages import missing, remedy
from homenode.hosts.suite import Row

_KIB = 1024


@dataclass(frozen=True)
class Refusal:
    """A case that cannot run."""

    case: str
    why: str
    next_step: str


def refusals(row: Row, work: Path, side: Side | None = None) -> Refusal | None:
    """The first reason against a case, or against that side of it; None if it can run."""
    wanted = row.adapter.requires(row.case)
    if side is not None:
        needs = tuple(need for need in wanted.needs if need.side in (None, side))
        wanted = replace(wanted, needs=needs)
    if side == "client":  # what is made on disk and held in memory is the servers'
        wanted = replace(wanted, disk_bytes=0, memory_bytes=0)
    absent = missing(wanted.needs, row.adapter)
    if absent:
        tools = ", ".join(need.program for need in absent)
        if any(need.plug_in for need in absent):
            return Refusal(
                row.id, f"optional plug-in: {tools} is not here", "install it if you may use it"
            )
        return Refusal(row.id, f"{tools} is missing: {remedy(absent)}", remedy(absent))
    if wanted.root and os.geteuid() != 0:
        return Refusal(row.id, "it needs root", "run as root, or leave it out with --only")
    free = shutil.disk_usage(work).free
    if wanted.disk_bytes > free:
        return Refusal(
            row.id,
            f"it needs {_gib(wanted.disk_bytes)} of disk, {work.parent} has {_gib(free)} free",
            "give another place with --folder",
        )
    memory = available_memory()
    if memory is not None and wanted.memory_bytes > memory:
        return Refusal(
            row.id,
            f"it needs {_gib(wanted.memory_bytes)} of memory, {_gib(memory)} is available",
            "end what else runs, or leave it out with --only",
        )
    return None


def available_memory(path: Path = Path("/proc/meminfo")) -> int | None:
    """What new programs can have without swapping [bytes]."""
    lines = path.read_text().replace(":", "").replace(" kB", "").splitlines()
    path_like = dict(line.split() for line in lines if len(line.split()) == 2)
    value = path_like.get("MemAvailable")
    return None if value is None else int(value) * _KIB


def _gib(count: int) -> str:
    return f"{count / 2**30:.1f} GiB"
