"""How the capability that a scaling set is held against was come by, size by size."""

from __future__ import annotations

from homenode.evidence.capability import Curve

PRINTED, BETWEEN, PREDICTED = "printed", "between printed points", "predicted"


def how(curve: Curve, processors: int) -> str:
    """Whether the factor of a size stands in a published table, lies between two of its points, or
    is predicted from the machine's topology.
    """
    factor = curve.factor(processors)
    if factor.predicted:
        return PREDICTED
    return BETWEEN if factor.interpolated else PRINTED
