"""What a process that works for a browser may take at most."""

from __future__ import annotations

import os
import resource

_PROCESSOR_S = 3600
_MEMORY_SHARE = 0.5
"""Of the machine's memory."""


def bound_memory() -> None:
    """Asking for more raises `MemoryError`."""
    pages, size = (_system(name) for name in ("SC_PHYS_PAGES", "SC_PAGE_SIZE"))
    if pages and size:
        most = int(pages * size * _MEMORY_SHARE)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def bound_time() -> None:
    """More processor time ends the process."""
    resource.setrlimit(resource.RLIMIT_CPU, (_PROCESSOR_S, _PROCESSOR_S))


def _system(name: str) -> int:
    return os.sysconf(name) if name in os.sysconf_names else 0
