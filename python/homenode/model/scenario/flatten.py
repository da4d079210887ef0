"""From a resolved scenario to the engine's input: base units, indices, nothing left to decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import NamedTuple, cast

from homenode.model.catalog.flatten import machine_spec, pipeline_spec
from homenode.model.catalog.profile_model import undrained
from homenode.model.scenario.file.guest import Aix, Gang, Linux, Unix
from homenode.model.scenario.file.processors import DEFAULT_WEIGHT, SOFT_CAP, Shared
from homenode.model.scenario.file.scenario import Run
from homenode.model.scenario.file.workload import (
    Barriers,
    Loops,
    Pairs,
    Transactions,
    Users,
    Warehouses,
    Web,
    Workload,
)
from homenode.model.scenario.guest_nodes import memory_policy_of
from homenode.model.scenario.host.placing import host_threads_spec
from homenode.model.scenario.interrupts import interrupts_spec
from homenode.model.scenario.io_threads import io_threads_spec
from homenode.model.scenario.kernel_locks import with_lock
from homenode.model.scenario.loads import load_names
from homenode.model.scenario.mainframe.flatten import shared_spec, web_spec, zvm_spec
from homenode.model.scenario.mainframe.placing import pool_name
from homenode.model.scenario.memory_away import Away, away_of, with_page_ins
from homenode.model.scenario.placed import PlacedPartition, Resolved
from homenode.model.scenario.played import Played
from homenode.model.spec import (
    AsidesSpec,
    BurstsSpec,
    GangSpec,
    GuestSpec,
    LimitsSpec,
    LoadSpec,
    LoopsSpec,
    MachineSpec,
    PairsSpec,
    PartitionSpec,
    PoolSpec,
    ProcessorsSpec,
    ProfileSpec,
    SchedulerSpec,
    SharedSpec,
    Spec,
    StepsSpec,
    ThinkSpec,
    WorkloadSpec,
)

_GENERATOR_INSTRUCTIONS = 5_000.0
"""Of a transaction: a sleep until it is due, a look at the clock, a place in a queue, and a signal
to who waits for one. Assumed, 2,000 to 20,000.
"""


Ways = tuple[bool, bool, bool]
"""Whether its work streams, and copies, and whether tables of translations are walked."""


class Flat(NamedTuple):
    """What of the engine's input was made before."""

    partitions: Mapping[int, PartitionSpec]
    """By place."""
    machines: dict[Ways, MachineSpec]
    """The machine, by what of it is told; more are added."""


def flatten(name: str, run: Run, resolved: Resolved, known: Flat | None = None) -> Spec:
    """The engine's input (`crates/engine/src/spec/`), but for what is `known` of it."""
    partitions_known, machines = known or Flat({}, {})
    cgroups = [group.spec() for group in resolved.cgroups]
    limits: LimitsSpec = {}
    if resolved.groups:
        limits["groups"] = [{"name": group.name, "cap": group.cap} for group in resolved.groups]
    if cgroups:
        limits["cgroups"] = cgroups
    if resolved.resource_pools:
        limits["resource_pools"] = list(resolved.resource_pools)
    if resolved.changes:
        limits["changes"] = list(resolved.changes)
    partitions = _partitions(resolved, partitions_known)
    streams, copies = any(map(_goes_in_order, partitions)), any(map(_copies, partitions))
    hosts = [partition.host for partition in resolved.partitions if partition.host is not None]
    ways = streams, copies, any(host.virtualized is not None for host in hosts)
    if ways not in machines:
        machines[ways] = machine_spec(
            resolved.machine, streams=ways[0], copies=ways[1], walks=ways[2]
        )
    return {
        "name": name,
        "seed": run.seed,
        "warmup_ns": run.warmup,
        "duration_ns": run.duration,
        "interval_ns": run.interval_ns,
        "record_dispatches": run.record_dispatches,
        "machine": machines[ways],
        "pools": _pools(resolved),
        **limits,
        "partitions": partitions,
    }


def _partitions(resolved: Resolved, known: Mapping[int, PartitionSpec]) -> list[PartitionSpec]:
    pools = {pool.name: index for index, pool in enumerate(resolved.pools)}
    groups = {group.name: index for index, group in enumerate(resolved.groups)}
    drains = pipeline_spec(resolved.machine) is not None
    found: list[PartitionSpec] = []
    for at, one in enumerate(resolved.partitions):
        made = known.get(at)
        if made is None:
            made = _partition(one, resolved, pools, groups)
            made = made if drains else _undrained(made)
        found.append(made)
    return found


def _steps(resolved: Resolved, key: str) -> StepsSpec | None:
    """Work that is told by the cores it takes; none of it while it is not found."""
    asked = resolved.asked.get(key)
    if asked is None:
        return None
    rates = resolved.found.get(key, (0.0,) * len(asked.cores))
    return {"lengths_ns": list(asked.lengths_ns), "instructions_per_s": list(rates)}


def _guest_steps(resolved: Resolved, partition: PlacedPartition, one: str) -> StepsSpec | None:
    """What a virtual machine plays."""
    played = partition.guest_demand.get(one)
    if played is None:
        return _steps(resolved, f"{partition.name}/{one}")
    rates = list(played.instructions_per_s)
    return {"lengths_ns": list(played.lengths_ns), "instructions_per_s": rates}


def _pools(resolved: Resolved) -> list[PoolSpec]:
    """Shared pools; their cores only where each pool has its own."""
    found: list[PoolSpec] = []
    for pool, cores in zip_longest(resolved.pools, resolved.pool_members):
        spec: PoolSpec = {"name": pool.name, "maximum": pool.maximum, "reserved": pool.reserved}
        found.append(spec if cores is None else {**spec, "cores": list(cores)})
    return found


def _partition(
    partition: PlacedPartition,
    resolved: Resolved,
    pools: dict[str, int],
    groups: dict[str, int],
) -> PartitionSpec:
    name = partition.name
    away, machine = away_of(partition), resolved.machine
    first = _workload(partition.table.workload, partition.demand, _steps(resolved, name))
    own = with_lock(partition.profile, partition, resolved)
    work, profile = with_page_ins(first, own, away)
    asides = _beside(partition, away, resolved)
    interrupts = interrupts_spec(partition.table, machine, partition.io_domain)
    if interrupts is not None:
        asides["interrupts"] = interrupts
    names = {one.name: at for at, one in enumerate(resolved.partitions)}
    threads = io_threads_spec(partition, names, machine)
    if threads is not None:
        asides["io_threads"] = threads
    return {
        "name": name,
        "processors": _processors(partition, pools, groups),
        "smt": partition.smt,
        "memory": [{"domains": list(p.domains), "bytes": p.bytes} for p in partition.memory],
        "memory_policy": memory_policy_of(partition, machine),
        "data_bytes": partition.data_bytes,
        "io_domain": partition.io_domain,
        "page_bytes": partition.page_bytes,
        "hypervisor_share": partition.hypervisor_share,
        "home": list(partition.home),
        "guest": _guest(partition, lambda one: _guest_steps(resolved, partition, one)),
        "workload": work,
        "profile": profile,
        **asides,
    }


def _goes_in_order(partition: PartitionSpec) -> bool:
    """Whether some of its work goes through data in order: streams, or reads messages."""
    return any(
        "stream_bytes" in load["profile"] or "message_bytes" in load["workload"]
        for load in (partition, *partition.get("beside", ()))
    )


def _copies(partition: PartitionSpec) -> bool:
    """Whether some of its work copies."""
    loads = (partition, *partition.get("beside", ()))
    return any("copied_bytes" in load["profile"] for load in loads)


def _undrained(partition: PartitionSpec) -> PartitionSpec:
    """A partition whose machine tells nothing of its pipelines."""
    told: PartitionSpec = {
        **partition,
        "profile": cast(ProfileSpec, undrained(partition["profile"])),
    }
    if "beside" in told:
        told["beside"] = [
            {**load, "profile": cast(ProfileSpec, undrained(load["profile"]))}
            for load in told["beside"]
        ]
    return told


def _beside(partition: PlacedPartition, away: Away | None, resolved: Resolved) -> AsidesSpec:
    """The workloads beside the first, where there are any."""
    if not partition.beside:
        return {}
    beside: list[LoadSpec] = []
    for one in partition.beside:
        profile = with_lock(one.profile, partition, resolved)
        own = _workload(one.table, one.demand), profile
        work, profile = with_page_ins(*own, away)
        beside.append({"name": one.name, "workload": work, "profile": profile})
    return {"workload_name": load_names(partition.table.loads)[0], "beside": beside}


def _processors(
    partition: PlacedPartition, pools: dict[str, int], groups: dict[str, int]
) -> ProcessorsSpec:
    processors = partition.table.processors
    if isinstance(processors, Shared) and partition.mainframe is not None:
        pool = pools[pool_name(partition.mainframe.types[0])]
        return shared_spec(processors, partition.mainframe, pool, groups)
    if isinstance(processors, Shared) and partition.host is not None:
        return host_threads_spec(processors, partition.host)
    if isinstance(processors, Shared):
        weight = DEFAULT_WEIGHT if processors.weight is None else processors.weight
        spec: SharedSpec = {
            "mode": "shared",
            "entitlement": partition.entitlement,
            "virtual": processors.virtual,
            "capped": processors.capped,
            "weight": weight,
            "pool": pools[processors.pool],
        }
        soft: SharedSpec = {**spec, "weight": DEFAULT_WEIGHT, "soft_cap": True}
        return soft if weight == SOFT_CAP else spec
    return {
        "mode": "dedicated",
        "cores": list(partition.cores or ()),
        "donating": processors.donating,
        "donate_threshold_pct": processors.donate_threshold * 100,
    }


def _guest(partition: PlacedPartition, steps: Callable[[str], StepsSpec | None]) -> GuestSpec:
    guest, mainframe = partition.table.guest, partition.mainframe
    if not isinstance(guest, Unix):
        system = None if mainframe is None else mainframe.zvm
        if system is None:
            raise AssertionError("z/VM where no mainframe is: refused before")
        each = float(partition.profile["instructions_per_unit"])
        return zvm_spec(guest, system, partition.table.paging, each, steps)
    scheduler: SchedulerSpec = {
        "tick_ns": guest.tick,
        "tick_cost_ns": guest.tick_cost,
        "timeslice_ns": guest.timeslice,
        "rebalance_ns": guest.rebalance,
        "daemon_rate_per_s": guest.daemons.rate,
        "daemon_ns": guest.daemons.work,
    }
    if guest.daemons.gangs:
        gangs = enumerate(guest.daemons.gangs)
        scheduler["gangs"] = [_gang(gang, partition.gangs.get(at)) for at, gang in gangs]
    if not isinstance(guest, Aix):
        packing = isinstance(guest, Linux) and guest.packing
        return {
            "os": "linux" if guest.os == "linux" else "hpux",
            "packing": packing and isinstance(partition.table.processors, Shared),
            **scheduler,
        }
    return {
        "os": guest.os,
        "throughput_mode": guest.throughput_mode,
        "xvcpus": guest.xvcpus if guest.folding else -1,
        "fold_threshold_pct": guest.fold_threshold * 100,
        "snooze_delay_ns": guest.snooze_delay,
        **scheduler,
    }


def _gang(gang: Gang, played: Played | None) -> GangSpec:
    spec: GangSpec = {
        "threads": gang.threads,
        "every_ns": gang.every,
        "work_ns": gang.work or 0,
    }
    if played is not None:
        spec["lengths_ns"] = list(played.lengths_ns)
        spec["instructions_per_s"] = list(played.instructions_per_s)
    return spec


def _workload(
    workload: Workload, played: Played | None, asked: StepsSpec | None = None
) -> WorkloadSpec:
    if asked is not None:
        return {"kind": "trace", "spread": "random", **asked}
    if played is not None:
        return {
            "kind": "trace",
            "lengths_ns": list(played.lengths_ns),
            "instructions_per_s": list(played.instructions_per_s),
        }
    if isinstance(workload, Transactions):
        return {"kind": "transactions", "rate_per_s": workload.rate, **_bursts(workload)}
    if isinstance(workload, Users):
        return {
            "kind": "users",
            "count": workload.count,
            "think_ns": workload.think,
            **_constant_think(workload),
            **_bursts(workload),
        }
    if isinstance(workload, Loops):
        loops: LoopsSpec = {
            "kind": "loops",
            "count": workload.count,
            "endless": workload.endless,
        }
        if workload.busy is not None and workload.rest is not None:
            loops |= {"busy_ns": workload.busy, "rest_ns": workload.rest}
        return loops
    if isinstance(workload, Warehouses):
        return {"kind": "warehouses", "count": workload.count}
    if isinstance(workload, Pairs):
        return _pairs(workload)
    if isinstance(workload, Barriers):
        return {
            "kind": "barriers",
            "count": workload.count,
            "threads": workload.threads,
            "burst_work": workload.burst_work,
        }
    if isinstance(workload, Web):
        return web_spec(workload)
    return {"kind": "idle"}


def _pairs(workload: Pairs) -> PairsSpec:
    pairs: PairsSpec = {
        "kind": "pairs",
        "count": workload.count,
        "exchanges": workload.exchanges,
        "client_share": workload.client_share,
        "think_ns": workload.think,
        "burst_work": workload.burst_work,
    }
    if workload.message:
        pairs["message_bytes"] = workload.message
    if workload.rate is not None:
        turn = workload.generator_instructions or _GENERATOR_INSTRUCTIONS
        pairs["generator"] = {"rate_per_s": workload.rate, "instructions": turn}
    return {**pairs, **_constant_think(workload)}


def _constant_think(workload: Users | Pairs) -> ThinkSpec:
    """The distribution of the think time where it is not the usual one."""
    told = workload.think_distribution
    return {} if told == "exponential" else {"think": told}


def _bursts(workload: Transactions | Users) -> BurstsSpec:
    return {"bursts": workload.bursts, "wait_ns": workload.wait, "burst_work": workload.burst_work}
