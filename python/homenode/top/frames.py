"""What is shown at one time: partitions, their virtual processors, nodes, pools."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

Distances = tuple[float, float, float]
"""Shares at home, near it (same node), far from it."""


@dataclass(frozen=True)
class ProcessorRow:
    """A virtual processor over one interval."""

    number: int
    home: str
    """Its chip and node; empty where it has none."""
    used: float
    """Cores."""
    states: tuple[float, float, float, float]
    """User, system, wait and idle time, as shares of what it used."""
    distances: Distances | None
    """Of the dispatches; None where there was none."""
    voluntary_per_s: float
    involuntary_per_s: float


@dataclass(frozen=True)
class PartitionRow:
    """A partition over one interval; None is what a source does not tell."""

    name: str
    mode: str
    """`capped`, `uncapped`, `dedicated`, `donating`."""
    used: float | None
    """Cores, on a host its processors."""
    entitled: float | None = None
    virtual: int | None = None
    smt: int | None = None
    memory_bytes: int | None = None
    states: tuple[float, float, float, float] | None = None
    """User, system, wait and idle time, as lparstat has it: shares of what it is entitled to, or of
    what it used if that is more.
    """
    distances: Distances | None = None
    """Of the core time."""
    unfolded: int | None = None
    runnable: float | None = None
    response_ms: float | None = None
    per_s: Mapping[str, float] = field(default_factory=dict)
    """Rates by counter; `ready_ms` is how long a dispatch was waited for, mean."""
    reasons: Mapping[str, float] = field(default_factory=dict)
    """Dispatches in a second by why they ended, where every one was recorded."""
    processors: tuple[ProcessorRow, ...] = ()

    @property
    def entc_pct(self) -> float | None:
        """What it used of what it is entitled to [%]."""
        return 100 * self.used / self.entitled if self.used is not None and self.entitled else None

    @property
    def scale(self) -> float:
        """The most that a bar of it may have to show [cores]."""
        return max(self.used or 0.0, self.entitled or 0.0, float(self.virtual or 0))


@dataclass(frozen=True)
class NodeRow:
    """A node over one interval."""

    name: str
    cores: int
    """Active ones, on a host their hardware threads."""
    used: float | None
    """Of these, whoever did; None where dispatches were not recorded."""
    home_of: tuple[str, ...]
    """Partitions with a home there."""
    memory_bytes: int
    """What partitions have there."""
    memory_gb_per_s: float
    memory_pct: float
    """Of the bandwidth of its controllers."""
    into_gb_per_s: float
    out_gb_per_s: float
    wait_ns: float
    """What a line waited at its controllers and links, mean."""
    ran: tuple[tuple[str, float], ...] = ()
    """Who used its cores, and how many of them, the most first."""


@dataclass(frozen=True)
class PoolRow:
    """A shared pool over one interval."""

    name: str
    used: float
    cores: float


@dataclass(frozen=True)
class Frame:
    """Everything over one interval."""

    time: str
    """When it ends."""
    partitions: tuple[PartitionRow, ...]
    capacity: float | None = None
    unit: str = "cores"
    pools: tuple[PoolRow, ...] = ()
    nodes: tuple[NodeRow, ...] = ()

    @property
    def used(self) -> float | None:
        """Cores that all partitions used; None where none was recorded."""
        known = [one.used for one in self.partitions if one.used is not None]
        return math.fsum(known) if known else None

    @property
    def entitled(self) -> float:
        """What all partitions together are entitled to [cores]."""
        return math.fsum(one.entitled or 0.0 for one in self.partitions)


class Source(Protocol):
    """Where frames come from."""

    @property
    def title(self) -> str:
        """What is looked at."""
        ...

    @property
    def state(self) -> str:
        """How far it has come, in a few words."""
        ...

    @property
    def there(self) -> range:
        """Numbers of the frames that can be shown now."""
        ...

    @property
    def grows(self) -> bool:
        """Whether more are to come."""
        ...

    def frame(self, number: int) -> Frame:
        """One of those that are there."""
        ...
