"""Hardware paths of cores: the cell, and the processor in it.

vPars counts the processors of a cell from 10 (`0.10`, written `0/10` in commands); Integrity
servers with dual-core processors count from 120 (`0/120`). Both are understood.
"""

from __future__ import annotations

from homenode.model.catalog import MachineDescription
from homenode.model.scenario.places import PlaceError

_FIRST = 10
_FIRST_OF_THREE_DIGITS = 120


def path_of(core: int, machine: MachineDescription) -> str:
    """The path of a core, such as `1.12`."""
    cell, index = divmod(core, cores_per_cell(machine))
    return f"{cell}.{_FIRST + index}"


def core_at(path: str, machine: MachineDescription) -> int:
    """The active core at a path, by index counted over the whole machine."""
    cell_text, _, number = path.replace("/", ".").partition(".")
    cell, per_cell = int(cell_text), cores_per_cell(machine)
    first = _FIRST if len(number) == 2 else _FIRST_OF_THREE_DIGITS
    index = int(number) - first
    if cell >= machine.nodes:
        last = machine.nodes - 1
        raise PlaceError(
            f"{machine.title} has cells 0 to {last}", f"write a path from 0.{_FIRST} on"
        )
    cores = cores_of_cell(cell, machine)
    core = cell * per_cell + index
    if index < 0 or index >= per_cell or core not in cores:
        there = (
            f"cell {cell} has cores {path_of(cores[0], machine)} to {path_of(cores[-1], machine)}"
            if cores
            else f"no core of cell {cell} is active"
        )
        raise PlaceError(there, "name one of those" if cores else "activate more cores")
    return core


def cores_per_cell(machine: MachineDescription) -> int:
    """Cores built into a cell."""
    return machine.chips_per_node * machine.cores_per_chip


def cell_of(core: int, machine: MachineDescription) -> int:
    """The cell of a core."""
    return core // cores_per_cell(machine)


def cores_of_cell(cell: int, machine: MachineDescription) -> list[int]:
    """The active cores of a cell."""
    first = cell * machine.chips_per_node
    chips = range(first, first + machine.chips_per_node)
    return [core for chip in chips for core in machine.active_cores_of(chip)]
