"""What a scenario file may say of a mainframe: one class a table, one field a key."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, model_validator
from pydantic_core import PydanticCustomError

from homenode.model.catalog.profile_model import Share
from homenode.model.document import OrText, Quantity, Table
from homenode.model.scenario.file.amounts import Name
from homenode.model.scenario.file.cores import Schedule, UseOrText, check_said
from homenode.model.scenario.file.workload import BurstWork, Recorded
from homenode.model.units import RATE, SHARE, SIZE, TIME

CoreType = Literal["cp", "ifl", "ziip", "icf"]
CORE_TYPES: tuple[CoreType, ...] = ("cp", "ifl", "ziip", "icf")
PartitionMode = Literal["linux-only", "z/vm", "general"]
Polarization = Literal["vertical", "horizontal"]
Role = Literal["client", "server", "loop", "idle"]
CoreCount = Annotated[int, Field(ge=0, le=4096)]
ByType = dict[CoreType, CoreCount]
Cap = Annotated[float, Field(gt=0, le=4096)]
MOST_VIRTUAL_CPUS = 64
"""Virtual processors that z/VM can give a virtual machine."""

GuestMemory = Annotated[int, Quantity(SIZE, "1 MiB", "16 TiB")]
Volumes = Annotated[int, Quantity(SIZE, "1 MiB", "1024 TiB")]
AbsoluteShare = Annotated[float, Quantity(SHARE, "0.1 %", "100 %")]
RelativeShare = Annotated[int, Field(ge=1, le=10_000)]


class Group(Table):
    """Partitions that may use so many cores together, whatever each of them may."""

    name: Name = Field(description="a name of its own")
    cap: Cap = Field(description="the most its partitions may use together, in cores")


class DefinedCapacity(Table):
    """Soft capping: a partition is capped while its rolling average is above this."""

    cores: Cap = Field(description="the most the average may be, in cores")
    window: Annotated[int, Quantity(TIME, "1 s", "1 d")] = Field(
        14_400_000_000_000, description="how far back the average goes; four hours if not given"
    )
    start: Annotated[float, Field(ge=0, le=4096)] = Field(
        0.0, description="the average at the start of the run, in cores"
    )


def _cores(number: Any) -> Any:
    return {"cores": number}


SoftCap = Annotated[DefinedCapacity, OrText(_cores, {"type": "number", "exclusiveMinimum": 0})]


class Scaling(Table):
    """What `homenode scaling` makes grow with the processors."""

    by: Literal["tiles", "guests"] = Field(
        "tiles", description="switches with their machines, or the machines of every switch"
    )
    partition: Name | None = Field(
        None, description="which partition; the only one with z/VM if not given"
    )


class GuestShare(Table):
    """What a virtual machine gets of the partition's processors (`SET SHARE`)."""

    absolute: AbsoluteShare | None = Field(
        None, description='part of all processors, such as "10 %"'
    )
    relative: RelativeShare | None = Field(
        None, description="in proportion to the others', 1 to 10000"
    )

    @model_validator(mode="after")
    def _is_one(self) -> GuestShare:
        """A share is of one kind."""
        if (self.absolute is None) == (self.relative is None):
            said = "says neither" if self.absolute is None else "says both"
            there = f"a share is absolute or relative, this {said}"
            step = 'write { relative = 100 } or { absolute = "10 %" }'
            raise PydanticCustomError("fact", "share", {"there": there, "next_step": step})
        return self


class ShareLimit(GuestShare):
    """Most that a virtual machine may get."""

    hard: bool = Field(
        True,
        description=(
            "whether the limit holds even if processors idle (LIMITHARD), or gives way then"
            " (LIMITSOFT)"
        ),
    )


class CpuPool(Table):
    """Virtual machines of z/VM that may use so many cores together (`DEFINE CPUPOOL`)."""

    name: Name = Field(description="a name of its own")
    capacity: Annotated[float, Field(ge=0.01, le=999)] | None = Field(
        None,
        description="the most its members may use together, in cores (CAPACITY), such as 2.5",
    )
    limit: Annotated[float, Quantity(SHARE, "0.01 %", "100 %")] | None = Field(
        None,
        description='in place of capacity: part of the cores of its type (LIMITHARD), as "20 %"',
    )
    type: Literal["cp", "ifl"] | None = Field(
        None, description="which cores it limits; those of the partition's first type if not given"
    )

    @model_validator(mode="after")
    def _is_limited(self) -> CpuPool:
        """A pool has one limit."""
        if (self.capacity is None) == (self.limit is None):
            said = "neither" if self.capacity is None else "both"
            there = f"a CPU pool has a capacity in cores or a limit, this one has {said}"
            step = 'write capacity = 2.5, or limit = "20 %"'
            raise PydanticCustomError("fact", "capacity", {"there": there, "next_step": step})
        return self


Bursts = Annotated[float, Field(ge=1, le=1e6, description="mean number of processor bursts of one")]
BurstWait = Annotated[
    int,
    Quantity(TIME, "0 ns", "1 d"),
    Field(description="mean wait between two bursts, as for a database's answer"),
]


class GuestTransactions(Table):
    """Transactions that come to a virtual machine from outside the partition, at random."""

    kind: Literal["transactions"] = Field(description="which kind of work it is")
    rate: Annotated[float, Quantity(RATE, "0.001/s", "1e6/s")] = Field(
        description='arrivals at each machine, such as "200/s"'
    )
    bursts: Bursts = 1.0
    wait: BurstWait = 0
    instructions: Annotated[int, Field(ge=1, le=1_000_000_000_000)] | None = Field(
        None, description="the guest's instructions for one, mean; the profile's if not given"
    )
    work: BurstWork = Field(
        "exponential", description="distribution of these, of each burst where there are several"
    )
    answer: Annotated[int, Quantity(SIZE, "0 B", "1 GiB")] = Field(
        0, description="what it sends for one over its switch; nothing if not given"
    )


class GuestUsers(Table):
    """Users of a virtual machine who think between two transactions."""

    kind: Literal["users"] = Field(description="which kind of work it is")
    count: Annotated[int, Field(ge=1, le=1_000_000)] = Field(description="users of each machine")
    think: Annotated[int, Quantity(TIME, "0 ns", "1 d")] = Field(
        description='mean think time, such as "5 s"'
    )
    bursts: Bursts = 1.0
    wait: BurstWait = 0
    instructions: Annotated[int, Field(ge=1, le=1_000_000_000_000)] | None = Field(
        None, description="the guest's instructions for one, mean; the profile's if not given"
    )
    work: BurstWork = Field(
        "exponential", description="distribution of these, of each burst where there are several"
    )
    answer: Annotated[int, Quantity(SIZE, "0 B", "1 GiB")] = Field(
        0, description="what it sends for one over its switch; nothing if not given"
    )


class GuestCores(Table):
    """Transactions of a virtual machine told by the processors that they keep busy on the layout as
    stated; how many come is found by playing it.
    """

    kind: Literal["cores"] = Field(description="which kind of work it is")
    use: UseOrText | None = Field(
        None, description='processors that it uses, such as "0.5", CP on its account among them'
    )
    busy: Share | None = Field(
        None, description='in place of use: how busy its virtual processors are, such as "60 %"'
    )
    schedule: Schedule | None = Field(None, description="in place of use: a day, part by part")
    work_file: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="file in which its work was kept, so that it is not looked for again"
    )
    instructions: Annotated[int, Field(ge=1, le=1_000_000_000_000)] | None = Field(
        None, description="the guest's instructions for one, mean; the profile's if not given"
    )
    work: BurstWork = Field("exponential", description="distribution of these")
    answer: Annotated[int, Quantity(SIZE, "0 B", "1 GiB")] = Field(
        0, description="what it sends for one over its switch; nothing if not given"
    )

    @model_validator(mode="after")
    def _says_how_much(self) -> GuestCores:
        """Exactly one of the ways to say it."""
        check_said(self.use, self.busy, self.schedule)
        return self


class GuestTrace(Recorded):
    """Recorded demand of a virtual machine, the guest's own instructions, played step by step in
    transactions.
    """

    instructions: Annotated[int, Field(ge=1, le=1_000_000_000_000)] | None = Field(
        None, description="the guest's instructions for one, mean; the profile's if not given"
    )
    work: BurstWork = Field("exponential", description="distribution of these")
    answer: Annotated[int, Quantity(SIZE, "0 B", "1 GiB")] = Field(
        0, description="what it sends for one over its switch; nothing if not given"
    )


GuestWork = Annotated[
    GuestTransactions | GuestUsers | GuestCores | GuestTrace,
    Discriminator("kind"),
]


class VirtualMachine(Table):
    """A virtual machine of z/VM, or `count` of the same kind."""

    name: Name = Field(description="a name of its own")
    count: Annotated[int, Field(ge=1, le=4096)] = Field(
        1,
        description=(
            "how many, for each switch of the name it is coupled to; they are called name1, name2,"
            " ..."
        ),
    )
    cpus: Annotated[int, Field(ge=1, le=4096)] = Field(1, description="its virtual processors")
    memory: GuestMemory = Field(description='guest real memory, such as "1 GiB"')
    role: Role | None = Field(
        None,
        description=(
            "client (sends requests to all servers on its switch), server, loop (computes without"
            " end) or idle; not given where workload is"
        ),
    )
    workload: GuestWork | None = Field(
        None, description="transactions that come to it from outside, in place of a role"
    )
    switch: Name | None = Field(None, description="virtual switch it is coupled to")
    share: GuestShare = Field(
        default_factory=lambda: GuestShare(relative=100), description="least it is to get"
    )
    limit: ShareLimit | None = Field(None, description="most it may get; no limit if not given")
    cpu_pool: Name | None = Field(
        None, description="CPU pool that limits it with others (`SCHEDULE`); none if not given"
    )

    @model_validator(mode="after")
    def _does_something(self) -> VirtualMachine:
        """A machine has a role or work of its own."""
        if (self.role is None) == (self.workload is None):
            said = "neither" if self.role is None else "both"
            there = f"a virtual machine has a role or a workload of its own, this one has {said}"
            step = 'write role = "client", or workload = { kind = "transactions", rate = "200/s" }'
            raise PydanticCustomError("fact", "role", {"there": there, "next_step": step})
        return self


class Switch(Table):
    """A virtual switch, or `count` of them, each with virtual machines of its own."""

    name: Name = Field(description="a name of its own")
    count: Annotated[int, Field(ge=1, le=1024)] = Field(
        1, description="how many; machines coupled to it are repeated for each"
    )
    layer: Literal[2, 3] = Field(
        description="2 finds the receiver in a table of addresses, 3 in a list that is searched"
    )


class PagingSpace(Table):
    """Paging volumes, all behind one storage server."""

    volumes: Annotated[int, Field(ge=1, le=4096)] = Field(description="how many volumes there are")
    control_units: Annotated[int, Field(ge=1, le=256)] = Field(
        1, description="logical control units over which the volumes are spread evenly"
    )
    aliases: Annotated[int, Field(ge=0, le=255)] = Field(
        0, description="HyperPAV aliases of each control unit; none if not given"
    )
    paths: Annotated[int, Field(ge=0, le=255)] = Field(
        0,
        description="channels to the storage server, which all control units share: command mode "
        "holds one while it is connected, transport mode for an exchange and the pages on its "
        "link; never the limit if not given",
    )
    mode: Literal["transport", "command"] = Field(
        "transport", description="channel programs in transport mode (zHPF) or command mode"
    )
    size: Volumes = Field(description='size of all volumes together, such as "8 TiB"')


def spell_types(data: Any, total: str) -> Any:
    """Processors with the sum of `types` put in where the total is not given."""
    types = data.get("types") if isinstance(data, dict) else None
    if not isinstance(types, dict) or total in data:
        return data
    counts = [count for count in types.values() if isinstance(count, int)]
    return {**data, total: sum(counts)} if counts and sum(counts) > 0 else data
