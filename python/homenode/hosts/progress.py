"""How far a session is, said to a person."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

_LINE_EVERY_S = 30.0


def lines(write: Callable[[str], object]) -> Callable[[str, float, float | None], None]:
    """Progress as a line now and then, for where no bar can be shown."""
    last = [time.monotonic()]

    def tell(doing: str, share: float, left: float | None) -> None:
        if time.monotonic() - last[0] < _LINE_EVERY_S:
            return
        last[0] = time.monotonic()
        remaining = "" if left is None else f", about {minutes(left)} left"
        write(f"{100 * share:.0f} %: {doing}{remaining}\n")

    return tell


def minutes(seconds: float) -> str:
    """A duration for people."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def to_stderr() -> Callable[[str, float, float | None], None]:
    """Lines on standard error."""
    return lines(sys.stderr.write)
