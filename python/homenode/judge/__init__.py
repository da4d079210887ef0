"""The judge: does the dispatcher of the host at hand do what the simulated one does?

Entry points: `run` (the experiments), `load` (an earlier report), `replications.records_of` (a
simulated replication as a measured record). The bridge between a live host and a simulated one.
Knows `hosts`, `simulate`, `model`, and `records`, by whose readers it describes the host's machine.

`run` lets groups of processes compete on the host at hand, under weights, quotas and processor
sets, simulates the same on the host's twin, and compares. Only two things are calibrated: one loop
alone and one on/off workload (and one database) alone.
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.judge.report import Report, load
    from homenode.judge.session import run

__all__ = ["Report", "load", "run"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Report": "report",
            "load": "report",
            "run": "session",
        },
    )
