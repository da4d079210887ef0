"""What is asked of a consolidation beside recordings and machines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from homenode.errors import InputError
from homenode.planner.consolidation.grid import weekday
from homenode.planner.consolidation.growth import Growth, said

Gaps = Literal["peak", "zero", "leave-out"]
Progress = Callable[[float, float | None], None]
_HOURS = re.compile(r"(\d{1,2})\s*-\s*(\d{1,2})")
_SHORT = {weekday(number)[:3].lower(): number for number in range(7)}


@dataclass(frozen=True)
class Asked:
    """Choices, each as someone writes it on the command line."""

    percentile: float = 97.0
    """Of the steps, at which peaks are taken [above 0, to 100]."""
    headroom: float = 0.0
    """Share of the cores that stay unused."""
    cores: int | None = None
    """Of each machine that are in use; all that its description has in use if not given."""
    memory_bytes: int | None = None
    """Of each machine; the most that it holds if not given."""
    hours: str | None = None
    """Business hours, such as `8-18`; over midnight `22-6`."""
    days: str | None = None
    """Days of the week, such as `mon-fri` or `mon,wed`."""
    zone: str = "UTC"
    """In which hours are chosen and told."""
    zones: dict[str, str] = field(default_factory=dict)
    """Time zone in which recordings were printed, by pattern of a partition or file."""
    machines: dict[str, str] = field(default_factory=dict)
    """Machine on which partitions were recorded, by pattern."""
    ratings: tuple[str, ...] = ()
    """Ratings of a core, `NAME=V` or `NAME=V/CORES`, of one unit."""
    profile: str = "oltp"
    """Profile of the work, by which the cost model tells what a core does."""
    growth: str | None = None
    """In place of the recorded one: `2%/month`, `0.5 cores/year`."""
    gaps: Gaps = "peak"
    """What counts where a partition was not recorded: its peak, nothing, or that step does not."""
    step_s: float | None = None
    """Length of a step; that of the recordings' samples if not given."""
    apart: tuple[tuple[str, ...], ...] = ()
    """Partitions that must be on machines of their own."""
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse what no choice can be. Raises `InputError`."""
        if not 0 < self.percentile <= 100:
            raise InputError(
                f"--percentile {self.percentile:g}: percentiles are above 0 and up to 100"
            )
        if not 0 <= self.headroom < 1:
            raise InputError(f"--headroom {self.headroom:.0%}: some cores must be used")
        if not 0 <= self.seed < 2**63:
            raise InputError(f"--seed {self.seed}: seeds are whole numbers from 0 to 2^63 - 1")
        if self.step_s is not None and not 1 <= self.step_s <= 86_400:
            raise InputError("--step is a time from a second to a day")
        try:
            ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            step = "write one of the IANA names, such as Europe/Berlin or UTC"
            raise InputError(f"there is no time zone {self.zone}", next_step=step) from error
        self.hour_range()
        self.weekdays()
        self.said_growth()

    def hour_range(self) -> tuple[int, int] | None:
        """First hour and the one before which it ends."""
        if self.hours is None:
            return None
        match = _HOURS.fullmatch(self.hours.strip())
        first, end = (int(match[1]), int(match[2])) if match else (0, 0)
        if match is None or first > 23 or end > 24 or first == end:
            raise InputError(f"--hours {self.hours}", next_step="write them like 8-18 or 22-6")
        return first, end

    def weekdays(self) -> frozenset[int] | None:
        """Days of the week, 0 for Monday."""
        if self.days is None:
            return None
        found: set[int] = set()
        for word in self.days.lower().split(","):
            first, _, last = (part.strip()[:3] for part in word.partition("-"))
            if first not in _SHORT or (last or first) not in _SHORT:
                raise InputError(
                    f"--days {self.days}", next_step="write them like mon-fri or mon,wed,sun"
                )
            count = (_SHORT[last or first] - _SHORT[first]) % 7 + 1
            found |= {(_SHORT[first] + more) % 7 for more in range(count)}
        return frozenset(found)

    def said_growth(self) -> Growth | None:
        """The growth that is said."""
        return None if self.growth is None else said(self.growth)

    @property
    def counted(self) -> str:
        """Which steps count, in words."""
        hours = "" if self.hours is None else f"hours {self.hours}"
        days = "" if self.days is None else self.days
        told = " ".join(part for part in (days, hours) if part)
        return f"{told or 'all hours'}, {self.zone}"
