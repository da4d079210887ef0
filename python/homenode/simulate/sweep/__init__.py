"""Sweeps of thousands of points: worked off by many processes, or by a cluster; each point is kept
once.
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.simulate.sweep.drive import InterruptedSweep, run_sweep
    from homenode.simulate.sweep.results import SweepResults

__all__ = ["InterruptedSweep", "SweepResults", "run_sweep"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {"InterruptedSweep": "drive", "SweepResults": "results", "run_sweep": "drive"},
    )
