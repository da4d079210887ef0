"""What may stand in a scenario file: one class a table, one field a key."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, model_validator
from pydantic_core import PydanticCustomError

from homenode.model.document import Form, OrText, Quantity, Table
from homenode.model.scenario.guest import Aix, Guest
from homenode.model.scenario.host.tables import (
    DEFAULT_PERIOD_NS,
    Burst,
    Cgroup,
    Cpus,
    GroupName,
    Kvm,
    Period,
    Pins,
    Quota,
    Shares,
    Slice,
    one_weight,
)
from homenode.model.scenario.mainframe.tables import (
    ByType,
    Cap,
    CoreType,
    Group,
    Name,
    PagingSpace,
    PartitionMode,
    Polarization,
    Scaling,
    SoftCap,
    Switch,
    VirtualMachine,
    spell_types,
)
from homenode.model.scenario.workload import Workload
from homenode.model.units import SHARE, SIZE, TIME

Cores = Annotated[float, Field(ge=0, le=4096)]
VirtualProcessors = Annotated[int, Field(ge=1, le=1024)]
_MEMORY = Quantity(SIZE, "1 MiB", "1024 TiB")
MemorySize = Annotated[int, _MEMORY]
_LOCAL = Quantity(SIZE, "0 B", "1024 TiB")
LocalSize = Annotated[int, _LOCAL]
HardwarePath = Annotated[
    str,
    Form(r"[0-9]{1,3}[./][0-9]{2,3}", "a path is a cell and a processor in it, such as 0.10"),
]
DEFAULT_POOL = "DefaultPool"
DEFAULT_WEIGHT = 128
"""Weight for excess capacity where none is given."""


def _alone(text: str) -> list[str]:
    return [text]


class MachineChoice(Table):
    """The machine: a shipped model or a file, with any of its numbers replaced for a stated reason.

    `[machine.memory] far = { value = "300 ns", why = "measured on ours" }` replaces one number; the
    tables are those of the machine files, a cache level is named as in `[machine.cache."L3 chip"]`.
    """

    model: str | None = Field(
        None, min_length=1, description="name of a shipped machine, such as ibm-power-795"
    )
    file: str | None = Field(
        None, min_length=1, description="path of a machine file, from the scenario's folder"
    )
    policy: Literal["linux", "credit2"] | None = Field(
        None, description="on an x86 server, who dispatches: linux, or Xen's credit2"
    )
    active_cores: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        None, description="how many cores are activated, from the first chip on"
    )
    characterized: ByType | None = Field(
        None,
        description=(
            "on a mainframe, how many cores there are of which type, as { cp = 4, ifl = 128 }; all"
            " of the one type that is used if not given"
        ),
    )
    clock: dict[str, Any] | None = Field(None, description="another core clock, with the reason")
    core_rate: dict[str, Any] | None = Field(
        None, description="another rate of the core part of instructions"
    )
    line: dict[str, Any] | None = Field(None, description="another length of a cache line")
    accounting: dict[str, Any] | None = Field(None, description="another rule of charging")
    topology: dict[str, Any] | None = Field(None, description="other counts of the tree")
    cache: dict[str, Any] | None = Field(
        None, description="other numbers of a cache level, by its name"
    )
    cache_to_cache: dict[str, Any] | None = Field(
        None, description="other latencies of lines in other cores' caches"
    )
    memory: dict[str, Any] | None = Field(
        None, description="other memory latencies, bandwidth or size"
    )
    links: dict[str, Any] | None = Field(None, description="other bandwidths of the fabric")
    translation: dict[str, Any] | None = Field(
        None, description="another cost of address translation"
    )
    smt: dict[str, Any] | None = Field(None, description="another gain from threads")
    hypervisor: dict[str, Any] | None = Field(None, description="other constants of it")
    node_distance: dict[str, Any] | None = Field(
        None, description="factor on far latencies for each pair of nodes, a row a node"
    )
    platform: dict[str, Any] | None = Field(None, description="other limits of a machine of cells")
    rni: dict[str, Any] | None = Field(
        None, description="other weights of the relative nest intensity"
    )
    streams: dict[str, Any] | None = Field(None, description="other figures of streaming")
    zvm: dict[str, Any] | None = Field(None, description="other limits of z/VM")

    @model_validator(mode="after")
    def _names_one(self) -> MachineChoice:
        """A machine comes from one place."""
        if (self.model is None) == (self.file is None):
            there = (
                "it names no machine" if self.model is None else "it names both a model and a file"
            )
            step = (
                'write model = "ibm-power-795" or file = "mine.toml"; `homenode machines` lists the'
                " models"
            )
            raise PydanticCustomError("fact", "machine", {"there": there, "next_step": step})
        return self


class Pool(Table):
    """A shared processor pool beside the default one."""

    name: Name = Field(description="a name of its own")
    number: Annotated[int, Field(ge=0, le=63)] | None = Field(
        None, description="pool id; counted if not given"
    )
    maximum: Cores | None = Field(
        None, description="the most its partitions may use together, in cores"
    )
    reserved: Cores = Field(0.0, description="capacity kept for its uncapped partitions, in cores")


class Processors(Table):
    """What both kinds have on a mainframe."""

    type: CoreType | None = Field(
        None, description="on a mainframe, the type of its cores: cp, ifl, ziip or icf"
    )
    types: ByType | None = Field(
        None, description="or how many are of which type, as { cp = 2, ifl = 14 }"
    )

    @model_validator(mode="after")
    def _types_are_told_once(self) -> Processors:
        """A type, or numbers by type."""
        if self.type is not None and self.types is not None:
            there, step = "it says both type and types", "leave type out"
            raise PydanticCustomError("fact", "types", {"there": there, "next_step": step})
        return self


class Shared(Processors):
    """Virtual processors dispatched on the shared pool."""

    mode: Literal["shared"] = Field(description="which of the two kinds it is")
    entitlement: Annotated[float, Field(gt=0, le=4096)] | None = Field(
        None, description="entitled capacity in cores; under PR/SM the weights give it"
    )
    virtual: VirtualProcessors = Field(description="how many virtual processors are online")
    capped: bool = Field(
        False,
        description="whether use beyond the entitlement is forbidden; PR/SM's initial capping",
    )
    weight: Annotated[int, Field(ge=0)] | None = Field(
        None,
        description=(
            "weight for excess capacity, 0 to 255, 128 if not given; under PR/SM 1 to 999, which"
            " also gives the entitlement; under Linux cpu.weight of a group of its own, 1 to 10000,"
            " 100 if not given; under Xen 1 to 65535, 256 if not given"
        ),
    )
    pool: Name = Field(DEFAULT_POOL, description="name of its shared processor pool")
    polarization: Polarization | None = Field(
        None,
        description=(
            "under PR/SM, how the entitlement lies on its logical cores; the guest's usual way if"
            " not given"
        ),
    )
    cap: Cap | None = Field(
        None, description="under PR/SM, absolute cap in cores; under Xen, in processors"
    )
    group: Name | None = Field(None, description="under PR/SM, name of its [[group]]")
    defined_capacity: SoftCap | None = Field(
        None, description="under PR/SM, most that its rolling average may be, in cores"
    )
    cgroup: GroupName | None = Field(
        None,
        description=(
            "under Linux, name of the [[cgroup]] it is in, / for the root; a group of its own if"
            " not given"
        ),
    )
    shares: Shares | None = Field(
        None, description="under Linux, cpu.shares of version 1 in place of weight"
    )
    quota: Quota | None = Field(
        None, description="under Linux, time that it may use in a period, all processors together"
    )
    period: Period = Field(DEFAULT_PERIOD_NS, description="the period of the quota")
    burst: Burst = Field(0, description="under Linux, time saved up beyond the quota")
    cpuset: Cpus | None = Field(None, description="under Linux, processors that it may use")
    pins: Pins | None = Field(
        None,
        description=(
            "under Linux or Xen, processors that each virtual processor may use, in order; one"
            " entry is for all"
        ),
    )
    nice: Annotated[int, Field(ge=-20, le=19)] = Field(
        0, description="under Linux, the nice value of its threads"
    )
    slice: Slice | None = Field(
        None, description="under Linux, the slice its threads ask for; the base slice if not given"
    )

    @model_validator(mode="before")
    @classmethod
    def _types_make_all(cls, data: Any) -> Any:
        return spell_types(data, "virtual")

    @model_validator(mode="after")
    def _weighs_once(self) -> Shared:
        one_weight(self.weight, self.shares)
        return self


class Dedicated(Processors):
    """Whole cores of its own."""

    mode: Literal["dedicated"] = Field(description="which of the two kinds it is")
    cores: VirtualProcessors = Field(description="how many cores it has")
    donating: bool = Field(False, description="whether idle cores are lent to the shared pool")
    donate_threshold: Annotated[float, Quantity(SHARE, "0 %", "100 %")] = Field(
        0.8, description="ded_cpu_donate_thresh: utilisation under which it donates"
    )
    cells: dict[str, Annotated[int, Field(ge=1, le=1024)]] | None = Field(
        None, description="how many of the cores are of which cell, as { cell0 = 4, cell1 = 4 }"
    )
    paths: Annotated[list[HardwarePath], Field(max_length=1024)] | None = Field(
        None, description="cores by their hardware path, such as 0.10, beside those by cell"
    )
    minimum: VirtualProcessors | None = Field(None, description="least cores it may have")
    maximum: VirtualProcessors | None = Field(None, description="most cores it may have")
    boot: HardwarePath | None = Field(
        None, description="path of the core it boots on; one of its own is chosen if not given"
    )

    @model_validator(mode="before")
    @classmethod
    def _types_make_all(cls, data: Any) -> Any:
        return spell_types(data, "cores")

    @property
    def names_cores(self) -> bool:
        """Whether it says anything that only a machine of cells understands."""
        named = (self.cells, self.paths, self.minimum, self.maximum, self.boot)
        return any(value is not None for value in named)


class Npartition(Table):
    """Cells that make up a server of their own, on a machine of cells."""

    name: Name = Field(description="a name of its own")
    cells: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)] = Field(
        description='write cells = ["cell0", "cell1"]'
    )
    memory: Annotated[
        list[MemorySize], Field(min_length=1), OrText(_alone, _MEMORY.text_schema)
    ] = Field(description="memory installed in each of its cells; one value or one a cell")
    clm: (
        Annotated[list[LocalSize], Field(min_length=1), OrText(_alone, _LOCAL.text_schema)] | None
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


class Resources(Table):
    """Bounds or wishes of a partition's profile, as `lparstat -i` prints them."""

    entitlement: Annotated[float, Field(gt=0, le=4096)] | None = Field(
        None, description="entitled capacity in cores"
    )
    virtual: VirtualProcessors | None = Field(None, description="virtual processors")
    cores: VirtualProcessors | None = Field(None, description="cores of a dedicated partition")
    memory: MemorySize | None = Field(None, description="size of its memory")


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


def _one_part(text: str) -> list[dict[str, str]]:
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
        OrText(_one_part, _MEMORY.text_schema),
    ] = Field(description='write memory = "40 GiB"')
    home: (
        Annotated[
            list[Annotated[str, Field(min_length=1)]],
            Field(min_length=1, max_length=256),
            OrText(_alone, {"type": "string", "examples": ["book5", "book5.chip2"]}),
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
    guest: Guest = Field(default_factory=Aix, description="its operating system")
    workload: Workload = Field(
        description='write workload = { kind = "transactions", rate = "100/s", profile = "oltp" }'
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
    switch: Annotated[list[Switch], Field(max_length=1024)] = Field(
        default_factory=list, description="under z/VM, its virtual switches"
    )
    paging: PagingSpace | None = Field(
        None, description="under z/VM, its paging volumes; nothing is paged out if not given"
    )
    cp: dict[str, Any] | None = Field(
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
    minimum: Resources | None = Field(None, description="least it may have, for `lparstat -i`")
    maximum: Resources | None = Field(None, description="most it may have, for `lparstat -i`")
    desired: Resources | None = Field(None, description="what it wishes, for `lparstat -i`")


class Run(Table):
    """How long and how often."""

    warmup: Annotated[int, Quantity(TIME, "0 ns", "30 d")] = Field(
        5_000_000_000, description="simulated time before anything is recorded"
    )
    duration: Annotated[int, Quantity(TIME, "1 ms", "365 d")] = Field(
        60_000_000_000, description="simulated time that is recorded"
    )
    interval: Annotated[int, Quantity(TIME, "1 ms", "1 d")] | None = Field(
        None, description="length of one recorded interval; 1 s, or the duration if that is shorter"
    )
    replications: Annotated[int, Field(ge=1, le=10_000)] = Field(
        5, description="how often, each with other random numbers"
    )
    seed: Annotated[int, Field(ge=0, lt=2**64)] = Field(1, description="seed of all random numbers")
    record_dispatches: bool = Field(False, description="whether every dispatch is written down")

    @property
    def interval_ns(self) -> int:
        """Length of an interval, given or not [ns]."""
        return min(1_000_000_000, self.duration) if self.interval is None else self.interval


class ScenarioFile(Table):
    """A scenario file as a whole."""

    name: Name | None = Field(
        None, description="name of the scenario; that of the file if not given"
    )
    title: str | None = Field(None, description="one line on what it is about")
    machine: MachineChoice = Field(
        description='write [machine] and under it model = "ibm-power-795"'
    )
    pool: Annotated[list[Pool], Field(max_length=63)] = Field(
        default_factory=list, description="shared processor pools beside the default one"
    )
    npartition: Annotated[list[Npartition], Field(max_length=64)] = Field(
        default_factory=list, description="on a machine of cells, which cells belong together"
    )
    group: Annotated[list[Group], Field(max_length=64)] = Field(
        default_factory=list,
        description="under PR/SM, partitions that may use so many cores together",
    )
    cgroup: Annotated[list[Cgroup], Field(max_length=1024)] = Field(
        default_factory=list, description="under Linux, control groups, outer ones first"
    )
    partition: Annotated[list[Partition], Field(min_length=1, max_length=1024)] = Field(
        description="write [[partition]] and under it name, processors, memory and workload"
    )
    run: Run = Field(default_factory=Run, description="how long and how often")
    scaling: Scaling | None = Field(
        None, description="what `homenode scaling` makes grow with the processors"
    )
    sweep: dict[str, list[Any]] | None = Field(
        None, description="axes whose product is the list of runs"
    )
