"""A partition's processors in a scenario file, shared or dedicated; bounds of its profile."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from homenode.model.document import Form, Quantity, Table
from homenode.model.scenario.file.amounts import MemorySize, Name, VirtualProcessors
from homenode.model.scenario.file.host import (
    DEFAULT_PERIOD_NS,
    Burst,
    Cpus,
    GroupName,
    Period,
    Pins,
    Quota,
    Slice,
    VmShares,
    one_weight,
)
from homenode.model.scenario.file.mainframe import (
    ByType,
    Cap,
    CoreType,
    Polarization,
    SoftCap,
    spell_types,
)
from homenode.model.units import SHARE

HardwarePath = Annotated[
    str,
    Form(r"[0-9]{1,3}[./][0-9]{2,3}", "a path is a cell and a processor in it, such as 0.10"),
]
DEFAULT_POOL = "DefaultPool"
DEFAULT_WEIGHT = 128
"""Weight for excess capacity where none is given."""
SOFT_CAP = -1
"""Weight of a partition that takes excess capacity only while nobody else wants it."""


class Processors(Table):
    """What both kinds have on a mainframe."""

    type: CoreType | None = Field(
        None, description="on a mainframe, the type of its cores: cp, ifl, ziip or icf"
    )
    types: ByType | None = Field(
        None, description="or how many are of which type, as { cp = 2, ifl = 14 }"
    )

    @model_validator(mode="after")
    def _types_are_told_once(self) -> Processors:
        """A type, or numbers by type."""
        if self.type is not None and self.types is not None:
            there, step = "it says both type and types", "leave type out"
            raise PydanticCustomError("fact", "types", {"there": there, "next_step": step})
        return self


class Shared(Processors):
    """Virtual processors dispatched on the shared pool."""

    mode: Literal["shared"] = Field(description="which of the two kinds it is")
    entitlement: Annotated[float, Field(gt=0, le=4096)] | None = Field(
        None,
        description=(
            "entitled capacity in cores; under PR/SM the weights give it; under ESXi what is"
            " reserved"
        ),
    )
    virtual: VirtualProcessors = Field(description="how many virtual processors are online")
    capped: bool = Field(
        False,
        description="whether use beyond the entitlement is forbidden; PR/SM's initial capping",
    )
    weight: Annotated[int, Field(ge=-1)] | None = Field(
        None,
        description=(
            "weight for excess capacity, 0 to 255, 128 if not given, -1 for a soft cap: excess only"
            " while nobody else wants it; under PR/SM 1 to 999, which"
            " also gives the entitlement; under Linux cpu.weight of a group of its own, 1 to 10000,"
            " 100 if not given; under Xen 1 to 65535, 256 if not given"
        ),
    )
    pool: Name = Field(DEFAULT_POOL, description="name of its shared processor pool")
    allow_performance_collection: bool = Field(
        False,
        description=(
            "on Power, the profile's Allow performance information collection: whether its own"
            " tools see what is left of the shared pool, lparstat's app"
        ),
    )
    polarization: Polarization | None = Field(
        None,
        description=(
            "under PR/SM, how the entitlement lies on its logical cores; the guest's usual way if"
            " not given"
        ),
    )
    cap: Cap | None = Field(
        None,
        description=(
            "under PR/SM, absolute cap in cores; under Xen, in processors; under ESXi, the limit in"
            " cores"
        ),
    )
    group: Name | None = Field(None, description="under PR/SM, name of its [[group]]")
    defined_capacity: SoftCap | None = Field(
        None, description="under PR/SM, most that its rolling average may be, in cores"
    )
    cgroup: GroupName | None = Field(
        None,
        description=(
            "under Linux, name of the [[cgroup]] it is in, / for the root; a group of its own if"
            " not given"
        ),
    )
    resource_pool: Name | None = Field(
        None, description="under ESXi, name of the [[resource_pool]] it is in; none if not given"
    )
    shares: VmShares | None = Field(
        None,
        description=(
            "under Linux, cpu.shares of version 1 in place of weight; under ESXi those of the whole"
            " virtual machine, 1000 for each virtual processor if not given"
        ),
    )
    quota: Quota | None = Field(
        None, description="under Linux, time that it may use in a period, all processors together"
    )
    period: Period = Field(DEFAULT_PERIOD_NS, description="the period of the quota")
    burst: Burst = Field(0, description="under Linux, time saved up beyond the quota")
    cpuset: Cpus | None = Field(None, description="under Linux, processors that it may use")
    pins: Pins | None = Field(
        None,
        description=(
            "under Linux, Xen or ESXi, processors that each virtual processor may use, in order;"
            " one entry is for all"
        ),
    )
    soft_pins: Pins | None = Field(
        None,
        description=(
            "under Xen, processors that each virtual processor runs on while one of them is free"
            " (soft affinity), in order; one entry is for all"
        ),
    )
    nice: Annotated[int, Field(ge=-20, le=19)] = Field(
        0, description="under Linux, the nice value of its threads"
    )
    slice: Slice | None = Field(
        None, description="under Linux, the slice its threads ask for; the base slice if not given"
    )

    @model_validator(mode="before")
    @classmethod
    def _types_make_all(cls, data: object) -> object:
        return spell_types(data, "virtual")

    @model_validator(mode="after")
    def _weighs_once(self) -> Shared:
        one_weight(self.weight, self.shares)
        return self


class Dedicated(Processors):
    """Whole cores of its own."""

    mode: Literal["dedicated"] = Field(description="which of the two kinds it is")
    cores: VirtualProcessors = Field(description="how many cores it has")
    donating: bool = Field(False, description="whether idle cores are lent to the shared pool")
    donate_threshold: Annotated[float, Quantity(SHARE, "0 %", "100 %")] = Field(
        0.8, description="ded_cpu_donate_thresh: utilisation under which it donates"
    )
    cells: dict[str, Annotated[int, Field(ge=1, le=1024)]] | None = Field(
        None, description="how many of the cores are of which cell, as { cell0 = 4, cell1 = 4 }"
    )
    paths: Annotated[list[HardwarePath], Field(max_length=1024)] | None = Field(
        None, description="cores by their hardware path, such as 0.10, beside those by cell"
    )
    minimum: VirtualProcessors | None = Field(None, description="least cores it may have")
    maximum: VirtualProcessors | None = Field(None, description="most cores it may have")
    boot: HardwarePath | None = Field(
        None, description="path of the core it boots on; one of its own is chosen if not given"
    )

    @model_validator(mode="before")
    @classmethod
    def _types_make_all(cls, data: object) -> object:
        return spell_types(data, "cores")

    @property
    def names_cores(self) -> bool:
        """Whether it says anything that only a machine of cells understands."""
        named = (self.cells, self.paths, self.minimum, self.maximum, self.boot)
        return any(value is not None for value in named)


class Resources(Table):
    """Bounds or wishes of a partition's profile, as `lparstat -i` prints them."""

    entitlement: Annotated[float, Field(gt=0, le=4096)] | None = Field(
        None, description="entitled capacity in cores"
    )
    virtual: VirtualProcessors | None = Field(None, description="virtual processors")
    cores: VirtualProcessors | None = Field(None, description="cores of a dedicated partition")
    memory: MemorySize | None = Field(None, description="size of its memory")
