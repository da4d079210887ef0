"""Demand as a partition's workload plays it, recorded or told by the cores that it is to take."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from homenode.model.document.positions import Path as Place

Quantity = Literal["physc", "used"]
"""What cores are. `physc`: cores that its virtual processors were on, idle threads beside busy ones
included. `used`: time in which its logical processors were busy.
"""


@dataclass(frozen=True)
class Played:
    """What a partition's workload plays."""

    file: Path
    series: str
    """Its name in the file."""
    lengths_ns: tuple[int, ...]
    """Simulated length of each step."""
    instructions_per_s: tuple[float, ...]

    @property
    def total_ns(self) -> int:
        """Simulated length of all of it."""
        return sum(self.lengths_ns)


@dataclass(frozen=True)
class Asked:
    """The cores that work is to take, step by step."""

    place: Place
    """Where the file tells it."""
    told: object
    """What it tells."""
    cuts: tuple[int, ...]
    """When steps begin [minutes since midnight]; one for what takes as much always."""
    extras: tuple[str, ...]
    """What comes now and then, a step each behind those of the day."""
    cores: tuple[float, ...]
    lengths_ns: tuple[int, ...]
    reference: str | None
    """Scenario file or machine on which it takes them; None for the layout as stated."""
    work: str | None
    """File in which its work was kept."""

    def steps_of(self, cuts: Sequence[int], extras: Sequence[str]) -> list[int]:
        """The steps that hold where another day is cut, and for what comes now and then in it: the
        busiest one for what is not known here.
        """
        within = [max(0, bisect_right(self.cuts, minute) - 1) for minute in cuts]
        busiest = max(range(len(self.cuts)), key=lambda step: self.cores[step])
        known = {name: len(self.cuts) + at for at, name in enumerate(self.extras)}
        return [*within, *(known.get(name, busiest) for name in extras)]
