"""What a partition of n processors is worth by its machine's capacity adjustment factors (CAF)."""

from homenode.capacity.partitions import Size, Split, default_parts, default_sizes, sizes, splits
from homenode.capacity.sysinfo import read_sysinfo
from homenode.capacity.table import (
    CapacityTable,
    Factor,
    capacity_table,
    capacity_tables,
)

__all__ = [
    "CapacityTable",
    "Factor",
    "Size",
    "Split",
    "capacity_table",
    "capacity_tables",
    "default_parts",
    "default_sizes",
    "read_sysinfo",
    "sizes",
    "splits",
]
