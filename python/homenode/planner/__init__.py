"""Which layout costs least, and why? Entry point: `front.advise`; what else may be asked of a
machine (where does the next partition go, how many more fit, how much more load) is in `questions`.
How many cores recorded partitions need on other machines, and where each goes, is in
`consolidation`. Knows `model`, `simulate`, `records` (the commands that a layout is exported as).

A *variable* is something of a partition that may change, a *form* is a partition with a value for
each of its variables, a *layout* is a form for each partition: a row of numbers. The steady solver
prices rows in batches, rules say how far a row breaks them, the search looks among rows, and what
it finds is simulated beside the layout as it is, with the same arrivals.
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.planner.advice import Advice, Answer, Change
    from homenode.planner.front import advise

__all__ = ["Advice", "Answer", "Change", "advise"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {"Advice": "advice", "Answer": "advice", "Change": "advice", "advise": "front"},
    )
