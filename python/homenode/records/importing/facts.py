"""What the readers of recordings hand over: servers, partitions, recorded use and topologies, each
fact with the line it was read from.

Readers only add to `Facts`; which of two values counts, and what a scenario makes of them, is
decided in `assemble`. Units: cores, bytes, hertz, seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from homenode.errors import Where
from homenode.model.scenario import played
from homenode.records.importing.opening.sources import Left, ListingError, Notice

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")
Quantity = played.Quantity


@dataclass(frozen=True)
class Told(Generic[T]):
    """A value and the place that says it."""

    value: T
    where: Where


Text = Told[str]
Count = Told[int]
Amount = Told[float]


@dataclass
class SystemFacts:
    """A physical server, as far as recordings tell of it."""

    key: str
    """How recordings of it are put together: its serial number, else the name of its host."""
    model: Text | None = None
    """Machine type and model as it is printed: 8205-E6C, 2817 M49."""
    architecture: Text | None = None
    """power, s390x, x86_64, ia64."""
    processor: Text | None = None
    """As it is printed: POWER7, Intel(R) Xeon(R) ..."""
    clock_hz: Amount | None = None
    chips: Count | None = None
    cores: Count | None = None
    """Cores in use."""
    installed_cores: Count | None = None
    types: dict[str, Told[int]] = field(default_factory=dict)
    """On a mainframe: cores by type."""
    threads_per_core: Count | None = None
    pool_cores: Count | None = None
    """Cores of the shared processor pool."""
    memory_bytes: Count | None = None
    hypervisor: Text | None = None
    """powervm, pr/sm, z/vm, kvm, vmware."""


@dataclass(frozen=True)
class MachineFacts:
    """A virtual machine of z/VM, as its Control Program counts it."""

    name: Text
    cores: Amount
    """Processors that it used, with what was done on its account [cores]."""
    virtual: Count | None = None
    """Virtual processors."""


@dataclass
class PartitionFacts:
    """A partition or virtual machine, as far as recordings tell of it."""

    name: str
    system: str | None = None
    """Key of its server."""
    number: Count | None = None
    running: Told[bool] | None = None
    """Whether it ran when its state was listed; one that did not is left out of all files."""
    os: Text | None = None
    """aix, linux, hp-ux, z/vm, ibm-i, windows, other."""
    mode: Told[Literal["shared", "dedicated"]] | None = None
    donating: Told[bool] | None = None
    capped: Told[bool] | None = None
    entitlement: Amount | None = None
    """Entitled capacity [cores]."""
    virtual: Count | None = None
    """Online virtual processors, or dedicated cores."""
    logical: Count | None = None
    """Online logical processors: virtual processors times threads."""
    smt: Count | None = None
    weight: Count | None = None
    pool: Text | None = None
    """Name or number of its shared processor pool."""
    pool_maximum: Amount | None = None
    """Most that its pool may use [cores]."""
    hypervisor: Text | None = None
    """Whose guest it is, where its own listing tells: kvm, qemu, xen, virtual machine."""
    quota: Told[tuple[int, int]] | None = None
    """Time of the host's processors that it may use in a period, both in microseconds."""
    pins: dict[int, Told[str]] = field(default_factory=dict)
    """Processors of the host for each virtual one, as a list of the kernel's form."""
    cpuset: Text | None = None
    """Processors of the host for all of it."""
    io_threads: Count | None = None
    """Threads of the host that do its I/O."""
    io_pins: dict[int, Told[str]] = field(default_factory=dict)
    """Processors of the host for each of them, counted from 1."""
    emulator: Text | None = None
    """Processors of the host for QEMU's main loop."""
    core_type: Text | None = None
    """On a mainframe: cp, ifl, ziip, icf."""
    polarization: Text | None = None
    """On a mainframe: vertical, horizontal."""
    unparking: Text | None = None
    """With z/VM: large, medium, small."""
    cpupad: Amount | None = None
    """With z/VM: room above the forecast need [cores]."""
    machines: tuple[MachineFacts, ...] = ()
    """With z/VM: what ran in it, where that is told."""
    memory_bytes: Count | None = None
    minimum: dict[str, Told[float]] = field(default_factory=dict)
    """Of entitlement, virtual, memory_bytes."""
    maximum: dict[str, Told[float]] = field(default_factory=dict)
    desired: dict[str, Told[float]] = field(default_factory=dict)
    memory_by_node: dict[int, Told[int]] = field(default_factory=dict)
    """Bytes by affinity domain (SRAD, NUMA node), with the domain's number as its guest sees it."""
    processors_by_node: dict[int, Told[int]] = field(default_factory=dict)
    """How many of its logical processors are in each of these domains."""


@dataclass(frozen=True)
class Series:
    """Recorded use of one partition; a row a sample, in the order of time."""

    partition: str
    system: str | None
    quantity: Quantity
    table: pl.DataFrame
    """Columns `time` (Datetime, microseconds; end of the sample), `seconds` (float, its length),
    `cores` (float), `line` (integer, 0 if unknown); besides, where known, `user`, `sys`, `wait`,
    `idle` [cores], `folded` [virtual processors], `memory` [bytes].
    """
    file: str
    """Name of the file as it is shown."""
    note: str = ""
    """How `cores` was worked out, if it was not printed so."""
    ahead_s: float | None = None
    """How far `time` is ahead of UTC [s]; None where the recording does not tell its time zone."""


@dataclass(frozen=True)
class Beside:
    """What was recorded of one partition beside its cores; a row a sample, in the order of time."""

    partition: str
    system: str | None
    table: pl.DataFrame
    """Columns `time` (Datetime, microseconds; end of the sample), `seconds` (its length) and some
    of `figures.NAMES`, null where one is not known.
    """
    file: str
    """Name of the file as it is shown."""
    report: str
    """Which report or section of the file tells it."""


@dataclass(frozen=True)
class Gang:
    """A daemon of several threads that writes files out, as its processes were listed."""

    partition: str
    system: str | None
    name: str
    threads: Count
    """The most that it had."""
    table: pl.DataFrame
    """Columns `time` (Datetime, microseconds; end of the sample), `seconds` (its length), `cores`
    (processor time as user and kernel time are counted; 0 where it was not listed); a row a sample.
    """
    report: str
    """Which section of which file lists it."""


REDISPATCHES = ("s0rd", "s1rd", "s2rd", "s3rd", "s4rd", "s5rd")
"""Shares of the redispatches of software threads by how far the logical processor is from the one
before: the same, of the same core, module, chip, node, another node [0..1].
"""
HOME_DISPATCHES = ("s3hrd", "s4hrd", "s5hrd")
"""Shares of the dispatches by how far they are from home: its chip, its node, beyond [0..1]."""
SWITCHES = ("cs", "ics", "ilcs", "vlcs")
"""Counts of context switches, those against the thread's will, and switches of logical processors
against and of their will.
"""


@dataclass(frozen=True)
class Affinity:
    """How near threads of one partition were dispatched again; a row a sample, in order of time."""

    partition: str
    system: str | None
    table: pl.DataFrame
    """Columns `time` (Datetime, microseconds; end of the sample), `seconds` (float, its length; NaN
    where it is not known, as since the system was started), `line` (integer), those of `SWITCHES`,
    `REDISPATCHES` and `HOME_DISPATCHES`; NaN where a level of the tool does not print one.
    """
    file: str
    """Name of the file as it is shown."""
    up_s: float | None = None
    """How long the system had been up when that was printed, where it is told [s]."""

    @property
    def since_start(self) -> bool:
        """Whether it counts since the system was started, or for a time that is not told."""
        return bool(self.table["seconds"].is_nan().all())


@dataclass(frozen=True)
class TopologyObject:
    """One object of a topology tree."""

    kind: str
    """Machine, Drawer, Book, Group, Package, Die, NUMANode, L4, L3, L2, L1d, L1i, Core, PU."""
    os_index: int | None = None
    attributes: Mapping[str, str | int] = field(default_factory=dict)
    """Sizes in bytes, clock in hertz."""
    children: tuple[TopologyObject, ...] = ()

    def walk(self) -> Iterator[TopologyObject]:
        """The object and all below it, depth first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class TopologyFacts:
    """The processors, caches and memory of a host."""

    system: str | None
    root: TopologyObject
    where: Where
    distances: tuple[tuple[float, ...], ...] = ()
    """Between NUMA nodes in the order of their numbers, 10 for its own; empty if unknown."""
    virtual: bool = False
    """Whether it is what a guest sees, so that it says little of the hardware."""


@dataclass(frozen=True)
class BoundMemory:
    """Memory of one kind that is bound to a virtual partition [bytes]."""

    cell: int | None
    """None for interleaved memory, whose lines lie on all cells in turn."""
    base: int
    floating: int


@dataclass(frozen=True)
class VirtualPartitionFacts:
    """A virtual partition of a server of cells, as its monitor lists it."""

    name: Text
    is_down: bool
    limits: Told[tuple[int, int]]
    """Least and most cores."""
    by_path: tuple[str, ...]
    """Cores that were asked for by path."""
    by_cell: Mapping[int, int]
    """Cores that were asked for by cell."""
    by_count: int
    """Cores that were asked for by number."""
    boot: Text | None
    paths: Told[tuple[str, ...]]
    """Paths of all its cores, as far as they are decided."""
    io: Told[Mapping[int, bool]] | None
    """Cells of its I/O; whether it boots from there."""
    memory: tuple[Told[BoundMemory], ...]
    ilm_granule: Count | None
    """Unit of interleaved memory [bytes]."""
    clm_granule: Count | None
    """Unit of cell-local memory [bytes]."""

    @property
    def cores(self) -> int:
        """How many it has."""
        return len(self.by_path) + sum(self.by_cell.values()) + self.by_count

    @property
    def cells(self) -> set[int]:
        """Cells it has cores or memory of."""
        of_memory = {one.value.cell for one in self.memory if one.value.cell is not None}
        return {cell_of(path) for path in self.paths.value} | set(self.by_cell) | of_memory

    def values(self) -> list[object]:
        """All that is told, without the lines that tell it."""
        told = {**vars(self), "memory": [one.value for one in self.memory]}
        return [one.value if isinstance(one, Told) else one for one in told.values()]


def cell_of(path: str) -> int:
    """The cell of a hardware path: its first number."""
    return int(path.replace("/", ".").split(".", 1)[0])


@dataclass(frozen=True)
class CellFacts:
    """A cell of a server of cells."""

    number: int
    npartition: int | None
    """Number of its hard partition."""
    memory_bytes: int | None
    """Memory that is in order; none if the cell is absent."""
    processors: int | None
    deconfigured: int
    """Processors taken out."""
    interleaves: bool
    """Whether it gives memory to the interleaved memory of its partition."""
    has_chassis: bool
    """Whether an I/O chassis is connected to it."""
    where: Where = field(compare=False)


@dataclass(frozen=True)
class Took:
    """What was taken of a file."""

    file: str
    format: str
    """Name of the format, as in SUPPORT.md."""
    what: str
    """In words: 187 samples of 300 s of partition aixlpar."""
    dropped: int = 0
    """Lines or records that were not sound."""


@dataclass
class Facts:
    """All that was found in all files."""

    systems: dict[str, SystemFacts] = field(default_factory=dict)
    partitions: dict[tuple[str | None, str], PartitionFacts] = field(default_factory=dict)
    """By key of the server and name."""
    series: list[Series] = field(default_factory=list)
    affinity: list[Affinity] = field(default_factory=list)
    beside: list[Beside] = field(default_factory=list)
    gangs: list[Gang] = field(default_factory=list)
    topologies: list[TopologyFacts] = field(default_factory=list)
    virtual_partitions: list[VirtualPartitionFacts] = field(default_factory=list)
    """Once for each listing that has it."""
    cells: list[CellFacts] = field(default_factory=list)
    """Once for each listing that has it."""
    local_memory: dict[int, Count] = field(default_factory=dict)
    """Cell-local memory by cell [bytes]."""
    npartitions: dict[int, Text] = field(default_factory=dict)
    """Names of hard partitions by their number."""
    unsound: list[ListingError] = field(default_factory=list)
    """What is wrong with listings of cells: without one of them the layout would be another."""
    notices: list[Notice] = field(default_factory=list)
    took: list[Took] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    afterwards: list[Callable[[], None]] = field(default_factory=list)
    """What readers do once all files are read: one file may tell what another needs."""
    processors: Count | None = None
    """Logical processors of a host whose recordings do not tell, as someone says."""
    between: dict[str, dict[str, float]] = field(default_factory=dict)
    """What files of one format tell each other, by the name of the format."""

    @property
    def of_cells(self) -> bool:
        """Whether listings of a server of cells are there."""
        return bool(self.virtual_partitions or self.cells or self.npartitions or self.unsound)

    def system(self, key: str) -> SystemFacts:
        """The server of that key; a new one if there is none."""
        return self.systems.setdefault(key, SystemFacts(key))

    def partition(self, system: str | None, name: str) -> PartitionFacts:
        """The partition of that name; a new one if there is none."""
        return self.partitions.setdefault((system, name), PartitionFacts(name, system))

    def tell(self, of: SystemFacts | PartitionFacts, attribute: str, told: Told[object]) -> None:
        """Set an attribute; where an earlier value differs, the earlier one stays and a notice
        says so.
        """
        there: Told[object] | None = getattr(of, attribute)
        if there is None:
            setattr(of, attribute, told)
        elif there.value != told.value:
            name = of.name if isinstance(of, PartitionFacts) else of.key or "the server"
            kept = f"{there.value} of {there.where} counts"
            text = f"{attribute} of {name} is {told.value} here; {kept}"
            self.notices.append(Notice(text, told.where))
