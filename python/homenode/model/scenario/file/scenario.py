"""A scenario file as a whole, its pools and its run."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from homenode.model.document import Quantity, Table
from homenode.model.scenario.file.advise import Advise
from homenode.model.scenario.file.amounts import Cores, Name
from homenode.model.scenario.file.cells import Npartition
from homenode.model.scenario.file.change import Change
from homenode.model.scenario.file.find import Find
from homenode.model.scenario.file.host import Cgroup, ResourcePool
from homenode.model.scenario.file.machine import MachineChoice
from homenode.model.scenario.file.mainframe import Group, Scaling
from homenode.model.scenario.file.partition import Partition
from homenode.model.units import TIME


class Pool(Table):
    """A shared processor pool beside the default one."""

    name: Name = Field(description="a name of its own")
    number: Annotated[int, Field(ge=0, le=63)] | None = Field(
        None, description="pool id; counted if not given"
    )
    maximum: Cores | None = Field(
        None, description="the most its partitions may use together, in cores"
    )
    reserved: Cores = Field(0.0, description="capacity kept for its uncapped partitions, in cores")


_INTERVALS_NS = tuple(ms * 1_000_000 for ms in (1000, 500, 250, 200, 100, 50))
"""Lengths that are taken where none is given, the first of which a duration is a whole number."""


def _interval_of(duration: int) -> int:
    """The interval of a run that states none [ns]: at most a second, and all are alike."""
    if duration < _INTERVALS_NS[0]:
        return duration
    whole = (length for length in _INTERVALS_NS if duration % length == 0)
    return next(whole, _INTERVALS_NS[0])


class Run(Table):
    """How long and how often."""

    warmup: Annotated[int, Quantity(TIME, "0 ns", "30 d")] = Field(
        5_000_000_000, description="simulated time before anything is recorded"
    )
    duration: Annotated[int, Quantity(TIME, "1 ms", "365 d")] = Field(
        60_000_000_000, description="simulated time that is recorded"
    )
    interval: Annotated[int, Quantity(TIME, "1 ms", "1 d")] | None = Field(
        None,
        description="length of one recorded interval; if not given the first of 1 s, 500, 250, 200,"
        " 100 and 50 ms of which the duration is a whole number, or a duration below 1 s",
    )
    replications: Annotated[int, Field(ge=1, le=10_000)] = Field(
        5, description="how often, each with other random numbers"
    )
    seed: Annotated[int, Field(ge=0, lt=2**64)] = Field(1, description="seed of all random numbers")
    record_dispatches: bool = Field(False, description="whether every dispatch is written down")

    @property
    def interval_ns(self) -> int:
        """Length of an interval, given or not [ns]."""
        return _interval_of(self.duration) if self.interval is None else self.interval


class ScenarioFile(Table):
    """A scenario file as a whole."""

    name: Name | None = Field(
        None, description="name of the scenario; that of the file if not given"
    )
    title: str | None = Field(None, description="one line on what it is about")
    machine: MachineChoice = Field(
        description='write [machine] and under it model = "ibm-power-795"'
    )
    pool: Annotated[list[Pool], Field(max_length=63)] = Field(
        default_factory=list, description="shared processor pools beside the default one"
    )
    npartition: Annotated[list[Npartition], Field(max_length=64)] = Field(
        default_factory=list, description="on a machine of cells, which cells belong together"
    )
    group: Annotated[list[Group], Field(max_length=64)] = Field(
        default_factory=list,
        description="under PR/SM, partitions that may use so many cores together",
    )
    cgroup: Annotated[list[Cgroup], Field(max_length=1024)] = Field(
        default_factory=list, description="under Linux, control groups, outer ones first"
    )
    resource_pool: Annotated[list[ResourcePool], Field(max_length=1024)] = Field(
        default_factory=list, description="under ESXi, resource pools, outer ones first"
    )
    partition: Annotated[list[Partition], Field(min_length=1, max_length=1024)] = Field(
        description="write [[partition]] and under it name, processors, memory and workload"
    )
    change: Annotated[list[Change], Field(max_length=1024)] = Field(
        default_factory=list, description="what an operator changes during the run"
    )
    run: Run = Field(default_factory=Run, description="how long and how often")
    scaling: Scaling | None = Field(
        None, description="what `homenode scaling` makes grow with the processors"
    )
    find: Find | None = Field(
        None, description="what `homenode run` looks for, in place of a single run"
    )
    advise: Advise | None = Field(
        None, description="what `homenode advise` may change and what it is to reach"
    )
    sweep: dict[str, list[object]] | None = Field(
        None, description="axes whose product is the list of runs"
    )
