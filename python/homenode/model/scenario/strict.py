"""The strict memory policy: every node's share of the data fits the memory beside it."""

from __future__ import annotations

from collections.abc import Sequence

from homenode.model.catalog import MachineDescription
from homenode.model.document import Problems
from homenode.model.scenario.placed import PlacedPartition

_GIB = 2**30


def check_strict(
    machine: MachineDescription, partitions: Sequence[PlacedPartition], problems: Problems
) -> None:
    """Threads on each memory domain allocate there, as many of the data as the cores are of all."""
    for partition in partitions:
        if partition.table.guest.memory_policy == "strict":
            _check(machine, partition, problems)


def _check(machine: MachineDescription, partition: PlacedPartition, problems: Problems) -> None:
    chips = _chips(machine, partition)
    data = partition.data_bytes
    for domain in dict.fromkeys(machine.domain_of(chip) for chip in chips):
        cores = sum(1 for chip in chips if machine.domain_of(chip) == domain)
        asked = data * cores // len(chips)
        there = sum(part.bytes for part in partition.memory if part.domains == (domain,))
        if asked > there:
            name = machine.domain_name(domain)
            facts = (
                f"threads on {name} allocate {asked / _GIB:.3g} GiB there, {partition.name} has"
                f" {there / _GIB:.3g} GiB on {name} alone"
            )
            step = 'give it more there, lower memory_used, or write memory_policy = "local-first"'
            path = ("partition", partition.row, "guest", "memory_policy")
            problems.add(path, there=facts, next_step=step)
            return


def _chips(machine: MachineDescription, partition: PlacedPartition) -> list[int]:
    """The chip of each of its cores, or the home of each of its virtual processors."""
    if partition.cores is not None:
        return [core // machine.cores_per_chip for core in partition.cores]
    return [partition.home[vp % len(partition.home)] for vp in range(partition.virtual)]
