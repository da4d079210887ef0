"""Recorded demand as a partition's workload plays it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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
