"""Machine descriptions: a tree of nodes, chips, cores and threads, every number with its source or
a range.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter

from homenode.model.catalog.figure import CatalogName, Figure, Latency
from homenode.model.catalog.hosts import Credit2Host, HostOnLinux
from homenode.model.catalog.hypervisor import Hypervisor
from homenode.model.catalog.pipeline import Pipeline
from homenode.model.catalog.placement import Placement
from homenode.model.catalog.platform import Platform
from homenode.model.catalog.streams import Streams
from homenode.model.catalog.zvm import ZvmSupport
from homenode.model.document import Quantity, Table
from homenode.model.units import BANDWIDTH, FREQUENCY, SIZE

Count = Annotated[int, Field(ge=1, le=4096)]
Year = Annotated[int, Field(ge=1960, le=2100)]
CapacityIndex = Annotated[float, Field(gt=0, le=1e6)]
Clock = Annotated[float, Quantity(FREQUENCY, "1 MHz", "100 GHz")]
CacheSize = Annotated[int, Quantity(SIZE, "1 KiB", "16 GiB")]
MemorySize = Annotated[int, Quantity(SIZE, "1 MiB", "1024 TiB")]
PageSize = Annotated[int, Quantity(SIZE, "1 KiB", "64 GiB")]
LineSize = Annotated[int, Quantity(SIZE, "8 B", "4 KiB")]
Bandwidth = Annotated[float, Quantity(BANDWIDTH, "1 MB/s", "1000 TB/s")]
Gain = Annotated[float, Field(gt=0, le=16)]
Share = Annotated[float, Field(ge=0, lt=1)]
Part = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0, le=100)]
Weight = Annotated[float, Field(gt=0, le=1000)]
_INSTRUCTION_SETS = {
    r"power ?\d": "POWER",
    r"z(\d|ec)": "z/Architecture",
    r".*itanium": "Itanium",
    r".*(xeon|epyc|intel|amd|x86)": "x86-64",
}
"""By how the name of a generation begins."""


class Topology(Table):
    """How many of each kind hang below each other."""

    nodes: Figure[Annotated[int, Field(ge=1, le=64)]]
    nodes_per_socket: Figure[Annotated[int, Field(ge=1, le=8)]] | None = Field(
        None, description="nodes that are parts of one socket, where it has several"
    )
    chips_per_node: Figure[Annotated[int, Field(ge=1, le=64)]]
    cores_per_chip: Figure[Annotated[int, Field(ge=1, le=64)]]
    threads_per_core: Figure[Annotated[int, Field(ge=1, le=8)]]
    active_cores: Figure[Count] = Field(
        description="how many cores are activated, counted from the first chip on"
    )


class CacheLevel(Table):
    """A level of the cache hierarchy: how much it holds, who shares it, how far it is."""

    name: str = Field(min_length=1)
    scope: Literal["part", "core", "chip", "node"] = Field(
        description="the level at which an instance is shared"
    )
    victim: bool = Field(
        description="true if it holds only what the levels inside it have thrown out"
    )
    size: Figure[CacheSize] = Field(description="its size; of a split level that for data")
    instruction_size: Figure[CacheSize] | None = Field(
        None, description="of a split level, the size of the part for instructions"
    )
    ways: Figure[Annotated[int, Field(ge=1, le=4096)]] | None = Field(
        None, description="associativity"
    )
    latency: Figure[Latency]
    bandwidth: Figure[Bandwidth] | None = Field(
        None,
        description="what an instance of a chip or node delivers; as much as is asked if not given",
    )

    @property
    def bytes(self) -> int:
        """What it holds of both data and instructions, where both are known."""
        return self.size.value + (self.instruction_size.value if self.instruction_size else 0)


class Distances(Table):
    """Latency by how far up the tree one must go: same chip, same node, another node."""

    local: Figure[Latency]
    near: Figure[Latency]
    far: Figure[Latency]


class MemoryLoad(Table):
    """How memory controllers serve what is asked of them: a line waits for its bank, then for its
    channel.
    """

    channels: Figure[Annotated[int, Field(ge=1, le=1024)]] = Field(
        description="channels beside one chip (or node), over which lines are spread"
    )
    bank: Figure[Latency] = Field(
        description="what a line waits for its bank at full load; below, in proportion to the load"
    )
    channel_wait: Figure[Annotated[float, Field(ge=0, le=10)]] = Field(
        description=(
            "what it waits for its channel, in times of a line and of load / (1 - load); 0.5 where"
            " lines come at random"
        )
    )
    write_cost: Figure[Annotated[float, Field(gt=0, le=10)]] = Field(
        description="time of the channels for a line written, in times of one read"
    )


class Memory(Distances):
    """Memory: where it hangs, latency by distance, what the controllers deliver, how much there can
    be.
    """

    beside: Literal["chip", "node"] = Field(
        "chip", description="whether it hangs beside each chip, or beside each node"
    )
    quarter: Figure[Latency] | None = Field(
        None,
        description=(
            "latency to the memory of a chip's own quarter of a node, where a scenario's nps"
            " divides it; such nodes are not divided if not given"
        ),
    )
    bandwidth: Figure[Bandwidth] = Field(
        description="what the memory controllers of one chip (or node) deliver to reads"
    )
    load: MemoryLoad | None = Field(
        None, description="what lines wait there; one channel with random arrivals if not given"
    )
    maximum: Figure[MemorySize] = Field(description="the most memory the machine can hold")


class Links(Table):
    """Bandwidth of the fabric, in each direction."""

    chip: Figure[Bandwidth] = Field(description="between a chip and the rest of its node")
    node: Figure[Bandwidth] = Field(description="between a node and all others")
    chip_links: Figure[Count] | None = Field(
        None, description="links that make up a chip's bandwidth; one if not given"
    )
    node_links: Figure[Count] | None = Field(
        None, description="links that make up a node's bandwidth; one if not given"
    )


class Smt(Table):
    """Simultaneous multithreading."""

    gain: Figure[list[Gain]] = Field(
        description="throughput with 1, 2, ... busy threads relative to one"
    )
    reference: str = Field(
        description="profile of the work that the gain was published for, caches included"
    )
    parts: Figure[Annotated[int, Field(ge=1, le=8)]] | None = Field(
        None, description="parts of a core with issue slots of their own; 1 if not given"
    )


class Translation(Table):
    """Translation of data addresses, where what it costs is not within the caches' latencies."""

    entries: Figure[Annotated[int, Field(ge=1, le=1_000_000)]] = Field(
        description="pages whose translations a core holds"
    )
    walk: Figure[Latency] = Field(description="time to walk the tables for any other page")
    pages: Figure[list[PageSize]] | None = Field(
        None, description="page sizes that the processor has, smallest first; any if not given"
    )

    def page(self, most: int) -> int:
        """The largest page of at most so many bytes, or the smallest there is [bytes]."""
        if self.pages is None:
            return most
        fitting = [size for size in self.pages.value if size <= most]
        return max(fitting, default=min(self.pages.value))


class Walks(Table):
    """How tables of translations are walked; a virtual machine's with the hypervisor's inside."""

    entries: Figure[Annotated[int, Field(ge=1, le=1_000_000)]] = Field(
        description="pages of up to 2 MiB whose translations a core holds"
    )
    large_entries: Figure[Annotated[int, Field(ge=0, le=1_000_000)]] = Field(
        description="pages of 1 GiB whose translations it holds"
    )
    upper: Figure[Part] = Field(
        description="share of the references above the last level that the walker has not kept"
    )
    guest_tables: Figure[Part] = Field(
        description=(
            "share of the references to a guest's tables for which it must ask the hypervisor's"
            " where they lie"
        )
    )
    cache_share: Figure[Part] = Field(description="share of each cache that tables may take")


class Rni(Table):
    """Weights of the relative nest intensity: how much of the work of an instruction is done beyond
    the private caches, as capacity planning for Z counts it.
    """

    scale: Figure[Weight] = Field(description="factor on the whole sum")
    l3: Figure[Weight] | None = Field(
        None, description="weight of lines from the chip's L3; none where a chip has no cache"
    )
    l4_local: Figure[Weight] = Field(description="weight of lines from the node's own L4")
    l4_remote: Figure[Weight] = Field(description="weight of lines from another node's L4")
    memory: Figure[Weight] = Field(description="weight of lines from memory")


class MachineDescription(Table):
    """A machine as its file describes it; figures keep their provenance."""

    name: CatalogName = Field(description="lower case, as the file is called")
    title: str = Field(min_length=1, description="what people call it")
    model: str = Field(min_length=1, description="machine type and model, such as 9119-FHB")
    generation: str = Field(
        min_length=1, description="processor generation as printed, such as POWER7"
    )
    node_name: str = Field(min_length=1, description="what its nodes are called, such as book")
    year: Figure[Year] | None = Field(None, description="year in which it came on the market")
    pci: Figure[CapacityIndex] | None = Field(
        None,
        description="the maker's index of what one processor at full speed does (PCI)",
    )
    clock: Figure[Clock]
    turbo: Figure[Annotated[list[Clock], Field(min_length=1, max_length=64)]] | None = Field(
        None,
        description=(
            "highest clock with one, two, ... busy cores on a chip, with more the last one; it is"
            " always clock if not given"
        ),
    )
    core_rate: Figure[Rate] | None = Field(
        None,
        description=(
            "rate of the core part of instructions at equal clock, relative to the core that"
            " profiles are stated for; 1 if not given"
        ),
    )
    pipeline: Pipeline | None = Field(
        None, description="what empties the core's pipelines; within core_rate if not given"
    )
    line: Figure[LineSize] = Field(description="length of a cache line")
    topology: Topology
    cache: Annotated[list[CacheLevel], Field(min_length=1, max_length=8)]
    cache_to_cache: Distances
    memory: Memory
    links: Links
    translation: Translation | None = Field(None, description="cost of address translation")
    walks: Walks | None = Field(
        None, description="what walks of translations cost virtual machines; nothing if not given"
    )
    smt: Smt
    accounting: Figure[Literal["decode-slots", "calibrated", "elapsed"]] = Field(
        description="rule by which a thread's processor time is charged"
    )
    hypervisor: Hypervisor
    coherence: Literal["owner", "home", "directory"] = Field(
        "owner",
        description=(
            "who is asked for a line that another core wrote: that core; the directory beside the"
            " line's memory; or beyond a chip's cache that directory, which sends for it"
        ),
    )
    node_distance: Figure[list[list[Annotated[float, Field(gt=0, le=100)]]]] | None = Field(
        None, description="factor on far latencies for each pair of nodes"
    )
    platform: Platform | None = Field(
        None, description="rules of a machine of cells: granules, limits, memory taken away"
    )
    rni: Rni | None = Field(None, description="weights of the relative nest intensity")
    streams: Streams | None = Field(None, description="what streaming through memory needs")
    zvm: ZvmSupport | None = Field(None, description="what z/VM supports on a mainframe")
    placement: Placement | None = Field(
        None, description="where PR/SM puts one partition that is alone"
    )

    @property
    def instruction_set(self) -> str | None:
        """Whose instructions its cores execute, by the name of its generation; None if that does
        not tell.
        """
        of = _INSTRUCTION_SETS.items()
        told = (name for begin, name in of if re.match(begin, self.generation, re.IGNORECASE))
        return next(told, None)

    @property
    def nodes(self) -> int:
        """How many nodes (cells, books, drawers, sockets) the machine has."""
        return self.topology.nodes.value

    @property
    def chips_per_node(self) -> int:
        """How many chips each node has."""
        return self.topology.chips_per_node.value

    @property
    def cores_per_chip(self) -> int:
        """How many cores each chip has, activated or not."""
        return self.topology.cores_per_chip.value

    @property
    def threads_per_core(self) -> int:
        """Hardware threads of each core; 1 is no SMT."""
        return self.topology.threads_per_core.value

    @property
    def active_cores(self) -> int:
        """Activated cores, from the first chip on."""
        return self.topology.active_cores.value

    @property
    def host_threads(self) -> int:
        """Threads of a core that a host counts as processors; 1 elsewhere."""
        hypervisor = self.hypervisor
        if isinstance(hypervisor, (HostOnLinux, Credit2Host)) and hypervisor.smt.value:
            return self.threads_per_core
        return 1

    @property
    def host_cpus(self) -> int:
        """Processors as a host counts them: core times threads plus thread is their number."""
        return self.active_cores * self.host_threads

    @property
    def chips(self) -> int:
        """Chips of all nodes together."""
        return self.nodes * self.chips_per_node

    @property
    def domains(self) -> int:
        """Memory domains: a chip's or a node's memory each."""
        return self.chips if self.memory.beside == "chip" else self.nodes

    def domain_of(self, chip: int) -> int:
        """The memory domain nearest to a chip."""
        return chip if self.memory.beside == "chip" else chip // self.chips_per_node

    def domain_name(self, domain: int) -> str:
        """What a memory domain is called, as in a place: `cell1` or `chip5`."""
        word = self.node_name.split()[-1].lower() if self.memory.beside == "node" else "chip"
        return f"{word}{domain}"

    @property
    def cores(self) -> int:
        """Cores built into the machine, active or not."""
        return self.chips * self.cores_per_chip

    def active_cores_of(self, chip: int) -> range:
        """The activated cores of a chip, by index counted over the whole machine."""
        return self._active_by_chip[chip]

    @functools.cached_property
    def _active_by_chip(self) -> tuple[range, ...]:
        each, most = self.cores_per_chip, self.active_cores
        firsts = range(0, self.chips * each, each)
        return tuple(range(first, max(first, min(first + each, most))) for first in firsts)

    def kinds(self) -> dict[str, str]:
        """What kind of machine it is, where that is no number: which of several rules hold."""
        return {
            "memory.beside": self.memory.beside,
            "coherence": self.coherence,
            "hypervisor.policy": self.hypervisor.policy,
        }

    def under(self, policy: str) -> Self:
        """A host with another scheduler, whose numbers are the usual ones."""
        hypervisor = TypeAdapter(Hypervisor).validate_python({"policy": policy})
        return self.model_copy(update={"hypervisor": hypervisor})

    def figures(self) -> Iterator[tuple[str, Figure[Any]]]:
        """Every number with its name, such as `memory.far`, in the order of the file."""
        yield from _figures(self, "")


def _figures(table: Table, prefix: str) -> Iterator[tuple[str, Figure[Any]]]:
    for name in type(table).model_fields:
        value = getattr(table, name)
        if isinstance(value, Figure):
            yield f"{prefix}{name}", value
        elif isinstance(value, Table):
            yield from _figures(value, f"{prefix}{name}.")
        elif isinstance(value, list):
            for index, entry in enumerate(value):
                yield from _figures(entry, f"{prefix}{name}.{getattr(entry, 'name', index)}.")
