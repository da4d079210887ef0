"""Where the cores went: core time by cause. The causes of a partition add up to the core time it
was given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """One book of the engine: its name there, its label, the family it is explained with.

    The label is the one that fits every machine; `Vocabulary` has that of a machine.
    """

    name: str
    label: str
    family: str


CAUSES = (
    Cause("useful", "useful work", "work"),
    Cause("l2", "L2 cache", "caches"),
    Cause("l3", "L3 cache", "caches"),
    Cause("l4", "L4 cache", "caches"),
    Cause("cache_chip", "another cache, same chip", "coherence"),
    Cause("cache_near", "another cache, same node", "distance"),
    Cause("cache_far", "another cache, other node", "distance"),
    Cause("memory_local", "memory, local", "memory"),
    Cause("memory_near", "memory, near", "distance"),
    Cause("memory_far", "memory, far", "distance"),
    Cause("translation", "address translation", "translation"),
    Cause("store", "stores waiting for their way", "store"),
    Cause("reload", "cache reload after a switch", "reload"),
    Cause("smt", "threads sharing a core", "smt"),
    Cause("tick", "clock tick of the guest", "tick"),
    Cause("spin", "spinning on locks", "spin"),
    Cause("list", "searching a switch's list", "list"),
    Cause("guest_idle", "idle thread holding the core", "guest_idle"),
    Cause("hypervisor", "hypervisor", "hypervisor"),
)

FAMILIES = {cause.name: cause.family for cause in CAUSES}

SOURCES = (
    "l2",
    "l3",
    "l4",
    "cache_chip",
    "cache_near",
    "cache_far",
    "memory_local",
    "memory_near",
    "memory_far",
)
"""Where the lines come from that are written into the first level; counted in `lines_<name>`."""
FINITE_CACHE = (*SOURCES, "translation", "store", "reload", "list")
"""Time inside instructions that waits for lines, translations or the stores' way; of the search
of a switch's list only the lines that other processors have changed are booked as such.
"""
IDLE = ("guest_idle",)
"""Core time without an instruction."""
SHARED = "smt"
"""What threads that share a core cost each other."""


@dataclass(frozen=True)
class Work:
    """What a partition got done: how many units of which kind a second."""

    unit: str
    """`transaction` or `loop`."""
    rate_per_s: float
    counted: bool = True
    """Whether units were counted; else they follow from the instructions done."""
    closed: bool = False
    """Whether the load waits for what was asked before, so that a faster machine does more."""

    @property
    def short(self) -> str:
        """The unit in the head of a column."""
        return "tx" if self.unit == "transaction" else self.unit


@dataclass(frozen=True)
class Breakdown:
    """A partition's cores by cause, mean over the replications."""

    run: str
    partition: str
    cores: dict[str, float]
    """Cores by cause, all causes, in their order."""
    work: Work | None = None
    """None where nothing was done."""
    busy_threads: float | None = None
    """Busy threads on a core, as the work met them; None where nothing was done."""
    reason: str | None = None
    """Why there is no steady state."""
    cpi: float | None = None
    """Cycles of an instruction; None where there was none."""
    core_cycles: float = 0.0
    """Its part with an infinite cache and a core to oneself."""
    clock_hz: float = 0.0
    """Clock of the cores [Hz]."""

    @property
    def total(self) -> float:
        """Cores used."""
        return math.fsum(self.cores.values())

    @property
    def cycles(self) -> dict[str, float] | None:
        """Cycles of an instruction by cause; they add up to `cpi`. None where there was none."""
        return None if self.cpi is None else cycles_of(self.cores, self.cpi, self.core_cycles)


def cycles_of(time: Mapping[str, float], cpi: float, core_cycles: float) -> dict[str, float] | None:
    """Cycles of an instruction by cause, given the core time of each cause in any unit; None where
    there was no instruction.

    Each thread on a core books its part of the core's time. So a cause takes of an instruction its
    core time by the threads that shared the core while there was work, which is `core_cycles` (the
    cycles with an infinite cache and a core to oneself) by the time of useful work. What that
    leaves of `cpi` is what the threads slow each other. Where threads share no core the causes
    divide `cpi` as they divide the core's time. Idle time holds no instruction.
    """
    busy = {cause: 0.0 if cause in IDLE else spent for cause, spent in time.items()}
    total = math.fsum(busy.values())
    if total <= 0:
        return None
    if busy[SHARED] > 0 and busy["useful"] > 0:
        apart = {
            c: spent * core_cycles / busy["useful"] for c, spent in busy.items() if c != SHARED
        }
        rest = cpi - math.fsum(apart.values())
        if rest > 0 and core_cycles > 0:
            return {cause: apart.get(cause, rest) for cause in busy}
    return {cause: spent * cpi / total for cause, spent in busy.items()}
