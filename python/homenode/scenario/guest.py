"""The guest operating system, as a scenario file says it.

Defaults are those of `schedo` on AIX 7.1 where a tunable has one; the costs of ticks and daemons
are assumed: an idle AIX takes a few thousandths of a core.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from homenode.document import Form, Quantity, Table
from homenode.units import RATE, SHARE, TIME

LongTime = Annotated[int, Quantity(TIME, "0 ns", "1 d")]
TimeOrNever = Annotated[int | None, Quantity(TIME, "0 ns", "1 d", never=True)]


_HOSTNAME = "a host name has letters, digits, . and -, a letter or digit first and last"


class Daemons(Table):
    """Background work of the operating system."""

    rate: Annotated[float, Quantity(RATE, "0/s", "1e6/s")] = Field(
        20.0, description="wake-ups in the whole partition"
    )
    work: LongTime = Field(50_000, description="processor time of one wake-up")


class Guest(Table):
    """AIX and its scheduler tunables, named as `schedo` names them where it does."""

    os: Literal["aix"] = Field("aix", description="which operating system")
    level: Annotated[str, Form(r"[5-7]\.[0-9]", 'a version is written like "7.1"')] = Field(
        "7.1", description="AIX version, such as 7.1"
    )
    hostname: Annotated[str, Form(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,253}[A-Za-z0-9])?", _HOSTNAME)] = (
        Field("", description="host name, as its tools print it; the partition's if not given")
    )
    throughput_mode: Literal[0, 1, 2, 4, 8] = Field(0, description="vpm_throughput_mode")
    folding: bool = Field(True, description="whether unneeded virtual processors are folded")
    fold_threshold: Annotated[float, Quantity(SHARE, "1 %", "100 %")] = Field(
        0.49, description="vpm_fold_threshold"
    )
    xvcpus: Annotated[int, Field(ge=-1, le=1024)] = Field(
        0, description="vpm_xvcpus: virtual processors beyond the need; -1 is folding = false"
    )
    snooze_delay: TimeOrNever = Field(
        0,
        description="smt_snooze_delay: how long an idle thread on POWER5 keeps its decode slots "
        'beside a busy one, or "never" for no end',
    )
    tick: Annotated[int, Quantity(TIME, "100 us", "1 s")] = Field(
        10_000_000, description="clock tick"
    )
    tick_cost: Annotated[int, Quantity(TIME, "0 ns", "1 ms")] = Field(
        5_000, description="kernel time of a clock tick"
    )
    timeslice: Annotated[int, Quantity(TIME, "100 us", "10 s")] = Field(
        10_000_000, description="time slice of threads of equal priority"
    )
    rebalance: TimeOrNever = Field(
        1_000_000_000,
        description='interval at which a running thread moves to a less busy processor, or "never"',
    )
    daemons: Daemons = Field(default_factory=Daemons, description="its background work")
