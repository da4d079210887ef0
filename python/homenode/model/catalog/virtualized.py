"""What it costs to be a virtual machine, under KVM and under Xen alike."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from homenode.model.catalog.figure import Figure
from homenode.model.document import Quantity, Table
from homenode.model.spec import VirtualizedSpec
from homenode.model.units import SIZE, TIME

HostPage = Annotated[int, Quantity(SIZE, "4 KiB", "1 GiB")]
_Exit = Annotated[int, Quantity(TIME, "0 ns", "1 ms")]


class Virtualized(Table):
    """What a hypervisor costs a virtual machine while it runs."""

    page: Figure[HostPage] = Field(
        description="pages with which the hypervisor maps the machine's memory"
    )
    short_exit: Figure[_Exit] = Field(
        description="out of the guest, something small done by the hypervisor, and back"
    )
    timer_exits: Figure[Annotated[int, Field(ge=0, le=100)]] = Field(
        description="such exits for each of the guest's ticks on a processor at work"
    )
    posted_interrupts: Figure[bool] = Field(
        description="whether interrupts are delivered, and their end taken, without an exit"
    )

    def virtualized(self) -> VirtualizedSpec:
        """As the engine takes it."""
        return {
            "page_bytes": self.page.value,
            "exit_ns": self.short_exit.value,
            "timer_exits": self.timer_exits.value,
            "posted_interrupts": self.posted_interrupts.value,
        }
