"""A layout before it is simulated: who has which cores, where home and memory are, who shares what.

Read from the frozen scenario, that is from what would be simulated.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from rich.markup import escape

from homenode import _engine
from homenode.model.scenario.places import node_word
from homenode.model.spec import capacity_of
from homenode.model.units import TIME
from homenode.report.places import frame_table, home_in_words, memory_in_words, size_in_words
from homenode.report.tables import plain_table
from homenode.simulate.affinity.layout import Layout as Frame
from homenode.simulate.affinity.layout import has_score
from homenode.tools.frame import FrameRow, frame_rows

if TYPE_CHECKING:
    from rich.table import Table

    from homenode.model.catalog import MachineDescription
    from homenode.model.scenario import Scenario
    from homenode.model.spec import PartitionSpec, SharedSpec, Spec


class PartitionRow(TypedDict):
    """Where a partition is and what it is entitled to, as `check` shows it."""

    partition: str
    processors: str
    """`shared`, `capped`, `dedicated` or `donating`."""
    entitlement: float
    """Of a dedicated partition its cores [cores]."""
    virtual: int
    """Virtual processors, or cores of its own."""
    smt: int
    pool: str | None
    weight: int | None
    cores: list[int] | None
    """Those of its own."""
    home_chips: list[int]
    home: str
    memory_bytes: int
    memory: dict[str, int]
    """Bytes by place."""
    affinity: int | None
    """Score of 0 to 100; None where PowerVM does not give one."""


class PlaceRow(TypedDict):
    """One node of the machine, and who is at home there."""

    place: str
    cores: int
    """Active ones that no partition has to itself; of a host its processors."""
    partitions: list[str]
    """Shared ones with a home there."""
    virtual: float
    """Their virtual processors, by the part of their home that is there."""
    entitlement: float
    """The same of their entitled capacity [cores]."""


class PoolRow(TypedDict):
    """One shared processor pool."""

    pool: str
    cores: float
    """What its partitions can use together [cores; of a host processors]."""
    entitlement: float
    reserved: float
    virtual: int
    partitions: list[str]


class QueueRow(TypedDict):
    """Processors of a Xen host that take from one run queue."""

    queue: int
    first: int
    last: int
    place: str


class Layout(TypedDict):
    """What a scenario comes to when everything in it is decided."""

    scenario: str
    machine: str
    title: str
    active_cores: int
    threads: int
    """Processors of a core: 1, but for a host its hardware threads."""
    replications: int
    warmup_ns: int
    duration_ns: int
    seed: int
    points: int
    """Runs of its sweep; 1 if it has none."""
    partitions: list[PartitionRow]
    places: list[PlaceRow]
    frame: list[FrameRow]
    """Who lies where."""
    affinity: int | None
    """Score of the frame."""
    pools: list[PoolRow]
    queues: list[QueueRow]
    """Run queues of Xen's credit2."""


def layout_of(scenario: Scenario, points: int = 1) -> Layout:
    """What the scenario means."""
    spec, machine = scenario.layout_spec(), scenario.machine
    frame = Frame(scenario.resolved, spec) if has_score(machine) else None
    scores = frame.scores if frame is not None else [None] * len(spec["partitions"])
    pairs = zip(spec["partitions"], scores, strict=True)
    rows = [partition_row(one, score, spec, machine) for one, score in pairs]
    threads = capacity_of(spec["machine"]) // machine.active_cores
    return Layout(
        scenario=scenario.name,
        machine=str(spec["machine"]["name"]),
        title=machine.title,
        active_cores=machine.active_cores,
        threads=threads,
        replications=scenario.replications,
        warmup_ns=int(spec["warmup_ns"]),
        duration_ns=int(spec["duration_ns"]),
        seed=int(spec["seed"]),
        points=points,
        partitions=rows,
        places=_places(rows, machine, threads),
        frame=frame_rows(spec),
        affinity=None if frame is None else frame.score,
        pools=[_pool(pool, rows, scenario, threads) for pool in range(len(spec["pools"]))],
        queues=_queues(spec, machine, threads),
    )


def partition_row(
    one: PartitionSpec, affinity: int | None, spec: Spec, machine: MachineDescription
) -> PartitionRow:
    """What a partition of a spec comes to, with a score that is known elsewhere."""
    processors = one["processors"]
    shared = processors if processors["mode"] == "shared" else None
    own = [] if processors["mode"] == "shared" else list(processors["cores"])
    chips = sorted({*one["home"]} if shared else {core // machine.cores_per_chip for core in own})
    if processors["mode"] == "shared":
        kind = "capped" if processors["capped"] or _has_cap(processors) else "shared"
    else:
        kind = "donating" if processors["donating"] else "dedicated"
    return PartitionRow(
        partition=str(one["name"]),
        processors=kind,
        entitlement=float(shared["entitlement"]) if shared else float(len(own)),
        virtual=int(shared["virtual"]) if shared else len(own),
        smt=int(one["smt"]),
        pool=str(spec["pools"][shared["pool"]]["name"]) if shared else None,
        weight=shared["weight"] if shared else None,
        cores=None if shared else own,
        home_chips=chips,
        home=home_in_words(chips, machine),
        memory_bytes=sum(int(part["bytes"]) for part in one["memory"]),
        memory=memory_in_words(one["memory"], str(spec["machine"]["memory_beside"]), machine),
        affinity=affinity,
    )


def _has_cap(processors: SharedSpec) -> bool:
    """Whether PR/SM or a host lets it use only so much."""
    limits = (processors.get("prsm"), processors.get("host"))
    return any(one is not None and one.get("cap") is not None for one in limits)


def _queues(spec: Spec, machine: MachineDescription, threads: int) -> list[QueueRow]:
    """Run queues, each of processors in a row."""
    numbers = _engine.run_queues(json.dumps(spec))
    chips = range(machine.nodes * machine.chips_per_node)
    chip_of = [chip for chip in chips for _ in machine.active_cores_of(chip)]
    found = []
    for queue, members in itertools.groupby(range(len(numbers)), key=numbers.__getitem__):
        cpus = list(members)
        first, last = cpus[0], cpus[-1]
        here = sorted({chip_of[cpu // threads] for cpu in (first, last)})
        place = home_in_words(here, machine)
        found.append(QueueRow(queue=queue, first=first, last=last, place=place))
    return found


def _places(
    rows: Sequence[PartitionRow], machine: MachineDescription, threads: int
) -> list[PlaceRow]:
    """Nodes on which a shared partition has its home."""
    each = machine.chips_per_node
    taken = {
        core for row in rows if row["processors"] == "dedicated" for core in row["cores"] or ()
    }
    found = []
    for node in range(machine.nodes):
        chips = range(node * each, (node + 1) * each)
        parts = {
            row["partition"]: sum(chip in chips for chip in row["home_chips"])
            / len(row["home_chips"])
            for row in rows
            if row["pool"] is not None and row["home_chips"]
        }
        here = [row for row in rows if parts.get(row["partition"])]
        if not here:
            continue
        cores = [core for chip in chips for core in machine.active_cores_of(chip)]
        found.append(
            PlaceRow(
                place=f"{node_word(machine)}{node}",
                cores=threads * len([core for core in cores if core not in taken]),
                partitions=[row["partition"] for row in here],
                virtual=math.fsum(row["virtual"] * parts[row["partition"]] for row in here),
                entitlement=math.fsum(row["entitlement"] * parts[row["partition"]] for row in here),
            )
        )
    return found


def _pool(index: int, rows: Sequence[PartitionRow], scenario: Scenario, threads: int) -> PoolRow:
    pool, members_of = scenario.resolved.pools[index], scenario.resolved.pool_members
    own = members_of[index] if index < len(members_of) else None
    there = threads * (scenario.resolved.pool_cores if own is None else len(own))
    members = [row for row in rows if row["pool"] == pool.name]
    return PoolRow(
        pool=pool.name,
        cores=there if pool.maximum is None else min(pool.maximum, there),
        entitlement=math.fsum(row["entitlement"] for row in members),
        reserved=pool.reserved,
        virtual=sum(row["virtual"] for row in members),
        partitions=[row["partition"] for row in members],
    )


def layout_tables(layout: Layout, machine: MachineDescription) -> list[Table]:
    """Partitions, pools, who shares which part of the machine, and who lies where."""
    shared = [row for row in layout["pools"] if row["partitions"]]
    counted = "cores" if layout["threads"] == 1 else "processors"
    return [
        _partition_table(layout["partitions"]),
        *([_pool_table(shared, counted)] if shared else []),
        *([_place_table(layout["places"], counted)] if layout["places"] else []),
        *([_queue_table(layout["queues"])] if layout["queues"] else []),
        frame_table(layout["frame"], machine),
    ]


def _partition_table(rows: Sequence[PartitionRow]) -> Table:
    table = plain_table("partition", "processors", "entitled", "virtual", "SMT", title="Partitions")
    scored = any(row["affinity"] is not None for row in rows)
    for column in ("home", "memory"):
        table.add_column(column)
    if scored:
        table.add_column("affinity", justify="right")
    for row in rows:
        table.add_row(
            escape(row["partition"]),
            row["processors"],
            f"{row['entitlement']:.2f}",
            str(row["virtual"]),
            str(row["smt"]),
            row["home"],
            ", ".join(f"{size_in_words(size)} {place}" for place, size in row["memory"].items()),
            *([str(row["affinity"])] if scored else []),
        )
    return table


def _pool_table(rows: Sequence[PoolRow], counted: str) -> Table:
    table = plain_table("pool", counted, "entitled", "reserved", "virtual", title="Pools")
    table.add_column("partitions")
    for row in rows:
        figures = (row["cores"], row["entitlement"], row["reserved"])
        table.add_row(
            escape(row["pool"]),
            *(f"{figure:.2f}" for figure in figures),
            str(row["virtual"]),
            escape(", ".join(row["partitions"])),
        )
    return table


def _place_table(rows: Sequence[PlaceRow], counted: str) -> Table:
    table = plain_table("place", counted, "entitled", "virtual", title="Who is at home where")
    table.add_column("partitions")
    for row in rows:
        table.add_row(
            row["place"],
            str(row["cores"]),
            f"{row['entitlement']:.2f}",
            f"{row['virtual']:.1f}",
            escape(", ".join(row["partitions"])),
        )
    return table


def _queue_table(rows: Sequence[QueueRow]) -> Table:
    table = plain_table("queue", "processors", title="Run queues")
    table.add_column("place")
    for row in rows:
        table.add_row(str(row["queue"]), f"{row['first']} to {row['last']}", row["place"])
    return table


def layout_lines(layout: Layout) -> list[str]:
    """What it is of, and what would be done."""
    count, plays = len(layout["partitions"]), layout["replications"]
    of_what = f"{count} partition{'s' if count > 1 else ''} of {layout['title']}"
    length, before = TIME.format(layout["duration_ns"]), TIME.format(layout["warmup_ns"])
    played = f"{plays} replication{'s' if plays > 1 else ''} of {length} after {before}"
    lines = [
        f"{layout['scenario']}: {of_what}, {layout['active_cores']} cores active",
        f"{played}, seed {layout['seed']}",
    ]
    if layout["affinity"] is not None:
        lines.append(f"affinity score {layout['affinity']} of 100, see homenode affinity")
    if layout["points"] > 1:
        lines.append(f"a sweep of {layout['points']:,} points; the layout is that of the first")
    return lines
