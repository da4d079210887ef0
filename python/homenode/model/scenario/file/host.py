"""What a scenario file may say of a Linux or Xen host: one class a table, one field a key."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from homenode.model.catalog.virtualized import HostPage
from homenode.model.document import Form, OrText, Quantity, Table
from homenode.model.scenario.file.amounts import Cores, Name
from homenode.model.units import SIZE, TIME

MOST_CPUS = 4096
_RANGE = re.compile(r"\s*(\d{1,5})\s*(?:-\s*(\d{1,5})\s*)?")
_LIST = "processors are written like 0-3,8, or as a list of numbers"

ROOT = "/"
"""The root group, whose threads stand beside all other groups."""
GroupName = Annotated[
    str,
    Form(
        r"/|[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}",
        "a group is named as in [[cgroup]], or / for the root",
    ),
]
Weight = Annotated[int, Field(ge=1, le=10_000)]
Shares = Annotated[int, Field(ge=6, le=102_400)]
Limit = Annotated[float, Field(ge=0.01, le=4096)]
VmShares = Annotated[int, Field(ge=1, le=1_000_000)]
Quota = Annotated[int, Quantity(TIME, "1 ms", "1 h")]
Period = Annotated[int, Quantity(TIME, "1 ms", "1 s")]
Burst = Annotated[int, Quantity(TIME, "0 ns", "1 h")]
Slice = Annotated[int, Quantity(TIME, "100 us", "100 ms")]
Poll = Annotated[int, Quantity(TIME, "0 ns", "10 ms")]
Direct = Annotated[int, Quantity(TIME, "0 ns", "1 ms")]
PageIn = Annotated[int, Quantity(TIME, "1 us", "1 s")]
Memory = Annotated[int, Quantity(SIZE, "1 MiB", "64 TiB")]
IO_NS = 5_000
"""What a thread needs for a request, and for its answer [ns]: one queue of virtio-blk did 96,100 to
99,400 requests a second (TUM-DSE, CVM_eval, "virtio-blk poll"), 10.2 us each if its thread never
rested; half of that for either is assumed.
"""
PAGE_IN_NS = 100_000
"""How long a page takes from a swap device [ns]: flash reads 4 KiB in 80 to 120 us, a disk in 4 to
10 ms (assumed, 50 us to 10 ms).
"""
PAGE_IN_WORK_NS = 10_000
"""What a page costs the processor: the fault, another page's way out, the request to the device
(assumed, 3 to 30 us) [ns].
"""
DEFAULT_PERIOD_NS = 100_000_000
"""Period of a quota where none is given (`cpu.max`)."""
POOL_SHARES = 4000
"""Shares of a resource pool at the level "normal", as of four virtual processors (vSphere Resource
Management).
"""
DEFAULT_WEIGHT = 100
"""`cpu.weight` where none is given."""
SHARES_OF_DEFAULT = 1024
"""`cpu.shares` of version 1 that mean the same."""


def read_cpus(text: object) -> list[int]:
    """Numbers of processors from a list as the kernel prints it: `0-3,8`."""
    found: list[int] = []
    for part in str(text).split(","):
        match = _RANGE.fullmatch(part)
        first = -1 if match is None else int(match[1])
        last = first if match is None or match[2] is None else int(match[2])
        if match is None or last < first or last >= MOST_CPUS:
            raise PydanticCustomError("fact", "cpus", {"there": _LIST, "next_step": ""})
        found += range(first, last + 1)
    return list(dict.fromkeys(found))


def _each(value: object) -> list[object]:
    return [value]


_CPU = Annotated[int, Field(ge=0, lt=MOST_CPUS)]
_CPUS = r"^[0-9, -]+$"
_LIST_FORM = {"type": "string", "pattern": _CPUS, "examples": ["0-3,8"]}
Cpus = Annotated[list[_CPU], Field(min_length=1), OrText(read_cpus, _LIST_FORM)]
"""Processors of the host by number: core times threads of a core plus thread."""
Pins = Annotated[list[Cpus], Field(min_length=1, max_length=1024), OrText(_each, _LIST_FORM)]


def _joined(value: object) -> object:
    """A list with texts in it as one text; anything else as it is."""
    parts = value if isinstance(value, list) else []
    told = all(isinstance(one, (str, int)) and not isinstance(one, bool) for one in parts)
    if told and any(isinstance(one, str) for one in parts):
        return ",".join(map(str, parts))
    return value


_CPU_OR_TEXT = _CPU | Annotated[str, Field(pattern=_CPUS, examples=["0-3,8"])]
_SEVERAL = Annotated[list[_CPU_OR_TEXT], Field(min_length=1)]
OnePins = Annotated[Cpus, BeforeValidator(_joined, json_schema_input_type=_SEVERAL)]
"""Processors for one thread, written as either of the above: a list with texts is all of them."""


class Cgroup(Table):
    """A control group of a Linux host: partitions and other groups in it share what it gets."""

    name: Name = Field(description="a name of its own")
    parent: Name | None = Field(
        None, description="the group it is in, one that stands before it; the root if not given"
    )
    weight: Weight | None = Field(
        None, description="cpu.weight, 1 to 10000, among its neighbours; 100 if not given"
    )
    shares: Shares | None = Field(
        None, description="or cpu.shares of version 1, of which 1024 are a weight of 100"
    )
    quota: Quota | None = Field(
        None, description="cpu.max: time that it may use in a period, all processors together"
    )
    period: Period = Field(DEFAULT_PERIOD_NS, description="the period of the quota")
    burst: Burst = Field(0, description="cpu.max.burst: time that may be saved up beyond the quota")
    cpuset: Cpus | None = Field(
        None, description="processors it may use; those of the group it is in if not given"
    )
    idle: bool = Field(False, description="cpu.idle: whether it runs only where nobody else does")

    @model_validator(mode="after")
    def _weighs_once(self) -> Cgroup:
        one_weight(self.weight, self.shares)
        return self


class ResourcePool(Table):
    """A resource pool of an ESXi host: virtual machines and pools in it share what it gets."""

    name: Name = Field(description="a name of its own")
    parent: Name | None = Field(
        None, description="the pool it is in, one that stands before it; none if not given"
    )
    shares: VmShares = Field(
        POOL_SHARES,
        description=(
            "shares among its neighbours, virtual machines and pools; 4000 if not given (normal)"
        ),
    )
    reservation: Cores = Field(
        0.0, description="least that those in it get together if they want it, in cores"
    )
    limit: Limit | None = Field(None, description="most that they may use together, in cores")
    expandable: bool = Field(
        True,
        description=(
            "whether those in it may reserve more than the pool has, of what is around it"
        ),
    )


class Kvm(Table):
    """The threads are virtual processors of a KVM guest; numbers that differ from the host's."""

    halt_poll: Poll | None = Field(
        None, description="longest time that a halted virtual processor polls for work"
    )
    guest_poll: Poll | None = Field(
        None,
        description=(
            "guest_halt_poll_ns: longest time that the guest itself polls before it halts"
            " (cpuidle-haltpoll); its host does not poll then"
        ),
    )
    directed_yield: bool | None = Field(
        None, description="whether one caught spinning yields to one that may hold the lock"
    )
    pause_loop: bool | None = Field(
        None, description="whether the processor notices loops of pauses"
    )
    lock_holder_preemption: bool | None = Field(
        None, description="whether a virtual processor may lose its processor while it holds a lock"
    )
    paravirtual_locks: bool | None = Field(
        None, description="whether waiters of its queue locks halt after a while, until kicked"
    )
    paravirtual_flush: bool | None = Field(
        None, description="whether the host flushes translations for those that are off"
    )
    page: HostPage | None = Field(
        None,
        description=(
            "pages with which the host maps its memory (huge pages of the host); beyond 2 MiB they"
            " are reserved, and NUMA balancing leaves them where they are"
        ),
    )
    numa: bool = Field(
        False,
        description=(
            "whether the guest is shown the nodes that it has memory on (virtual NUMA), so that"
            " threads have their own data near; for that its virtual processors must be pinned to a"
            " node each"
        ),
    )
    posted_interrupts: bool | None = Field(
        None, description="whether interrupts are delivered, and their end taken, without an exit"
    )
    io_threads: Annotated[int, Field(ge=0, le=64)] | None = Field(
        None,
        description=(
            "iothreads: threads of the host that do its I/O; 0 is QEMU's main loop; its virtual"
            " processors themselves if neither this nor pins of them are given"
        ),
    )
    io_pins: Pins | None = Field(
        None, description="iothreadpin: processors for each of these threads; one entry is for all"
    )
    emulator_pins: OnePins | None = Field(
        None,
        description=(
            "emulatorpin: processors for QEMU's main loop, and for I/O threads without pins"
        ),
    )
    balloon: Memory | None = Field(
        None, description="memory that its balloon holds: the guest has so much less"
    )
    swapped: Memory | None = Field(
        None,
        description="of its memory, what the host has on its swap device, untouched pages first",
    )
    guest_page_in: PageIn = Field(
        PAGE_IN_NS, description="how long a page takes from the guest's own swap device"
    )
    host_page_in: PageIn = Field(
        PAGE_IN_NS, description="how long a page takes from the host's swap device"
    )
    page_in_work: Direct = Field(
        PAGE_IN_WORK_NS, description="processor time of a page that comes in; 3 to 30 us as a rule"
    )
    io_request: Direct = Field(
        IO_NS, description="time of such a thread for a request; 2 to 10 us as a rule"
    )
    io_answer: Direct = Field(
        IO_NS,
        description="and for its answer, or for what arrives from outside; 2 to 10 us as a rule",
    )

    @property
    def elsewhere(self) -> int:
        """Of the guest's memory, what takes none of the host's [bytes]."""
        return (self.balloon or 0) + (self.swapped or 0)


def one_weight(weight: int | None, shares: int | None) -> None:
    """Refuse a weight that is told twice."""
    if weight is not None and shares is not None:
        step = "leave shares out: weight = 100 are shares = 1024"
        facts = {"there": "it says both weight and shares", "next_step": step}
        raise PydanticCustomError("fact", "shares", facts)


def weight_of(weight: int | None, shares: int | None) -> int:
    """`cpu.weight` of either: the kernel holds weight times 1024 over 100."""
    if weight is not None:
        return weight
    if shares is None:
        return DEFAULT_WEIGHT
    return max(1, round(shares * DEFAULT_WEIGHT / SHARES_OF_DEFAULT))
