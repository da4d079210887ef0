"""What was decided of a layout and holds for those that have most of its tables: the same machine,
and of partitions whose tables are the same what each by itself comes to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from homenode.model.catalog import MachineDescription
from homenode.model.catalog.profile_model import Numbers
from homenode.model.scenario.file.partition import Partition


@dataclass(frozen=True)
class Known:
    """By row of the file, of tables that were found right beside the same other tables."""

    machine: MachineDescription
    usual: Mapping[int, Partition]
    """Each with what is usual on the machine where it says nothing."""
    profiles: Mapping[int, Numbers]
    """The profile of its first workload as the engine takes it."""
