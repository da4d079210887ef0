"""Page sizes that processor and operating system agree on."""

from __future__ import annotations

from homenode.model.catalog import MachineDescription


def page_of(machine: MachineDescription, most: int) -> int:
    """The largest page of the processor of at most so many bytes [bytes]; where translation costs
    nothing apart, any.
    """
    return most if machine.translation is None else machine.translation.page(most)
