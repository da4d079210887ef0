"""The machine as a map, as data: chip by chip which core is whose, who is at home there, where
memory lies, what is free; of a run also how many cores of each chip were used.

Read from the frozen scenario, so it shows what would be simulated. Capacity is cores, on a Linux or
Xen host processors as it counts them. `map_text` and `map_pictures` draw it.
"""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from homenode.model.scenario.host.placing import is_host
from homenode.model.scenario.places import node_word
from homenode.model.spec import cores_of, shared_of, zvm_of
from homenode.report.layout import PartitionRow, partition_row
from homenode.report.places import spans
from homenode.simulate.runner.details import machine_facts
from homenode.tools.frame import FrameRow, frame_rows

if TYPE_CHECKING:
    from homenode.model.catalog import MachineDescription
    from homenode.model.scenario import Scenario
    from homenode.model.spec import PartitionSpec, Spec, VirtualMachineSpec
    from homenode.simulate.kept.kept_run import KeptRun

KEYS = string.ascii_uppercase + string.ascii_lowercase + string.digits
"""A letter for each partition, in their order."""
MANY, NOBODYS, INACTIVE = "#", "_", "-"
"""Marks of a core: of a partition beyond the letters, active but nobody's, not activated."""
SHARED = ".:,;"
"""Marks of the cores of shared pools, where some have cores of their own in turn."""


class Tenant(TypedDict):
    """What a partition has at one place."""

    partition: str
    entitlement: float
    """Entitled capacity that is at home there; under a host what it gets if all want everything."""
    memory_bytes: int


class ChipMap(TypedDict):
    """One chip; memory that hangs beside nodes stands with the node."""

    place: str
    cores: str
    """A mark for each core that is built in."""
    active: int
    tenants: list[Tenant]
    used: float | None
    """Capacity used, mean over the replications of the run; None of a file."""


class NodeMap(TypedDict):
    """One node: a drawer, book, cell, socket."""

    place: str
    active: int
    dedicated: int
    entitlement: float
    """Shared entitlement that is at home there."""
    memory_bytes: int
    memory_room: int | None
    """What partitions can have there [bytes], where that is known."""
    tenants: list[Tenant]
    """Whose memory hangs beside the node, where it does."""
    chips: list[ChipMap]
    used: float | None


class PartitionMap(TypedDict):
    """One partition, and of a run where it ran."""

    partition: str
    key: str
    processors: str
    """`shared`, `capped`, `dedicated` or `donating`."""
    entitlement: float
    virtual: int
    smt: int
    memory_bytes: int
    may_use: str | None
    """Processors of a host that it may use, where not all."""
    used: float | None
    dispatches: list[float] | None
    """Dispatches per second on the home chip, near it (same node), far from it."""


class GuestMap(TypedDict):
    """Virtual machines of z/VM that are alike, one after the other."""

    partition: str
    names: list[str]
    cpus: int
    memory_bytes: int
    role: str
    share: str
    switch: str | None


class MachineMap(TypedDict):
    """The whole machine."""

    scenario: str
    run: str | None
    machine: str
    title: str
    node: str
    """What a node is called in places."""
    unit: str
    """`cores`, or `processors` as a host counts them."""
    built_in: int
    """Cores."""
    active: int
    """Cores."""
    capacity: float
    """Of all active cores."""
    dedicated: int
    entitlement: float
    """Shared entitlement of all partitions."""
    free: float
    """Capacity that nobody has and nobody is entitled to; below zero where more is promised than
    there is."""
    memory_bytes: int
    memory_most: int
    memory_beside: str
    marks: dict[str, str]
    """What marks of cores mean that are no partition's letter."""
    used: float | None
    nodes: list[NodeMap]
    partitions: list[PartitionMap]
    guests: list[GuestMap]


class _Of(NamedTuple):
    """What the parts of a map are read from."""

    spec: Spec
    machine: MachineDescription
    marks: str
    rows: Sequence[FrameRow]
    room: Mapping[int, int]
    used: Sequence[float] | None
    """By core, or by thread where a host counts those."""


def map_of(scenario: Scenario, run: KeptRun | None = None) -> MachineMap:
    """The map of a scenario's machine; with a run of it also what was used."""
    spec, machine = (scenario.spec() if run is None else run.spec), scenario.machine
    room = {int(at): size for at, size in machine_facts(scenario).get("room", {}).items()}
    used = None if run is None else _used(run)
    of = _Of(spec, machine, _marks(spec, scenario), frame_rows(spec), room, used)
    nodes = [_node(node, of) for node in range(machine.nodes)]
    partitions = [_partition(at, scenario, of, run) for at in range(len(spec["partitions"]))]
    dedicated = sum(node["dedicated"] for node in nodes)
    shared = (shared_of(one) for one in spec["partitions"])
    entitlement = math.fsum(one["entitlement"] for one in shared if one is not None)
    return MachineMap(
        scenario=scenario.name,
        run=None if run is None else run.id,
        machine=machine.name,
        title=machine.title,
        node=node_word(machine),
        unit="processors" if is_host(machine) else "cores",
        built_in=machine.cores,
        active=machine.active_cores,
        capacity=float(machine.host_cpus),
        dedicated=dedicated,
        entitlement=entitlement,
        free=machine.host_cpus - dedicated - entitlement,
        memory_bytes=sum(one["memory_bytes"] for one in partitions),
        memory_most=machine.memory.maximum.value,
        memory_beside=machine.memory.beside,
        marks=_meanings(of.marks, scenario),
        used=None if used is None else math.fsum(used),
        nodes=nodes,
        partitions=partitions,
        guests=[row for one in spec["partitions"] for row in _guests(one)],
    )


def key_of(index: int) -> str:
    """How a partition is marked: a letter, or its number where the letters have run out."""
    return KEYS[index] if index < len(KEYS) else f"{MANY}{index + 1}"


def _marks(spec: Spec, scenario: Scenario) -> str:
    """Of each core that is built in, whose it is."""
    machine, pools = scenario.machine, scenario.resolved.pool_members
    marks = [NOBODYS] * machine.active_cores
    for number, members in enumerate(pools):
        if members is None and spec["machine"]["hypervisor"]["policy"] != "dedicated":
            marks = [SHARED[0]] * machine.active_cores
        for core in members or ():
            marks[core] = SHARED[number % len(SHARED)]
    for index, partition in enumerate(spec["partitions"]):
        for core in cores_of(partition):
            marks[core] = key_of(index)[0]
    return "".join(marks) + INACTIVE * (machine.cores - machine.active_cores)


def _meanings(marks: str, scenario: Scenario) -> dict[str, str]:
    """Of the marks that are there."""
    pools = scenario.resolved.pools
    own = len(pools) == len(scenario.resolved.pool_members) > 1
    meanings = {NOBODYS: "active, nobody's", INACTIVE: "not active", MANY: "some partition's own"}
    meanings |= {
        mark: f"shared, {pool.name}" if own else "shared"
        for mark, pool in zip(SHARED, pools, strict=False)
    }
    return {mark: meaning for mark, meaning in meanings.items() if mark in marks}


def _used(run: KeptRun) -> list[float] | None:
    """Of each core, or of each thread where a host counts those, the share of the time in which it
    was used, mean over the replications; None of a run of an earlier version.
    """
    told = [one["cores_ns"] for one in run.raw if "cores_ns" in one]
    scale = run.spec["duration_ns"] * len(told)
    return [sum(values) / scale for values in zip(*told, strict=True)] or None


def _node(node: int, of: _Of) -> NodeMap:
    machine, each = of.machine, of.machine.chips_per_node
    own = range(node * each, (node + 1) * each)
    chips = [_chip(chip, of) for chip in own]
    here = [row for row in of.rows if row["node"] == node]
    shared = {one["name"] for one in of.spec["partitions"] if shared_of(one) is not None}
    rooms = [
        of.room[at] for at in ([node] if machine.memory.beside == "node" else own) if at in of.room
    ]
    return NodeMap(
        place=f"{node_word(machine)}{node}",
        active=sum(chip["active"] for chip in chips),
        dedicated=sum(
            core // machine.cores_per_chip in own
            for one in of.spec["partitions"]
            for core in cores_of(one)
        ),
        entitlement=math.fsum(row["entitlement"] for row in here if row["partition"] in shared),
        memory_bytes=sum(row["memory_bytes"] for row in here),
        memory_room=sum(rooms) if rooms else None,
        tenants=[_tenant(row) for row in here if row["chip"] is None],
        chips=chips,
        used=None if of.used is None else math.fsum(chip["used"] or 0.0 for chip in chips),
    )


def _chip(chip: int, of: _Of) -> ChipMap:
    each, threads = of.machine.cores_per_chip, of.machine.host_threads
    first, last = chip * each, (chip + 1) * each
    used = None if of.used is None else of.used[first * threads : last * threads]
    return ChipMap(
        place=f"chip{chip % of.machine.chips_per_node}",
        cores=of.marks[first:last],
        active=len(of.machine.active_cores_of(chip)),
        tenants=[_tenant(row) for row in of.rows if row["chip"] == chip],
        used=None if used is None else math.fsum(used),
    )


def _tenant(row: FrameRow) -> Tenant:
    return Tenant(
        partition=row["partition"],
        entitlement=row["entitlement"],
        memory_bytes=row["memory_bytes"],
    )


def _partition(index: int, scenario: Scenario, of: _Of, run: KeptRun | None) -> PartitionMap:
    row: PartitionRow = partition_row(of.spec["partitions"][index], None, of.spec, of.machine)
    host, name = scenario.partitions[index].host, row["partition"]
    allowed = () if host is None else host.allowed
    return PartitionMap(
        partition=name,
        key=key_of(index),
        processors=row["processors"],
        entitlement=row["entitlement"],
        virtual=row["virtual"],
        smt=row["smt"],
        memory_bytes=row["memory_bytes"],
        may_use=",".join(spans(allowed)) or None,
        used=None if run is None else run.metrics[name]["physc"].mean,
        dispatches=None if run is None else _dispatches(run, name),
    )


def _dispatches(run: KeptRun, name: str) -> list[float]:
    """Per second, by how far from home, the mean over the replications."""
    totals = run.totals(name)
    seconds = math.fsum(one.seconds for one in totals)
    counters = ("home_disp", "near_disp", "far_disp")
    return [math.fsum(one[counter] for one in totals) / seconds for counter in counters]


def _guests(partition: PartitionSpec) -> Iterable[GuestMap]:
    """Those of a partition with z/VM; neighbours that differ in their names alone in one row."""
    zvm = zvm_of(partition)
    if zvm is None:
        return
    switches = [one["name"] for one in zvm["switches"]]
    for _, group in itertools.groupby(zvm["machines"], _alike):
        members = list(group)
        one, at = members[0], members[0]["switch"]
        yield GuestMap(
            partition=str(partition["name"]),
            names=[str(member["name"]) for member in members],
            cpus=int(one["cpus"]),
            memory_bytes=int(one["memory_bytes"]),
            role=one["role"],
            share=_share(one),
            switch=None if at is None else str(switches[at]),
        )


def _alike(one: VirtualMachineSpec) -> tuple[object, ...]:
    return (one["cpus"], one["memory_bytes"], one["role"], one["switch"], _share(one))


def _share(one: VirtualMachineSpec) -> str:
    """As its directory entry has it."""
    share = one["share"]
    if "absolute" in share:
        return f"absolute {100 * share['absolute']:g} %"
    return f"relative {share['relative']}" if "relative" in share else ""
