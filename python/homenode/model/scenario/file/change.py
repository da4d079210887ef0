"""What an operator changes while the partitions run."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from homenode.model.document import OrText, Quantity, Table
from homenode.model.scenario.file.amounts import MEMORY, Name, VirtualProcessors
from homenode.model.scenario.file.partition import MemoryPart, one_part
from homenode.model.units import TIME


class Change(Table):
    """A partition's configuration from a time on; what is left out stays as it is."""

    at: Annotated[int, Quantity(TIME, "0 ns", "365 d")] = Field(
        description='when, from the end of the warm-up; write at = "30 s"'
    )
    partition: Name = Field(description="name of the partition")
    entitlement: Annotated[float, Field(gt=0, le=4096)] | None = Field(
        None, description="under PowerVM, entitled capacity in cores"
    )
    virtual: VirtualProcessors | None = Field(
        None, description="under PowerVM and PR/SM, how many virtual processors are online"
    )
    capped: bool | None = Field(
        None,
        description="under PowerVM and PR/SM, whether use beyond the entitlement is forbidden",
    )
    weight: Annotated[int, Field(ge=-1)] | None = Field(
        None, description="under PowerVM and PR/SM, weight, as with processors"
    )
    smt: Annotated[int, Field(ge=1, le=8)] | None = Field(
        None, description="under PowerVM, threads used of each core"
    )
    cores: VirtualProcessors | None = Field(
        None, description="on a machine of cells, how many cores the virtual partition has"
    )
    memory: (
        Annotated[
            list[MemoryPart],
            Field(min_length=1, max_length=256),
            OrText(one_part, MEMORY.text_schema),
        ]
        | None
    ) = Field(
        None,
        description=(
            "under PowerVM and on a machine of cells, all of its memory from then on; of a virtual"
            " partition only floating memory goes"
        ),
    )
    running: bool | None = Field(
        None,
        description=(
            "whether it runs from then on; what it had in hand when it stops is lost; if the first"
            " such change starts it, it did not run before"
        ),
    )
