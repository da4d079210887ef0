"""The judge: a live host against the simulation of the same host.

`run` lets groups of processes compete on the host at hand, under weights, quotas and processor
sets, simulates the same on the host's twin, and compares. Only two things are calibrated: one loop
alone and one on/off workload (and one database) alone.
"""

from homenode.judge.report import Report, load
from homenode.judge.session import run

__all__ = ["Report", "load", "run"]
