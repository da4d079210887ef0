"""How many cores do recorded partitions need on other machines, and where does each go? Entry
point: `front.consolidate`.

In this order, each knowing only those before it: `demand` (what each used), `grid` (at the same
time), `core_rates` and `speeds` (in cores of the target), `peaks`, `growth`, `targets`, `asked`,
`spread` (onto machines), `what_if` (lost machines, more partitions), `answer`, `front`, `layouts`
(a scenario of each machine, for advice).
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.planner.consolidation.answer import Consolidation
    from homenode.planner.consolidation.asked import Asked
    from homenode.planner.consolidation.front import Consolidating, consolidate
    from homenode.planner.consolidation.layouts import save

__all__ = ["Asked", "Consolidating", "Consolidation", "consolidate", "save"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Asked": "asked",
            "Consolidating": "front",
            "Consolidation": "answer",
            "consolidate": "front",
            "save": "layouts",
        },
    )
