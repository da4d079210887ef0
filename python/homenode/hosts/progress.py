"""How far a session is, said to a person."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from homenode.model.numbers import duration

_LINE_EVERY_S = 30.0


def lines(write: Callable[[str], object]) -> Callable[[str, float, float | None], None]:
    """Progress as a line now and then, for where no bar can be shown."""
    last = [time.monotonic()]

    def tell(doing: str, share: float, left: float | None) -> None:
        if time.monotonic() - last[0] < _LINE_EVERY_S:
            return
        last[0] = time.monotonic()
        remaining = "" if left is None else f", about {duration(left)} left"
        write(f"{100 * share:.0f} %: {doing}{remaining}\n")

    return tell


def to_stderr() -> Callable[[str, float, float | None], None]:
    """Lines on standard error."""
    return lines(sys.stderr.write)
