"""Where PR/SM puts one partition that is alone on a machine."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from homenode.model.catalog.figure import Figure
from homenode.model.document import Quantity, Table
from homenode.model.units import SHARE, TIME

Count = Annotated[int, Field(ge=1, le=4096)]
Speed = Annotated[float, Quantity(SHARE, "1 %", "100 %")]
Burst = Annotated[int, Quantity(TIME, "1 ns", "1 ms")]
MemoryRule = Literal["beside", "drawers", "striped"]
"""`beside`: with the processors, in proportion; `drawers`: so over drawers, and over the nodes of a
drawer evenly; `striped`: over all nodes, whatever their use.
"""


class Placement(Table):
    """Its processors and its memory, and the numbers of the machine that were found with them."""

    processors: Figure[Count] | None = Field(
        None,
        description=(
            "processors for customers, spread evenly over the nodes; all active cores if not given"
        ),
    )
    group_chips: Figure[Count] | None = Field(
        None, description="chips of a group that is filled before the next; all of a node if absent"
    )
    nodes: Figure[Count] | None = Field(
        None, description="nodes that this model of the machine has; all if absent"
    )
    drawer_nodes: Figure[Count] | None = Field(
        None, description="nodes of a drawer; a node is one if absent"
    )
    memory: Figure[MemoryRule] = Field(description="where the memory of the partition lies")
    speed: Figure[Speed] | None = Field(
        None,
        description="speed of a processor that is slowed by its maker, as a share of full speed",
    )
    burst: Figure[Burst] | None = Field(
        None, description="how long such a processor works at a time before it pauses"
    )
    change: dict[str, Any] = Field(
        default_factory=dict,
        description="numbers of the machine in place of its description's, as a scenario has them",
    )
