"""What a scenario file may say of the interrupts of a partition's devices."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from homenode.model.document import Quantity, Table
from homenode.model.scenario.file.host import Cpus
from homenode.model.units import RATE, TIME

Work = Annotated[float, Field(ge=0, le=1e9)]
HARD_INSTRUCTIONS = 1_000.0
"""Of an interrupt itself; assumed, 500 to 5,000: about a microsecond to save and restore what runs,
to ask the device and to acknowledge.
"""
SOFT_INSTRUCTIONS = 4_000.0
"""Of the work that follows, 1,000 to 40,000: a guest's processor that took 165,000 packets a second
was 65 % in soft interrupts (documentation of simoom-sys, `net_rx_concentrated`), so that each took
3.9 us, taken here as an instruction a nanosecond, as code of a database has it.
"""
LINES = 4.0
"""Lines that the device has written and that work reads one after the other; assumed, 1 to 30: a
descriptor, the head of what came, and what it is entered in.
"""


class Interrupts(Table):
    """What the interrupts of a partition's devices cost, and which processors take them: those of
    the host where Linux is the hypervisor, else the partition's own logical processors.
    """

    to: Cpus | None = Field(
        None,
        description=(
            "processors that take them, in turn (smp_affinity, intctl, bindintcpu); 0 is the boot"
            " processor; all if not given"
        ),
    )
    soft_to: Cpus | None = Field(
        None,
        description=(
            "processors that do the work that follows, in turn (rps_cpus); the one that took the"
            " interrupt if not given"
        ),
    )
    instructions: Work = Field(
        HARD_INSTRUCTIONS, description="of an interrupt itself; assumed, 500 to 5000"
    )
    soft_instructions: Work = Field(
        SOFT_INSTRUCTIONS,
        description="of the work that follows (soft interrupt), as a rule 1000 to 40000",
    )
    lines: Annotated[float, Field(ge=0, le=1e6)] = Field(
        LINES,
        description="lines that the device has written and that work reads; assumed, 1 to 30",
    )
    on: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description=(
            "where the device hangs, such as chip1, so that other nodes fetch its lines from there;"
            " beside each processor if not given, on a machine of cells the cell of io"
        ),
    )
    rate: Annotated[float, Quantity(RATE, "0/s", "1e8/s")] = Field(
        0.0, description="interrupts that no work here waits for"
    )
    polls: bool | None = Field(
        None,
        description=(
            "whether a processor that still works on what a device has brought takes up what comes"
            " meanwhile without an interrupt (NAPI); so under Linux, not elsewhere, if not given"
        ),
    )
    coalesce: Annotated[int, Quantity(TIME, "0 ns", "100 ms")] = Field(
        0,
        description=(
            "rx-usecs: for how long the device waits for more before it interrupts; 0 to 100 us as"
            " a rule"
        ),
    )
    coalesce_most: Annotated[int, Field(ge=1, le=65_535)] | None = Field(
        None, description="rx-frames: for how many at most; any number if not given"
    )
