"""A scenario in several sizes against what the machine offers: does it scale, and if not, why."""

from homenode.evidence.scaling.front import run_scaling
from homenode.evidence.scaling.result import ScalingResult
from homenode.evidence.scaling.scaled import Size

__all__ = ["ScalingResult", "Size", "run_scaling"]
