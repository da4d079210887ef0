"""What a partition of n processors is worth: by its machine's capacity adjustment factors (CAF), or
by factors predicted from the machine's topology.
"""

from homenode.evidence.capability.curve import Curve, capability_of
from homenode.evidence.capability.layout import Layout
from homenode.evidence.capability.partitions import (
    Size,
    Split,
    default_parts,
    default_sizes,
    sizes,
    splits,
)
from homenode.evidence.capability.prediction import REFERENCE, Point, Prediction, predicted
from homenode.model.catalog.capability_factors import read_sysinfo
from homenode.model.catalog.capability_table import (
    CapacityTable,
    Factor,
    capacity_table,
    capacity_tables,
)

__all__ = [
    "REFERENCE",
    "CapacityTable",
    "Curve",
    "Factor",
    "Layout",
    "Point",
    "Prediction",
    "Size",
    "Split",
    "capability_of",
    "capacity_table",
    "capacity_tables",
    "default_parts",
    "default_sizes",
    "predicted",
    "read_sysinfo",
    "sizes",
    "splits",
]
