"""Interrupts of a partition's devices, decided: which processors, from which memory."""

from __future__ import annotations

from homenode.model.catalog import MachineDescription
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.document import Problems
from homenode.model.scenario.file.guest import Linux
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.places import PlaceError, find_place
from homenode.model.spec import InterruptsSpec


def check_interrupts(
    table: Partition, row: int, machine: MachineDescription, problems: Problems
) -> None:
    """Note a place of the device that is not there, and a most without a time to wait; a time of 0
    stands, as a sweep has it. The rest the engine refuses.
    """
    told = table.interrupts
    if told is None:
        return
    if told.coalesce_most is not None and "coalesce" not in told.model_fields_set:
        path = ("partition", row, "interrupts", "coalesce_most")
        next_step = 'say how long with coalesce, like "50 us", or leave it out'
        problems.add(path, there="the device waits for no more", next_step=next_step)
    if told.on is None:
        return
    try:
        find_place(told.on, machine)
    except PlaceError as error:
        path = ("partition", row, "interrupts", "on")
        problems.add(path, there=error.there, next_step=error.next_step)


def interrupts_spec(
    table: Partition, machine: MachineDescription, io_domain: int | None
) -> InterruptsSpec | None:
    """As the engine takes it; None where the devices cost nothing."""
    told = table.interrupts
    if told is None:
        return None
    chips = () if told.on is None else find_place(told.on, machine)
    return {
        "to": told.to or [],
        "soft_to": told.soft_to or [],
        "instructions": told.instructions,
        "soft_instructions": told.soft_instructions,
        "lines": told.lines,
        "domain": machine.domain_of(chips[0]) if chips else io_domain,
        "rate_per_s": told.rate,
        "polls": _on_linux(table, machine) if told.polls is None else told.polls,
        "coalesce_ns": told.coalesce,
        "coalesce_most": told.coalesce_most or 0,
    }


def _on_linux(table: Partition, machine: MachineDescription) -> bool:
    """Whether the processors that are interrupted are those of a Linux: of the host, or a guest."""
    return machine.hypervisor.policy in HOST_POLICIES or isinstance(table.guest, Linux)
