"""What a scenario file says of the cells of a cellular server."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from homenode.model.document import OrText, Quantity, Table
from homenode.model.scenario.file.amounts import MEMORY, MemorySize, Name, one_of
from homenode.model.units import SIZE

_LOCAL = Quantity(SIZE, "0 B", "1024 TiB")
LocalSize = Annotated[int, _LOCAL]


class Npartition(Table):
    """Cells that make up a server of their own, on a machine of cells."""

    name: Name = Field(description="a name of its own")
    cells: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)] = Field(
        description='write cells = ["cell0", "cell1"]'
    )
    memory: Annotated[list[MemorySize], Field(min_length=1), OrText(one_of, MEMORY.text_schema)] = (
        Field(description="memory installed in each of its cells; one value or one a cell")
    )
    clm: (
        Annotated[list[LocalSize], Field(min_length=1), OrText(one_of, _LOCAL.text_schema)] | None
    ) = Field(
        None,
        description=(
            "how much of it stays with its cell (cell-local memory), the rest of all cells is"
            " interleaved; one value or one a cell; nothing if not given"
        ),
    )
    vpars: bool = Field(
        True,
        description="whether it runs virtual partitions; without them it holds one partition",
    )
    ilm_granule: MemorySize | None = Field(
        None, description="unit of interleaved memory; the platform's if not given"
    )
    clm_granule: MemorySize | None = Field(
        None, description="unit of cell-local memory; the platform's if not given"
    )
