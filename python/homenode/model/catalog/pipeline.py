"""What empties a core's pipelines, which no rate of the core tells: the machine's side."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from homenode.model.catalog.figure import CatalogName, Figure
from homenode.model.document import Table
from homenode.model.spec import DrainsSpec

Cycles = Annotated[float, Field(ge=0, le=1e6)]
Targets = Annotated[int, Field(ge=1, le=1_000_000_000)]


class Pipeline(Table):
    """Instructions and branches that empty a core's pipelines, beside the core for which profiles
    state `eicpi`.
    """

    reference: CatalogName = Field(
        description="the shipped machine for whose core profiles state eicpi"
    )
    control_cycles: Figure[Cycles] = Field(
        description=(
            "cycles of an instruction that changes the state of the processor or is left to"
            " millicode"
        )
    )
    branch_targets: Figure[Targets] = Field(
        description="taken branches whose targets the core knows at a time"
    )
    branch_cycles: Figure[Cycles] = Field(
        description="cycles lost to a taken branch whose target it does not know"
    )

    def spec(self) -> DrainsSpec:
        """One side of the `pipeline` part of the engine's input."""
        return {
            "control_cycles": self.control_cycles.value,
            "branch_targets": float(self.branch_targets.value),
            "branch_cycles": self.branch_cycles.value,
        }
