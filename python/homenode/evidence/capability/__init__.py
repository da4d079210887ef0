"""What a partition of n processors is worth: by its machine's capacity adjustment factors (CAF), or
by factors predicted from the machine's topology.
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
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
        CapabilityTable,
        Factor,
        capability_table,
        capability_tables,
    )

__all__ = [
    "REFERENCE",
    "CapabilityTable",
    "Curve",
    "Factor",
    "Layout",
    "Point",
    "Prediction",
    "Size",
    "Split",
    "capability_of",
    "capability_table",
    "capability_tables",
    "default_parts",
    "default_sizes",
    "predicted",
    "read_sysinfo",
    "sizes",
    "splits",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "CapabilityTable": "homenode.model.catalog.capability_table",
            "Curve": "curve",
            "Factor": "homenode.model.catalog.capability_table",
            "Layout": "layout",
            "Point": "prediction",
            "Prediction": "prediction",
            "REFERENCE": "prediction",
            "Size": "partitions",
            "Split": "partitions",
            "capability_of": "curve",
            "capability_table": "homenode.model.catalog.capability_table",
            "capability_tables": "homenode.model.catalog.capability_table",
            "default_parts": "partitions",
            "default_sizes": "partitions",
            "predicted": "prediction",
            "read_sysinfo": "homenode.model.catalog.capability_factors",
            "sizes": "partitions",
            "splits": "partitions",
        },
    )
