"""A day told part by part, played shortened.

The day of a scenario is cut wherever one of its partitions changes; what comes now and then is
played after it, for as long as an hour. All is shortened alike, so that the mean over the run is
the mean over the day (and those hours). A part holds until the next one begins, over midnight too.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from homenode.model.scenario.file.cores import MINUTES, Hours, minutes_of

HOURS = 24


@dataclass(frozen=True)
class Part:
    """Part of a partition's day, in minutes since midnight."""

    since: int
    until: int | None
    """None for until the next one begins."""
    row: int
    """Index in the schedule."""


@dataclass(frozen=True)
class Day:
    """How the day of a scenario is played."""

    cuts: tuple[int, ...]
    """Minutes since midnight at which a step begins; the first is 0."""
    extras: tuple[str, ...]
    """What is played after the day."""

    @property
    def hours(self) -> int:
        """Hours that are played."""
        return HOURS + len(self.extras)

    def lengths_ns(self, duration_ns: int) -> tuple[int, ...]:
        """Length of each step, if so much is played in all."""
        minute = duration_ns / (60 * self.hours)
        ends = [*self.cuts[1:], *(MINUTES + 60 * n for n in range(len(self.extras) + 1))]
        at = [0, *(round(minute * end) for end in ends)]
        return tuple(end - begin for begin, end in itertools.pairwise(at))

    def labels(self) -> tuple[str, ...]:
        """What each played hour is called."""
        return (*(f"{hour:02d}:00" for hour in range(HOURS)), *self.extras)


def parts_of(schedule: Sequence[Hours]) -> list[Part]:
    """The parts of a day, in order of time."""
    parts = [
        Part(minutes_of(one.since), None if one.to is None else minutes_of(one.to), row)
        for row, one in enumerate(schedule)
        if one.since is not None
    ]
    return sorted(parts, key=lambda part: part.since)


def fault_of(parts: Sequence[Part]) -> tuple[int, str] | None:
    """The row of the first part that leaves a gap or lies over another one, and what is wrong."""
    for place, part in enumerate(parts):
        following = parts[(place + 1) % len(parts)]
        begins = following.since if place + 1 < len(parts) else following.since + MINUTES
        if begins == part.since:
            return following.row, f"another part begins at {clock(part.since)} too"
        if part.until is None:
            continue
        until = part.until if part.until > part.since else part.until + MINUTES
        if until > begins:
            return part.row, f"it lies over the part that begins at {clock(following.since)}"
        if until < begins:
            return part.row, f"nothing is said of {clock(until)} to {clock(begins)}"
    return None


def clock(minutes: int) -> str:
    """A time of day; midnight at the end of a day is 24:00."""
    within = minutes if minutes <= MINUTES else minutes - MINUTES
    return f"{within // 60:02d}:{within % 60:02d}"


def day_of(days: Sequence[Sequence[tuple[int, float]]], extras: Sequence[str]) -> Day:
    """The day of all partitions; each is told by when which use begins, in order."""
    cuts = {0, *(since for day in days for since, _ in day)}
    return Day(tuple(sorted(cuts)), tuple(dict.fromkeys(extras)))


def used_at(day: Sequence[tuple[int, float]], minute: int) -> float:
    """What is used at a minute of the day."""
    before = [use for since, use in day if since <= minute]
    return before[-1] if before else day[-1][1]
