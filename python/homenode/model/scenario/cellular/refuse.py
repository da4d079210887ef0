"""What only a machine of cells understands, and what it does not: named where it stands."""

from __future__ import annotations

from homenode.model.catalog import MachineDescription
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.file.cells import Npartition
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.processors import Dedicated
from homenode.model.scenario.file.scenario import ScenarioFile
from homenode.model.scenario.places import node_word

_CORES = ("cells", "paths", "minimum", "maximum", "boot")


def refuse_cells(file: ScenarioFile, machine: MachineDescription, problems: Problems) -> None:
    """Note every key that needs a machine with rules for cells."""
    for row, table in enumerate(file.npartition):
        _refuse_npartition(table, ("npartition", row), machine, problems)
    if file.npartition:
        return  # what its partitions say of it follows from that
    for row, partition in enumerate(file.partition):
        _refuse_partition(partition, ("partition", row), machine, problems)


def _refuse_npartition(
    table: Npartition, path: Path, machine: MachineDescription, problems: Problems
) -> None:
    if any(table.clm or ()):
        beside = node_word(machine) if machine.memory.beside == "node" else "chip"
        there = f"{machine.title} has no cell-local memory; its memory hangs beside each {beside}"
        step = f"leave [[npartition]] out; memory = [{{ size, on }}] names a {beside}"
        problems.add((*path, "clm"), there=there, next_step=step)
        return
    there = f"{machine.title} is not made of cells that are put together to nPartitions"
    problems.add(path, "no such thing here", there=there, next_step="leave it out", at_key=True)


def _refuse_partition(
    table: Partition, path: Path, machine: MachineDescription, problems: Problems
) -> None:
    there, word = f"{machine.title} is not made of cells", node_word(machine)
    for key in ("npartition", "io"):
        if getattr(table, key) is not None:
            problems.add((*path, key), there=there, next_step=f"leave {key} out")
    processors = table.processors
    if isinstance(processors, Dedicated) and processors.names_cores:
        for key in _CORES:
            if getattr(processors, key) is not None:
                bounds = f"write {key} = {{ cores = ... }} beside processors"
                step = (
                    bounds
                    if key in ("minimum", "maximum")
                    else f'write home = "{word}0" for the place'
                )
                problems.add((*path, "processors", key), there=there, next_step=step)
    for index, part in enumerate(table.memory):
        if part.use == "floating":
            step = 'leave out use = "floating"'
            problems.add((*path, "memory", index, "use"), there=there, next_step=step)


def refuse_whole(file: ScenarioFile, machine: MachineDescription, problems: Problems) -> bool:
    """On a machine of cells, whether the file says too little or too much to go on."""
    before = len(problems)
    if not file.npartition:
        there = f"{machine.title} is divided into nPartitions, groups of cells"
        step = 'write [[npartition]] with name = "npar0", cells = ["cell0"], memory = "32 GiB"'
        problems.add((), "npartition is missing", there=there, next_step=step, at_key=True)
    for row, table in enumerate(file.partition):
        if table.home is not None:
            there = "a partition is at home where its cores are"
            step = "leave home out; processors.cells says of which cells they are"
            problems.add(("partition", row, "home"), there=there, next_step=step)
    return len(problems) > before
