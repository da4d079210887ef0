"""A scenario in several sizes against what the machine offers: does it scale, and if not, why."""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.evidence.scaling.front import run_scaling
    from homenode.evidence.scaling.result import ScalingResult
    from homenode.evidence.scaling.scaled import Size

__all__ = ["ScalingResult", "Size", "run_scaling"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "ScalingResult": "result",
            "Size": "scaled",
            "run_scaling": "front",
        },
    )
