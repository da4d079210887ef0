"""The time that an answer may take, which searches, choices and simulations share."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

Clock = Callable[[], float]


class Budget:
    """From now on so many seconds by a clock; None for as many as it takes."""

    def __init__(self, seconds: float | None = None, clock: Clock = time.monotonic) -> None:
        self.clock = clock
        self.is_limited = seconds is not None
        self.end = math.inf if seconds is None else clock() + seconds

    @property
    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.end - self.clock())

    @property
    def over(self) -> bool:
        """Whether there is none left."""
        return self.clock() >= self.end

    def share(self, part: float) -> float | None:
        """Seconds of a part of what is left; None where that is not limited."""
        return part * self.left if self.is_limited else None


class Until(threading.Event):
    """Set once a budget is over, or once whoever asks wants no more."""

    def __init__(self, budget: Budget, asked: threading.Event | None) -> None:
        super().__init__()
        self.budget, self.asked = budget, asked
        self.by_time = False
        """Whether it was the time that ended it."""

    def is_set(self) -> bool:
        """Whether it is to end."""
        if super().is_set() or (self.asked is not None and self.asked.is_set()):
            return True
        self.by_time = self.budget.over
        return self.by_time
