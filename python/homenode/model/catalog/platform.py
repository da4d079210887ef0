"""Rules of a server of cells: granules of memory, limits on partitions, memory taken away."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from homenode.model.catalog.figure import Figure
from homenode.model.document import Quantity, Table
from homenode.model.units import SHARE, SIZE

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Granule = Annotated[int, Quantity(SIZE, "1 MiB", "1 TiB")]
Share = Annotated[float, Quantity(SHARE, "0 %", "100 %")]
Taken = Annotated[int, Quantity(SIZE, "0 B", "1 TiB")]


class BaseBand(Table):
    """Least base memory of partitions up to a size: an amount, or a share of their memory."""

    up_to: Figure[Granule] | None = Field(
        None, description="largest memory of the partitions meant; all larger ones if not given"
    )
    least: Figure[Granule] | None = Field(None, description="least base memory of each")
    share: Figure[Share] | None = Field(None, description="or the least share of its memory")


class Platform(Table):
    """Limits and rules of nPartitions and virtual partitions on this machine."""

    virtual_partitions: Figure[Count] = Field(
        description="the most virtual partitions in an nPartition"
    )
    virtual_cells: Figure[Count] = Field(
        description="the most cells of an nPartition with virtual partitions"
    )
    granule_minimum: Figure[Granule] = Field(
        description="smallest unit in which virtual partitions get memory; a power of two"
    )
    granule_default: Figure[Granule] = Field(description="that unit if none is stated")
    ilm_granules: Figure[Count] = Field(
        description="the most granules of interleaved memory in an nPartition"
    )
    clm_granules: Figure[Count] = Field(
        description="the most granules of cell-local memory in a cell"
    )
    cell_firmware: Figure[Taken] = Field(description="memory that the firmware of a cell takes")
    monitor_memory: Figure[Taken] = Field(
        description="memory that the monitor of virtual partitions takes"
    )
    dump_memory: Figure[Taken] = Field(description="memory kept for a dump of the monitor")
    partition_memory: Figure[Taken] = Field(
        description="memory that the firmware's image of a virtual partition takes from it"
    )
    minimum_memory: Figure[Granule] = Field(
        description="least memory of a partition, for its operating system"
    )
    base: Annotated[list[BaseBand], Field(min_length=1)] = Field(
        description="least memory that cannot be taken from a running virtual partition"
    )

    def least_base(self, total: int) -> int:
        """Least base memory of a virtual partition with so much memory in all [bytes]."""
        for band in self.base:
            if band.up_to is None or total <= band.up_to.value:
                share = 0.0 if band.share is None else band.share.value
                least = 0 if band.least is None else band.least.value
                return min(total, max(least, round(share * total)))
        return 0
