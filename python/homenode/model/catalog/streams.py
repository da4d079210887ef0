"""What streaming through a machine's memory hierarchy needs beyond sizes and latencies: how a core
gets through a line, how far it works ahead, and what becomes of its stores.

The model that uses them is described in docs/background/memory-walk.md.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from homenode.errors import listed, nearest
from homenode.model.catalog.figure import Figure
from homenode.model.document import Problems, Quantity, Table
from homenode.model.document.positions import Path
from homenode.model.units import BANDWIDTH, CYCLES, SIZE

PerCycle = Annotated[float, Field(gt=0, le=64)]
Cycles = Annotated[float, Quantity(CYCLES, "0 cycles", "1000 cycles")]
Step = Annotated[int, Quantity(SIZE, "1 B", "4 KiB")]
Lines = Annotated[int, Field(ge=0, le=256)]
LinkBandwidth = Annotated[float, Quantity(BANDWIDTH, "1 MB/s", "1000 TB/s")]


class StreamLink(Table):
    """What a level delivers to one core."""

    name: str = Field(min_length=1, description="the level's name")
    bandwidth: Figure[LinkBandwidth] = Field(description="between it and the levels inside it")


class Streams(Table):
    """Figures of streaming, for one core."""

    instructions: Figure[PerCycle] = Field(
        description="instructions decoded and completed in a cycle"
    )
    loads: Figure[PerCycle] = Field(description="loads in a cycle")
    stores: Figure[PerCycle] = Field(description="stores in a cycle")
    sum_latency: Figure[Cycles] = Field(description="time after which a sum can be added to again")
    move: Figure[Step] = Field(
        description="what a storage-to-storage instruction moves or clears in a cycle"
    )
    move_start: Figure[Cycles] = Field(
        description="start of a storage-to-storage instruction of at most 256 bytes"
    )
    lines: Figure[Lines] = Field(
        description=(
            "lines on their way while the core works on another; 0 where it waits for each"
        )
    )
    store_in: Figure[str] = Field(
        description="first level that keeps what is stored; those inside it pass every store on"
    )
    store_width: Figure[Step] = Field(
        description="most bytes of a store, or of a step of a gathered one, on its way there"
    )
    store_interval: Figure[Cycles] = Field(
        description="least time between two stores on their way there"
    )
    gather: Figure[Step] | None = Field(
        None,
        description=(
            "bytes of neighbouring stores gathered before they are passed on; each goes by itself"
            " if not given"
        ),
    )
    link: Annotated[list[StreamLink], Field(max_length=8)] = Field(
        default_factory=list, description="levels whose bandwidth can be a limit"
    )


def check_streams(streams: Streams, levels: list[str], problems: Problems, path: Path) -> None:
    """Add every level that `streams` names and the machine has not; `path` is where it lies."""
    named: list[tuple[Path, str]] = [((*path, "store_in"), streams.store_in.value)]
    named += [((*path, "link", n, "name"), link.name) for n, link in enumerate(streams.link)]
    for place, name in named:
        if name not in levels:
            there = f"there is no cache {name}{nearest(name, levels)}"
            problems.add(place, there=there, next_step=f"name one of {listed(levels)}")
