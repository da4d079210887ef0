"""What `homenode advise` may change, what it is to reach, what must hold: the table `[advise]`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from homenode.model.document import Quantity, Table
from homenode.model.scenario.file.amounts import Name
from homenode.model.units import SHARE, TIME

Goal = Literal["cores", "money", "headroom", "response"]
Word = Literal[
    "home", "memory", "entitlement", "virtual", "smt", "capped", "weight", "pool", "folding",
    "throughput", "cores", "cpuset", "pins", "unparking", "polarization", "pages", "tiles",
    "switches", "guests", "split", "merge", "machine", "granules",
]  # fmt: skip
_Share = Quantity(SHARE, "0 %", "100 %")
_Time = Quantity(TIME, "1 us", "1 d")
_Names = Annotated[list[Name], Field(min_length=1, max_length=1024)]


class Limit(Table):
    """How long transactions may take."""

    partition: Name | None = Field(None, description="which partition; each if not given")
    response: Annotated[int, _Time] | None = Field(None, description="the most of their mean")
    p95: Annotated[int, _Time] | None = Field(
        None, description="the most of the time that 95 of 100 stay under"
    )


class Licence(Table):
    """A product that is paid by the core."""

    product: str = Field(min_length=1, description="name of the product")
    partitions: _Names = Field(description="the partitions that run it")
    cpu_pool: Name | None = Field(
        None,
        description="under z/VM, the CPU pool that all machines with it are in; any if not given",
    )
    cost: Annotated[float, Field(ge=0, le=1e12)] = Field(
        description='what a core of it costs; write cost = 1200.0 and currency = "EUR"'
    )
    currency: Annotated[str, Field(min_length=1, max_length=8)] = Field(
        description="in which currency"
    )
    count: Literal["sub-capacity", "full"] = Field(
        "sub-capacity",
        description="whether the cores that its partitions can use count, or all of the machine",
    )
    factor: Annotated[float, Field(gt=0, le=1000)] = Field(
        1.0, description="licences for a core, such as a core factor"
    )
    owned: Annotated[float, Field(ge=0, le=1e9)] | None = Field(
        None, description="the most licences that there are; no limit if not given"
    )


class Advise(Table):
    """What `homenode advise` looks for."""

    goal: Goal = Field(
        "cores",
        description=(
            "what is to be least: cores, money, or the mean response; or most: headroom, the cores"
            " left over on the fullest node"
        ),
    )
    free: Annotated[list[Word], Field(min_length=1)] = Field(
        ["home", "memory", "entitlement", "virtual", "cpuset", "unparking"],
        description=(
            "what may change of each partition, or (split, merge, machine, granules) of all; if not"
            " given home, memory, entitlement, virtual, cpuset and unparking where there are such"
        ),
    )
    values: dict[str, Annotated[list[object], Field(min_length=1, max_length=64)]] = Field(
        default_factory=dict,
        description=(
            "other values of single paths, as in a sweep:"
            ' "partition.lpar1.processors.virtual" = [8, 12]'
        ),
    )
    pinned: Annotated[list[Name], Field(max_length=1024)] = Field(
        default_factory=list, description="partitions of which nothing changes"
    )
    gives_way: Annotated[list[Name], Field(max_length=1024)] = Field(
        default_factory=list,
        description="partitions that may get less done than now, such as a batch beside others",
    )
    changes: Annotated[int, Field(ge=1, le=1024)] | None = Field(
        None, description="how many changes there may be; any number if not given"
    )
    worth: Annotated[float, _Share] = Field(
        0.01, description="share of the goal's figure that advice must save to be given"
    )
    slower: Annotated[float, Quantity(SHARE, "0 %", "10000 %")] = Field(
        0.1,
        description="how much longer than now a mean response may be where no limit is given",
    )
    headroom: Annotated[float, _Share] = Field(
        0.0, description="share of the active cores that stays unused"
    )
    node_lost: bool = Field(
        False, description="whether all must fit the machine without its largest node"
    )
    apart: Annotated[
        list[Annotated[list[Name], Field(min_length=2, max_length=256)]], Field(max_length=256)
    ] = Field(
        default_factory=list,
        description="partitions that are at home on different nodes, on a server that is one node"
        " on different sockets",
    )
    limit: Annotated[list[Limit], Field(max_length=1024)] = Field(
        default_factory=list, description="limits of the response"
    )
    licence: Annotated[list[Licence], Field(max_length=256)] = Field(
        default_factory=list, description="what products cost"
    )
