"""The guest operating system, as a scenario file says it.

AIX: defaults are those of `schedo` on AIX 7.1 where a tunable has one. HP-UX: those of the tunables
of 11i v3 (`timeslice` of ten ticks of 10 ms). Linux: a tick of 4 ms and turns of some milliseconds,
as kernels for servers are built. The costs of ticks and daemons are assumed: an idle system takes
a few thousandths of a core. z/VM: the defaults of `SET SRM`; its virtual machines stand in tables
of their own.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, model_validator
from pydantic_core import PydanticCustomError

from homenode.model.catalog.profile_model import SpinLock
from homenode.model.document import Form, Quantity, Table, TagDefault
from homenode.model.units import RATE, SHARE, SIZE, TIME

LongTime = Annotated[int, Quantity(TIME, "0 ns", "1 d")]
TimeOrNever = Annotated[int | None, Quantity(TIME, "0 ns", "1 d", never=True)]
Tick = Annotated[int, Quantity(TIME, "100 us", "1 s")]
TickCost = Annotated[int, Quantity(TIME, "0 ns", "1 ms")]
TimeSlice = Annotated[int, Quantity(TIME, "100 us", "10 s")]
Page = Annotated[int, Quantity(SIZE, "4 KiB", "64 GiB")]
MemoryPolicy = Literal["proportional", "local-first", "interleaved", "strict", "in-order"]

_HOSTNAME = "a host name has letters, digits, . and -, a letter or digit first and last"
_POLICY = "by which rule data goes into the parts of the partition's memory"


class Gang(Table):
    """A daemon of which several threads wake at once, as those that write files out: the work of a
    thread in one wake-up, or a file with what all of them did by time.
    """

    name: str = Field(min_length=1, max_length=64, description="what it is called, such as j2pg")
    threads: Annotated[int, Field(ge=1, le=4096)] = Field(description="threads that wake at once")
    every: Annotated[int, Quantity(TIME, "1 ms", "1 d")] = Field(
        60_000_000_000,
        description="time from one wake-up to the next; a step of a file has one at least",
    )
    work: LongTime | None = Field(
        None, description="processor time of a thread in one wake-up; without a file only"
    )
    file: str | None = Field(
        None,
        min_length=1,
        description="table of its steps, as that of recorded demand, for all threads together",
    )
    series: str | None = Field(
        None,
        min_length=1,
        description="its name in the file's column partition; its own name if not given",
    )
    step: Annotated[int, Quantity(TIME, "1 ms", "365 d")] | None = Field(
        None, description="simulated time for which each step is played; as recorded if not given"
    )

    @model_validator(mode="after")
    def _has_work(self) -> Gang:
        """What it does stands in one place."""
        if (self.work is None) == (self.file is None):
            there = "it says what a gang does twice" if self.file else "it says nothing of its work"
            step = 'give either work = "2 ms" or file = "demand.parquet"'
            raise PydanticCustomError("fact", "gang", {"there": there, "next_step": step})
        return self


class Daemons(Table):
    """Background work of the operating system."""

    rate: Annotated[float, Quantity(RATE, "0/s", "1e6/s")] = Field(
        20.0, description="wake-ups in the whole partition"
    )
    work: LongTime = Field(50_000, description="processor time of one wake-up")
    gangs: Annotated[list[Gang], Field(max_length=255)] = Field(
        default_factory=list, description="daemons of which several threads wake at once"
    )


class MachineDaemons(Table):
    """Background work of the operating system in each virtual machine, whatever that serves."""

    rate: Annotated[float, Quantity(RATE, "0/s", "1e6/s")] = Field(
        0.0, description="wake-ups in each virtual machine"
    )
    work: LongTime = Field(
        50_000, description="processor time of one wake-up, where nothing is missed in caches"
    )


class System(Table):
    """What all that runs in a partition has."""

    hostname: Annotated[str, Form(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,253}[A-Za-z0-9])?", _HOSTNAME)] = (
        Field("", description="host name, as its tools print it; the partition's if not given")
    )
    memory_used: Annotated[float, Quantity(SHARE, "0.001 %", "100 %")] = Field(
        1.0, description="share of its memory that the work touches all the time"
    )
    spin_lock: SpinLock | None = Field(
        None,
        description="what those do that wait for a spin lock of its kernel: a queue, tickets,"
        " or whoever comes first (test-and-set); if not given, as today's kernels on its platform",
    )


class Unix(System):
    """What all operating systems have that schedule threads."""

    tick_cost: TickCost = Field(5_000, description="kernel time of a clock tick")
    rebalance: TimeOrNever = Field(
        1_000_000_000,
        description='interval at which a running thread moves to a less busy processor, or "never"',
    )
    daemons: Daemons = Field(default_factory=Daemons, description="its background work")


class Aix(Unix):
    """AIX and its scheduler tunables, named as `schedo` names them where it does."""

    os: Literal["aix"] = Field("aix", description="which operating system")
    level: Annotated[str, Form(r"[5-7]\.[0-9]", 'a version is written like "7.1"')] = Field(
        "7.1", description="AIX version, such as 7.1"
    )
    memory_policy: MemoryPolicy = Field("proportional", description=_POLICY)
    page: Page = Field(
        65_536, description="length of its pages; counts where the machine walks tables"
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
        description="smt_snooze_delay: how long a virtual processor without work polls, on its "
        'core, before it cedes, or "never" if it does not cede',
    )
    tick: Tick = Field(10_000_000, description="clock tick")
    timeslice: TimeSlice = Field(10_000_000, description="time slice of threads of equal priority")


class HpUx(Unix):
    """HP-UX 11i and its tunables."""

    os: Literal["hp-ux"] = Field(description="which operating system")
    level: Annotated[str, Form(r"11\.[0-9]{2}", 'a version is written like "11.31"')] = Field(
        "11.31", description="release as uname prints it: 11.31 is 11i v3"
    )
    memory_policy: MemoryPolicy = Field("local-first", description=_POLICY)
    page: Page = Field(
        1 << 30,
        description=(
            "largest page, as vps_chatr_ceiling limits it; never larger than a granule of its"
            " memory or than the processor has"
        ),
    )
    tick: Tick = Field(10_000_000, description="clock tick")
    timeslice: TimeSlice = Field(
        100_000_000, description="timeslice: turn of a thread of equal priority"
    )


class Linux(Unix):
    """Linux, which puts data into the nearest memory first if nothing else is said."""

    os: Literal["linux"] = Field(description="which operating system")
    memory_policy: MemoryPolicy = Field("local-first", description=_POLICY)
    page: Page = Field(
        65_536, description="length of its pages; counts where the machine walks tables"
    )
    tick: Tick = Field(4_000_000, description="clock tick, 1 / CONFIG_HZ")
    timeslice: TimeSlice = Field(
        4_000_000, description="turn of a thread while others of equal weight wait"
    )
    packing: bool = Field(
        False,
        description=(
            "whether threads are packed on few shared processors whose cores have halves, one in"
            " each half, as kernels with the patches of 2023 do"
        ),
    )


class Zvm(System):
    """z/VM: its Control Program runs the partition's virtual machines."""

    os: Literal["zvm"] = Field(description="which operating system")
    level: Annotated[str, Form(r"[5-7]\.[0-9]", 'a release is written like "7.1"')] = Field(
        "7.1", description="release, such as 7.1"
    )
    memory_policy: Literal["proportional"] = Field("proportional", description=_POLICY)
    page: Page = Field(4096, description="length of its pages")
    polarization: Literal["vertical", "horizontal"] = Field(
        "vertical", description="SRM POLARIZATION: how its entitlement lies on its logical cores"
    )
    smt: Literal["off", "smt-1", "smt-2"] = Field(
        "off", description="multithreading: off, or on with one or two threads of each core"
    )
    unparking: Literal["large", "medium", "small"] = Field(
        "large", description="SRM UNPARKING: which logical cores stay unparked"
    )
    cpupad: Annotated[float, Field(ge=0, le=100)] = Field(
        1.0, description="SRM CPUPAD: room kept above the forecast need, in cores"
    )
    excessuse: Literal["high", "medium", "low", "none"] = Field(
        "medium", description="SRM EXCESSUSE: how boldly unentitled power is counted on"
    )
    daemons: MachineDaemons = Field(
        default_factory=MachineDaemons, description="what its virtual machines do on their own"
    )


Guest = Annotated[
    Annotated[Aix | HpUx | Linux | Zvm, Discriminator("os")],
    TagDefault("os", "aix"),
]
