"""User-mode instructions and cycles of processes and of all their children, where the host counts.

Time differs from run to run, instructions hardly do: more of them for the same work is another
build or another path, not a slower machine. The kernel's counters follow a process from its start
(perf_event_open(2), inherited by children); where the host has none or does not allow them,
nothing is told.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from contextlib import suppress

_SYSTEM_CALL = {
    "x86_64": 298,
    "aarch64": 241,
    "riscv64": 241,
    "ppc64le": 319,
    "ppc64": 319,
    "s390x": 331,
}
_HARDWARE = 0
_EVENTS = {"instructions": 1, "cycles": 0}
_SIZE = 112
_READ_TIMES = 0b11
_INHERIT, _NO_KERNEL, _NO_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6
_CLOSE_ON_EXEC = 8


class Counters:
    """Sums over all processes that were followed."""

    def __init__(self) -> None:
        self._open: list[tuple[str, int]] = []
        self._works = platform.machine() in _SYSTEM_CALL
        self._complete = True

    def follow(self, pid: int) -> None:
        """Count a process that has just been started, and all that it will start."""
        if not self._works:
            return
        for name, event in _EVENTS.items():
            descriptor = _perf_event_open(event, pid)
            if descriptor is None:
                if not self._open:
                    self._works = False
                self._complete = False
                return
            self._open.append((name, descriptor))

    def read(self) -> dict[str, float] | None:
        """Counts so far; None where some process is not counted. Counts of a shared counter are
        stretched to the whole time, as perf(1) does.
        """
        if not self._works or not self._complete:
            return None
        sums = dict.fromkeys(_EVENTS, 0.0)
        for name, descriptor in self._open:
            try:
                value, enabled, running = struct.unpack("QQQ", os.read(descriptor, 24))
            except (OSError, struct.error):
                return None
            sums[name] += value * enabled / running if running else 0.0
        return sums

    def close(self) -> None:
        """Let the counters go."""
        for _, descriptor in self._open:
            with suppress(OSError):
                os.close(descriptor)
        self._open.clear()


def _perf_event_open(event: int, pid: int) -> int | None:
    flags = _INHERIT | _NO_KERNEL | _NO_HYPERVISOR
    # type, size, event, period, sample type, what to read, flags; the rest stays zero
    attributes = struct.pack("IIQQQQQ", _HARDWARE, _SIZE, event, 0, 0, _READ_TIMES, flags)
    buffer = ctypes.create_string_buffer(attributes.ljust(_SIZE, b"\0"), _SIZE)
    try:
        call = ctypes.CDLL(None, use_errno=True).syscall
    except (OSError, AttributeError):
        return None
    call.restype = ctypes.c_long
    arguments = (pid, -1, -1, _CLOSE_ON_EXEC)
    descriptor = call(
        ctypes.c_long(_SYSTEM_CALL[platform.machine()]),
        ctypes.byref(buffer),
        *(ctypes.c_long(word) for word in arguments),
    )
    return None if descriptor < 0 else int(descriptor)
