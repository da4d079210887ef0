"""A partition in a scenario file: one class a table, one field a key."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field

from homenode.model.document import OrOne, OrText, Table
from homenode.model.scenario.file.amounts import MEMORY, MemorySize, Name, one_of
from homenode.model.scenario.file.guest import Aix, Guest
from homenode.model.scenario.file.host import Kvm
from homenode.model.scenario.file.interrupts import Interrupts
from homenode.model.scenario.file.load import MOST_LOADS
from homenode.model.scenario.file.mainframe import (
    CpuPool,
    PagingSpace,
    PartitionMode,
    Switch,
    VirtualMachine,
)
from homenode.model.scenario.file.processors import Dedicated, Resources, Shared
from homenode.model.scenario.file.workload import Workload


class MemoryPart(Table):
    """Part of a partition's memory and where it lies."""

    size: MemorySize = Field(description="size of this part")
    on: str | None = Field(
        None,
        min_length=1,
        description=(
            "a place, such as book5, book5.chip2 or cell1; interleaved for all cells of its"
            " nPartition; if not given its home, or interleaved"
        ),
    )
    use: Literal["base", "floating"] = Field(
        "base", description="whether it may be taken away while the virtual partition runs"
    )


def one_part(text: str) -> list[dict[str, str]]:
    """Memory that is told by its size alone."""
    return [{"size": text}]


class Partition(Table):
    """A logical partition, or `count` of the same kind."""

    name: Name = Field(description="a name of its own")
    number: Annotated[int, Field(ge=1, le=65535)] | None = Field(
        None, description="partition id; counted if not given"
    )
    count: Annotated[int, Field(ge=1, le=1024)] = Field(
        1, description="how many; they are called name1, name2, ..."
    )
    npartition: Name | None = Field(
        None, description="on a machine of cells, its nPartition; the only one if not given"
    )
    processors: Annotated[Shared | Dedicated, Discriminator("mode")] = Field(
        description='write processors = { mode = "shared", entitlement = 1.0, virtual = 2 }'
    )
    smt: Annotated[int, Field(ge=1, le=8)] | None = Field(
        None, description="threads used of each core; all if not given"
    )
    memory: Annotated[
        list[MemoryPart],
        Field(min_length=1, max_length=256),
        OrText(one_part, MEMORY.text_schema),
    ] = Field(description='write memory = "40 GiB"')
    home: (
        Annotated[
            list[Annotated[str, Field(min_length=1)]],
            Field(min_length=1, max_length=256),
            OrText(one_of, {"type": "string", "examples": ["book5", "book5.chip2"]}),
        ]
        | None
    ) = Field(
        None,
        description=(
            "where its virtual processors are at home; placed by the usual rule if not given"
        ),
    )
    io: str | None = Field(
        None, min_length=1, description="on a machine of cells, the cell its I/O hangs on"
    )
    guest: Guest = Field(
        default_factory=Aix, description='its operating system; write guest = { os = "linux" }'
    )
    loads: Annotated[list[Workload], Field(min_length=1, max_length=MOST_LOADS), OrOne()] = Field(
        alias="workload",
        description='write workload = { kind = "transactions", rate = "100/s", profile = "oltp" },'
        " or [[partition.workload]] for each of several",
    )
    mode: PartitionMode | None = Field(
        None,
        description=(
            "on a mainframe, linux-only, z/vm or general; if not given linux-only, or z/vm where"
            " z/VM has cores of several types"
        ),
    )
    virtual_machine: Annotated[list[VirtualMachine], Field(max_length=4096)] = Field(
        default_factory=list, description="under z/VM, its virtual machines"
    )
    cpu_pool: Annotated[list[CpuPool], Field(max_length=1024)] = Field(
        default_factory=list,
        description="under z/VM, CPU pools: virtual machines that are limited together",
    )
    switch: Annotated[list[Switch], Field(max_length=1024)] = Field(
        default_factory=list, description="under z/VM, its virtual switches"
    )
    paging: PagingSpace | None = Field(
        None, description="under z/VM, its paging volumes; nothing is paged out if not given"
    )
    cp: dict[str, object] | None = Field(
        None,
        description=(
            "under z/VM, other numbers of its Control Program, with the reason, as"
            ' [partition.cp.paths] frame = { value = 2500, why = "..." }'
        ),
    )
    kvm: Kvm | None = Field(
        None,
        description=(
            "under Linux, {} if its threads are virtual processors of a KVM guest; processes of the"
            " host if not given"
        ),
    )
    interrupts: Interrupts | None = Field(
        None,
        description=(
            "what interrupts of its devices cost and which processors take them, {} for the usual;"
            " nothing if not given"
        ),
    )
    minimum: Resources | None = Field(None, description="least it may have, for `lparstat -i`")
    maximum: Resources | None = Field(None, description="most it may have, for `lparstat -i`")
    desired: Resources | None = Field(None, description="what it wishes, for `lparstat -i`")

    @property
    def workload(self) -> Workload:
        """Its only workload, or the first of several."""
        return self.loads[0]
