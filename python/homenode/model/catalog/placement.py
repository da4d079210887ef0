"""Where PR/SM puts one partition that is alone on a machine."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from homenode.model.catalog.figure import Figure
from homenode.model.document import Table

Count = Annotated[int, Field(ge=1, le=4096)]
MemoryRule = Literal["beside", "striped"]
"""`beside`: with the processors, in proportion; `striped`: over all nodes, whatever their use."""


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
    memory: Figure[MemoryRule] = Field(description="where the memory of the partition lies")
    change: dict[str, Any] = Field(
        default_factory=dict,
        description="numbers of the machine in place of its description's, as a scenario has them",
    )
