"""Demand as a partition's workload plays it: recorded, or found for the cores it is to take."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Quantity = Literal["physc", "used"]
"""What cores are. `physc`: cores that its virtual processors were on, idle threads beside busy ones
included. `used`: time in which its logical processors were busy.
"""


@dataclass(frozen=True)
class Played:
    """What a partition's workload plays."""

    file: Path | None
    """Where it stands; None if it was found for the cores that were asked for."""
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
    """The cores that a partition's work is to take, step by step."""

    cores: tuple[float, ...]
    lengths_ns: tuple[int, ...]
    reference: str | None
    """Scenario file or machine on which it takes them; None for the layout as stated."""
    work: str | None
    """File in which its work was kept."""
