"""Recordings of use of HP-UX: the machine of cells that they are set on where nothing tells of it,
one nPartition that holds them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from homenode.model.catalog import MachineDescription, machine, machines
from homenode.model.scenario.cellular.paths import cores_per_cell
from homenode.records.importing.assemble.hardware import ChosenMachine, Need
from homenode.records.importing.assemble.plan import Line, Part, Planned, Value, own_cores
from homenode.records.importing.assemble.write import size
from homenode.records.importing.facts import PartitionFacts
from homenode.records.importing.opening.sources import ListingError, Notice

HP_UX = "hp-ux"
_GIB = 1 << 30
_WHY = "assumed: as many as hold the recorded partitions"


def is_hpux(every: Sequence[PartitionFacts]) -> bool:
    """Whether all that was recorded is HP-UX."""
    return all(one.os is not None and one.os.value == HP_UX for one in every)


def smallest_of_cells(need: Need) -> ChosenMachine:
    """The smallest server of cells with so many cores; of equally large ones the newest, which
    comes last by its name.
    """
    cellular = [one for one in map(machine, machines()) if one.platform is not None]
    fitting = [one for one in cellular if one.cores >= need.cores]
    if not fitting:
        there = f"the largest of the catalogue has {max(one.cores for one in cellular)}"
        raise ListingError(f"the partitions need {need.cores} cores", there=there)
    found = min(reversed(fitting), key=lambda one: one.cores)
    text = f"what HP-UX ran on is not told: {found.title}, the smallest of cells with room"
    notice = Notice(f"{text}, is assumed; choose another with --machine")
    why = "assumed: the smallest of cells that holds what ran on HP-UX"
    reference = ("model", found.name)
    return ChosenMachine(found, reference, why, found.active_cores, "all", notices=(notice,))


def set_in_cells(planned: Sequence[Planned], found: MachineDescription) -> list[list[Line]]:
    """Cores of its own and interleaved memory for each partition; the nPartition around them."""
    own = cores_per_cell(found)
    needed = sum(one.virtual for one in planned)
    cells = max(ceil(needed / own), 1)
    if cells > found.nodes:
        there = f"{found.title} has {found.nodes} cells of {own} cores"
        raise ListingError(
            f"the partitions need {needed} cores", there=there, next_step="name a larger one"
        )
    alone = len(planned) == 1 and needed == cells * own
    for one in planned:
        one.shared = False
        one.processors = own_cores(one)
        told = one.facts.os
        one.guest = Value(HP_UX, "assumed" if told is None else str(told.where))
        one.parts = (Part(one.memory.value, "interleaved", one.memory.origin),)
    table: list[Line] = [
        ("name", Value("npar0", "assumed")),
        ("cells", Value([f"cell{cell}" for cell in range(cells)], _WHY)),
        ("memory", Value(_memory(planned, cells, found), _WHY)),
    ]
    if alone:
        why = "assumed: one system with all cores of its cells"
        table.append(("vpars", Value(False, why)))
    return [table]


def _memory(planned: Sequence[Planned], cells: int, found: MachineDescription) -> str:
    """Of each cell: what the partitions have, in granules, with what firmware and monitor take."""
    platform = found.platform
    total = sum(part.size for one in planned for part in one.parts)
    if platform is not None:
        granule = platform.granule_default.value
        total += len(planned) * (granule + platform.partition_memory.value)
        total += platform.monitor_memory.value + platform.dump_memory.value
        total += cells * platform.cell_firmware.value
    return size(ceil(total / cells / _GIB) * _GIB)
