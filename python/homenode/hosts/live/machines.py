"""Virtual machines of this host: whose process is which, and what processor time it takes.

KVM's virtual processors are threads of a process of QEMU's, or of another program's that names its
machine likewise. Their time in the guest stands apart (`guest_time` of proc(5)); what is left is
the hypervisor's: exits, emulated devices, threads for input and output. The kernel's own threads
that move a guest's packets are named after that process where they are no part of it
(`vhost-PID`, before Linux 6.4).
"""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Self

_EVERY_S = 0.05
"""Several ticks of the accounts, and little work for a session of seconds."""
_PROC = Path("/proc")
_USER, _SYSTEM, _GUEST = 11, 12, 40
"""Places in `/proc/PID/stat`, counted behind the name (proc(5))."""


@dataclass(frozen=True)
class Used:
    """Processor time of a machine's process since its start, at a moment of the monotonic clock."""

    at: float
    total_s: float
    in_guest_s: float
    """Of that its virtual processors ran the guest; 0 where the hypervisor does not tell, as one
    that emulates processors."""


def process_of(name: str, proc: Path = _PROC) -> int | None:
    """The process whose words name the machine, as `-name NAME` or `-name guest=NAME,...`. Of
    several the one that has worked most: who started it, as sudo, has its words too.
    """
    found = [one for one in _processes(proc) if name in _names(_read(proc, one, "cmdline"))]

    def worked(process: int) -> float:
        told = used([process], proc)
        return 0.0 if told is None else told.total_s

    return max(found, key=worked, default=None)


def _names(words: bytes) -> list[str]:
    """Machines that a command line names."""
    told = pairwise(words.decode("utf-8", "replace").split("\0"))
    return [
        given.partition(",")[0].removeprefix("guest=")
        for word, given in told
        if word in ("-name", "--name")
    ]


def helpers_of(process: int, proc: Path = _PROC) -> tuple[int, ...]:
    """The kernel's threads that work for a machine beside its process."""
    wanted = f"vhost-{process}".encode()
    return tuple(one for one in _processes(proc) if _read(proc, one, "comm").strip() == wanted)


def _processes(proc: Path) -> list[int]:
    return sorted(int(path.name) for path in proc.iterdir() if path.name.isdigit())


def _read(proc: Path, process: int, file: str) -> bytes:
    """What a process tells; nothing where it has ended."""
    try:
        return (proc / str(process) / file).read_bytes()
    except OSError:
        return b""


def used(processes: Iterable[int], proc: Path = _PROC) -> Used | None:
    """Of a machine's process and its helpers, by ticks; None where one is gone."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = guest = 0
    for process in processes:
        try:
            told = (proc / str(process) / "stat").read_bytes().rpartition(b")")[2].split()
            total += int(told[_USER]) + int(told[_SYSTEM])
            guest += int(told[_GUEST])
        except (OSError, IndexError, ValueError):
            return None
    return Used(time.monotonic(), total / ticks, guest / ticks)


class Watched:
    """Reads the machines' accounts again and again while it is a context, so that any stretch of
    that time can be asked for afterwards.
    """

    def __init__(self, machines: Mapping[str, int], proc: Path = _PROC) -> None:
        self._proc = proc
        self._processes = {
            name: (process, *helpers_of(process, proc)) for name, process in machines.items()
        }
        self._read: dict[str, list[Used]] = {name: [] for name in machines}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._look()

    def between(self, name: str, start: float, end: float) -> tuple[float, float] | None:
        """Time that the machine took, and of that in its guest [CPU seconds]; None for a machine
        that is not known, has ended, or was not watched all that time.
        """
        read = self._read.get(name, [])
        first, last = _at(read, start), _at(read, end)
        if first is None or last is None:
            return None
        return last[0] - first[0], last[1] - first[1]

    def _run(self) -> None:
        while not self._ended.wait(_EVERY_S):
            self._look()

    def _look(self) -> None:
        for name, processes in self._processes.items():
            now = used(processes, self._proc)
            if now is not None:
                self._read[name].append(now)


def _at(read: list[Used], moment: float) -> tuple[float, float] | None:
    """Total and guest time at a moment, evenly between the readings around it."""
    index = bisect_right([one.at for one in read], moment)
    if not 0 < index < len(read):
        return None
    before, after = read[index - 1], read[index]
    share = (moment - before.at) / max(after.at - before.at, 1e-9)
    return (
        before.total_s + share * (after.total_s - before.total_s),
        before.in_guest_s + share * (after.in_guest_s - before.in_guest_s),
    )
