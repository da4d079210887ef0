"""What of a partition of a machine of cells may change: which cells its cores are of, and which
cell each part of its memory is local to, or that it is interleaved over all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from homenode.model.scenario import PlacedPartition
from homenode.model.scenario.file.processors import Dedicated
from homenode.model.scenario.paths import spelt
from homenode.planner.virtual_machines import Varied, as_key

_INTERLEAVED = "interleaved"


def cells(one: PlacedPartition) -> Iterator[Varied]:
    """All of its cores of one cell, or half of them of each of two. The core it boots on is chosen
    anew where none of its cores is of that one's cell.
    """
    processors, where = one.table.processors, one.in_cells
    if where is None or not isinstance(processors, Dedicated) or processors.paths is not None:
        return
    count = processors.cores
    names = [f"cell{index}" for index in where.npartition.indices]
    values: list[object] = [{name: count} for name in names]
    if count % 2 == 0:
        values += [{a: count // 2, b: count // 2} for a, b in itertools.combinations(names, 2)]
    boot = processors.boot
    cell = None if boot is None else f"cell{int(boot.replace('/', '.').partition('.')[0])}"
    left = [value for value in values if cell is not None and f"'{cell}'" not in as_key(value)]
    also = {as_key(value): {"processors.boot": None} for value in left}
    yield Varied("processors.cells", processors.cells, values, also)


def memory(one: PlacedPartition) -> Iterator[Varied]:
    """Each part that says where it lies: local to a cell, or interleaved."""
    if one.in_cells is None:
        return
    places: list[object] = [f"cell{index}" for index in one.in_cells.npartition.indices]
    for at, part in enumerate(one.table.memory):
        if part.on is not None:
            yield Varied(f"memory.{spelt(str(at))}.on", part.on, [*places, _INTERLEAVED])
