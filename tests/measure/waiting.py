"""Waiting in tests with real processes: for what must come, never for a time that should do.

A test host may be starved: what is waited for is bounded by far more than it takes, and what is
asserted of times and counts is held against the process's own account, or follows from order.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LIMIT_S = 120.0
"""For anything that takes a moment on a host at rest."""


def until(happened: Callable[[], object], what: str, limit_s: float = LIMIT_S) -> None:
    """Wait until something has happened; fail, naming it, when it does not."""
    deadline = time.monotonic() + limit_s
    while not happened():
        assert time.monotonic() < deadline, f"not within {limit_s:g} s: {what}"
        time.sleep(0.01)
