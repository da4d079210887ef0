"""How much memory an nPartition must have so that its virtual partitions have what is listed.

A listing says what is bound to a partition. What firmware and monitor take is missing there (see
`homenode.model.scenario.cellular.memory`), so that what was asked for is found by rounding up to
whole granules. Sizes are in MB.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from homenode.model.catalog.platform import Platform
from homenode.records.importing.cellular.findings import VirtualPartition

MB = 1 << 20


@dataclass(frozen=True)
class Demand:
    """Memory by kind."""

    least_local: Mapping[int, int]
    """Whole granules by cell."""
    local: Mapping[int, int]
    """Cell-local memory by cell with which the listed sizes come out."""
    least_interleaved: int
    """Whole granules."""
    left_interleaved: int
    """What is bound of them."""

    def interleaved(self, cells_without_local: int, platform: Platform) -> int:
        """Interleaved memory with which the listed sizes come out, where so many cells keep nothing
        local.
        """
        firmware = platform.cell_firmware.value // MB
        monitor = (platform.monitor_memory.value + platform.dump_memory.value) // MB
        taken = monitor + firmware * cells_without_local
        return max(self.left_interleaved + taken, self.least_interleaved)


def demand(
    members: Sequence[VirtualPartition],
    cells: Sequence[int],
    granules: tuple[int, int],
    platform: Platform,
) -> Demand:
    """What these virtual partitions need of these cells; `granules` of interleaved and of
    cell-local memory.
    """
    ilm, clm = granules
    firmware = platform.cell_firmware.value // MB
    left: dict[int | None, int] = {}
    granted: dict[int | None, int] = {}
    for member in members:
        for size in member.memory:
            granule = ilm if size.cell is None else clm
            whole = sum(_rounded_up(part, granule) for part in (size.base, size.floating))
            left[size.cell] = left.get(size.cell, 0) + size.base + size.floating
            granted[size.cell] = granted.get(size.cell, 0) + whole
    # What is listed in whole granules lost nothing, so there was more.
    least = {cell: granted.get(cell, 0) for cell in cells}
    fitting = {
        cell: max(left[cell] + firmware, least[cell]) if least[cell] else 0 for cell in cells
    }
    return Demand(least, fitting, granted.get(None, 0), left.get(None, 0))


def _rounded_up(size: int, granule: int) -> int:
    return -(-size // granule) * granule
