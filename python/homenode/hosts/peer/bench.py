"""The bench of either side: what the whole host did is counted beside what its processes used."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from homenode.hosts.bench import HostBench
from homenode.hosts.live.hostwide import Counts, read_counts, since


@dataclass
class CountedBench(HostBench):
    """Counts everything the host does between `measuring` and `measured`."""

    window: tuple[float, float] = (0.0, 0.0)
    """When the accounts began and ended, by this host's clock."""
    counts: Counts = field(default_factory=dict)
    """What the whole host did in that time."""
    device: str | None = None
    """The network device between the hosts, where it is known."""

    def measuring(self) -> None:
        """Begin."""
        self._counted_before = read_counts(self.device)
        super().measuring()
        self.window = (time.monotonic(), 0.0)

    def measured(self) -> None:
        """End."""
        super().measured()
        self.window = (self.window[0], time.monotonic())
        self.counts = since(self._counted_before, read_counts(self.device))
        self.counts["host_processors"] = float(os.cpu_count() or 1)


@dataclass
class ClientBench(CountedBench):
    """The client's: its peer begins before it and ends after it."""

    begin: Callable[[], None] = lambda: None
    end: Callable[[], None] = lambda: None

    def measuring(self) -> None:
        """Begin on both hosts."""
        self.begin()
        super().measuring()

    def measured(self) -> None:
        """End on both."""
        super().measured()
        self.end()
