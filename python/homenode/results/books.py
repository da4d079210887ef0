"""Where the cores went: core time by cause. The causes of a partition add up to the core time it
was given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """One book of the engine: its name there, its label, the family it is explained with."""

    name: str
    label: str
    family: str


CAUSES = (
    Cause("useful", "useful work", "work"),
    Cause("l2", "L2 cache", "caches"),
    Cause("l3", "L3 cache", "caches"),
    Cause("cache_chip", "another cache, same chip", "coherence"),
    Cause("cache_near", "another cache, same node", "distance"),
    Cause("cache_far", "another cache, other node", "distance"),
    Cause("memory_local", "memory, same chip", "memory"),
    Cause("memory_near", "memory, same node", "distance"),
    Cause("memory_far", "memory, other node", "distance"),
    Cause("reload", "cache reload after a switch", "reload"),
    Cause("smt", "threads sharing a core", "smt"),
    Cause("tick", "clock tick of the guest", "tick"),
    Cause("spin", "spinning on locks", "spin"),
    Cause("guest_idle", "idle thread holding the core", "guest_idle"),
    Cause("hypervisor", "hypervisor", "hypervisor"),
)

LABELS = {cause.name: cause.label for cause in CAUSES}
FAMILIES = {cause.name: cause.family for cause in CAUSES}

INFINITE_CACHE = ("useful", "smt")
"""Time inside instructions that no larger or nearer cache would save."""
FINITE_CACHE = (
    "l2",
    "l3",
    "cache_chip",
    "cache_near",
    "cache_far",
    "memory_local",
    "memory_near",
    "memory_far",
    "reload",
)
"""Time inside instructions that waits for lines from outside the core."""


@dataclass(frozen=True)
class Breakdown:
    """A partition's cores by cause, mean over the replications."""

    run: str
    partition: str
    cores: dict[str, float]
    """Cores by cause, all causes, in their order."""
    transactions_per_s: float | None
    """Throughput; None where there is none or no steady state."""
    busy_threads: float | None = None
    """Busy threads on a core, as the work met them; None where nothing was done."""
    reason: str | None = None
    """Why there is no steady state."""

    @property
    def total(self) -> float:
        """Cores used."""
        return math.fsum(self.cores.values())

    def share(self, cause: str) -> float:
        """Of the cores used [0..1]."""
        return self.cores[cause] / self.total if self.total > 0 else 0.0

    def per_transaction_us(self, cause: str) -> float | None:
        """Core time of a transaction that went this way [us]."""
        if not self.transactions_per_s:
            return None
        return self.cores[cause] / self.transactions_per_s * 1e6

    def family(self, name: str) -> float:
        """Cores of all causes of a family."""
        return math.fsum(cores for cause, cores in self.cores.items() if FAMILIES[cause] == name)
