"""Which frame is shown when: play, pause, step, speed. It reads no clock of its own."""

from __future__ import annotations

import bisect
from dataclasses import dataclass

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Frames in a second."""


@dataclass
class Clock:
    """A place among the frames, and whether it moves on."""

    position: int = 0
    playing: bool = True
    speed: float = 1.0
    """Frames in a second."""
    follows: bool = False
    """Whether it keeps to the newest frame, as long as more are to come."""
    _owed: float = 0.0

    def tick(self, elapsed_s: float, there: range, *, grows: bool = False) -> None:
        """So much time has gone by; `there` are the frames that can be shown now."""
        if self.playing and self.follows and grows:
            self.position = max(there.start, there.stop - 1)
        elif self.playing:
            self._owed += elapsed_s * self.speed
            whole = int(self._owed)
            self._owed -= whole
            self.position += whole
            if self.position >= there.stop - 1 and not grows and there:
                self.playing = False
        self.keep_within(there)

    def toggle(self, there: range, *, grows: bool = False) -> None:
        """Play or pause; at the end, play from the beginning."""
        if not self.playing and not grows and self.position >= there.stop - 1:
            self.position = there.start
        self.playing, self._owed = not self.playing, 0.0

    def step(self, frames: int, there: range) -> None:
        """So many frames forth, or back if negative; that pauses."""
        self.playing, self.follows = False, False
        self.position += frames
        self.keep_within(there)

    def first(self, there: range) -> None:
        """To the first frame; that pauses."""
        self.step(there.start - self.position, there)

    def last(self, there: range, *, grows: bool = False) -> None:
        """To the newest frame; where more are to come, on with them."""
        self.step(there.stop - 1 - self.position, there)
        self.playing = self.follows = grows

    def change_speed(self, by: int) -> None:
        """So many notches faster, or slower if negative."""
        at = bisect.bisect_left(SPEEDS, self.speed) + by
        self.speed = SPEEDS[max(0, min(at, len(SPEEDS) - 1))]

    def keep_within(self, there: range) -> None:
        """Stay with what can be shown."""
        self.position = max(there.start, min(self.position, there.stop - 1))
