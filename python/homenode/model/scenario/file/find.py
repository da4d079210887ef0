"""What a scenario asks for beyond its figures: a number of users, or a benchmark's score."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from homenode.model.document import Quantity, Table
from homenode.model.scenario.file.amounts import Name
from homenode.model.units import TIME

Wanted = Literal["users", "score"]


class Find(Table):
    """What `homenode run` looks for, by as many runs as that takes."""

    of: Wanted = Field(
        "users",
        description=(
            "the most users whose mean response is under a limit, or the score: mean throughput"
            " over N to 2N warehouses"
        ),
    )
    partition: Name | None = Field(
        None, description="which partition; the only one with such a workload if not given"
    )
    response: Annotated[int, Quantity(TIME, "1 us", "1 d")] | None = Field(
        None, description='of users, what their mean response stays under, such as "2 s"'
    )
