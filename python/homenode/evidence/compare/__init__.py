"""Two machines held against each other, class of work by class of work:
`compare_machines("ibm-z196", "ibm-zec12")`.
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.evidence.compare.machines import compare_machines
    from homenode.evidence.compare.outcome import CaseResult, MachineComparison, Pair, Side
    from homenode.evidence.compare.suite import Suite, list_suites, load_suite

__all__ = [
    "CaseResult",
    "MachineComparison",
    "Pair",
    "Side",
    "Suite",
    "compare_machines",
    "list_suites",
    "load_suite",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "CaseResult": "outcome",
            "MachineComparison": "outcome",
            "Pair": "outcome",
            "Side": "outcome",
            "Suite": "suite",
            "compare_machines": "machines",
            "list_suites": "suite",
            "load_suite": "suite",
        },
    )
