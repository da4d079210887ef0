"""Machine descriptions: a tree of nodes, chips, cores and threads, every number with its source or
a range.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from homenode.catalog.figure import CatalogName, Figure, Latency
from homenode.document import Quantity, Table
from homenode.units import BANDWIDTH, FREQUENCY, SIZE, TIME

Count = Annotated[int, Field(ge=1, le=4096)]
Clock = Annotated[float, Quantity(FREQUENCY, "1 MHz", "100 GHz")]
CacheSize = Annotated[int, Quantity(SIZE, "1 KiB", "16 GiB")]
MemorySize = Annotated[int, Quantity(SIZE, "1 MiB", "1024 TiB")]
LineSize = Annotated[int, Quantity(SIZE, "8 B", "4 KiB")]
Bandwidth = Annotated[float, Quantity(BANDWIDTH, "1 MB/s", "1000 TB/s")]
CallTime = Annotated[int, Quantity(TIME, "0 ns", "10 ms")]
Gain = Annotated[float, Field(gt=0, le=16)]
Share = Annotated[float, Field(ge=0, lt=1)]


class Topology(Table):
    """How many of each kind hang below each other."""

    nodes: Figure[Annotated[int, Field(ge=1, le=64)]]
    chips_per_node: Figure[Annotated[int, Field(ge=1, le=64)]]
    cores_per_chip: Figure[Annotated[int, Field(ge=1, le=64)]]
    threads_per_core: Figure[Annotated[int, Field(ge=1, le=8)]]
    active_cores: Figure[Count] = Field(
        description="how many cores are activated, counted from the first chip on"
    )


class CacheLevel(Table):
    """One level of cache."""

    name: str = Field(min_length=1)
    scope: Literal["core", "chip", "node"] = Field(
        description="the level at which an instance is shared"
    )
    victim: bool = Field(
        description="true if it holds only what the levels inside it have thrown out"
    )
    size: Figure[CacheSize]
    latency: Figure[Latency]


class Distances(Table):
    """Latency by how far up the tree one must go: same chip, same node, another node."""

    local: Figure[Latency]
    near: Figure[Latency]
    far: Figure[Latency]


class Memory(Distances):
    """Memory: latency by distance, what a chip's controllers deliver, how much there can be."""

    bandwidth: Figure[Bandwidth] = Field(
        description="what the memory controllers of one chip deliver"
    )
    maximum: Figure[MemorySize] = Field(description="the most memory the machine can hold")


class Links(Table):
    """Bandwidth of the fabric."""

    chip: Figure[Bandwidth] = Field(description="between a chip and the rest of its node")
    node: Figure[Bandwidth] = Field(description="between a node and all others")


class Smt(Table):
    """Simultaneous multithreading."""

    gain: Figure[list[Gain]] = Field(
        description="throughput with 1, 2, ... busy threads relative to one"
    )
    reference_stall_share: Figure[Share] = Field(
        description="share of cycles without issue of the workload the gain was published for"
    )


class Hypervisor(Table):
    """Constants of the hypervisor on this machine."""

    window: Figure[Annotated[int, Quantity(TIME, "100 us", "1 s")]] = Field(
        description="dispatch window"
    )
    min_entitlement_per_vp: Figure[Annotated[float, Field(gt=0, le=1)]] = Field(
        description="least entitled capacity of a virtual processor in cores"
    )
    dispatch: Figure[CallTime] = Field(description="time to put a virtual processor on a core")
    cede: Figure[CallTime]
    prod: Figure[CallTime]
    confer: Figure[CallTime]
    phantom: Figure[CallTime] = Field(
        description="time to pass on an interrupt meant for another partition"
    )
    excess_quantum: Figure[Annotated[int, Quantity(TIME, "1 us", "1 s")]] = Field(
        description="longest time on excess capacity while others wait for excess"
    )
    counts_redispatch: Figure[bool] = Field(
        description=(
            "whether a switch counts where the same virtual processor goes on on the same core"
        )
    )
    eviction: Figure[Literal["home-elsewhere", "other-partition"]] = Field(
        description="whom an entitled requester may throw off a core of its home node"
    )


class MachineDescription(Table):
    """A machine as its file describes it; figures keep their provenance."""

    name: CatalogName = Field(description="lower case, as the file is called")
    title: str = Field(min_length=1, description="what people call it")
    model: str = Field(min_length=1, description="machine type and model, such as 9119-FHB")
    generation: str = Field(
        min_length=1, description="processor generation as printed, such as POWER7"
    )
    node_name: str = Field(min_length=1, description="what its nodes are called, such as book")
    clock: Figure[Clock]
    line: Figure[LineSize] = Field(description="length of a cache line")
    topology: Topology
    cache: Annotated[list[CacheLevel], Field(min_length=1, max_length=8)]
    cache_to_cache: Distances
    memory: Memory
    links: Links
    smt: Smt
    accounting: Figure[Literal["decode-slots", "calibrated"]] = Field(
        description="rule by which a thread's processor time is charged"
    )
    hypervisor: Hypervisor
    node_distance: Figure[list[list[Annotated[float, Field(gt=0, le=100)]]]] | None = Field(
        None, description="factor on far latencies for each pair of nodes"
    )

    @property
    def nodes(self) -> int:
        """Nodes in the machine."""
        return self.topology.nodes.value

    @property
    def chips_per_node(self) -> int:
        """Chips in a node."""
        return self.topology.chips_per_node.value

    @property
    def cores_per_chip(self) -> int:
        """Cores in a chip."""
        return self.topology.cores_per_chip.value

    @property
    def threads_per_core(self) -> int:
        """Hardware threads in a core."""
        return self.topology.threads_per_core.value

    @property
    def active_cores(self) -> int:
        """Activated cores, from the first chip on."""
        return self.topology.active_cores.value

    @property
    def chips(self) -> int:
        """Chips in the machine."""
        return self.nodes * self.chips_per_node

    @property
    def cores(self) -> int:
        """Cores built into the machine, active or not."""
        return self.chips * self.cores_per_chip

    def active_cores_of(self, chip: int) -> range:
        """The activated cores of a chip, by index counted over the whole machine."""
        first = chip * self.cores_per_chip
        return range(first, max(first, min(first + self.cores_per_chip, self.active_cores)))

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
            for entry in value:
                yield from _figures(entry, f"{prefix}{name}.{entry.name}.")
