"""What a scenario is once everything is decided: a machine, pools, partitions each at its place."""

from __future__ import annotations

from dataclasses import dataclass

from homenode.catalog import MachineDescription
from homenode.scenario.models import Partition, Pool, Shared


@dataclass(frozen=True)
class PlacedPartition:
    """One partition with everything decided."""

    name: str
    number: int
    table: Partition
    """Its table in the file; partitions of one `count` share it."""
    row: int
    """Index of that table in the file."""
    smt: int
    memory_bytes: int
    home: tuple[int, ...]
    """Chips its virtual processors are homed on, in turn."""
    cores: tuple[int, ...] | None
    """Its cores if it is dedicated."""
    memory_shares: tuple[tuple[int, float], ...]
    """Chips its memory lies on, with the share of each."""
    profile: dict[str, float | int | str]
    """The profile as the engine takes it."""

    @property
    def virtual(self) -> int:
        """Virtual processors, or cores if it is dedicated."""
        processors = self.table.processors
        return processors.virtual if isinstance(processors, Shared) else processors.cores

    @property
    def logical_cpus(self) -> int:
        """Hardware threads the guest sees."""
        return self.virtual * self.smt


@dataclass(frozen=True)
class Resolved:
    """A whole scenario with everything decided."""

    machine: MachineDescription
    pools: tuple[Pool, ...]
    partitions: tuple[PlacedPartition, ...]

    @property
    def pool_cores(self) -> int:
        """Active cores that are not dedicated."""
        taken = sum(len(partition.cores or ()) for partition in self.partitions)
        return self.machine.active_cores - taken
