"""Two machines held against each other, class of work by class of work:
`compare_machines("ibm-z196", "ibm-zec12")`.
"""

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
