"""From a resolved scenario to the engine's input: base units, indices, nothing left to decide."""

from __future__ import annotations

from typing import Any

from homenode.catalog.flatten import machine_spec
from homenode.scenario.guest import Aix, Guest
from homenode.scenario.models import Run, Shared
from homenode.scenario.placed import PlacedPartition, Resolved
from homenode.scenario.workload import Loops, Transactions, Users, Warehouses, Workload


def flatten(name: str, run: Run, resolved: Resolved) -> dict[str, Any]:
    """The engine's input (`crates/engine/src/spec.rs`)."""
    pools = {pool.name: index for index, pool in enumerate(resolved.pools)}
    return {
        "name": name,
        "seed": run.seed,
        "warmup_ns": run.warmup,
        "duration_ns": run.duration,
        "interval_ns": run.interval_ns,
        "record_dispatches": run.record_dispatches,
        "machine": machine_spec(resolved.machine),
        "pools": [
            {"name": p.name, "maximum": p.maximum, "reserved": p.reserved} for p in resolved.pools
        ],
        "partitions": [_partition(partition, pools) for partition in resolved.partitions],
    }


def _partition(partition: PlacedPartition, pools: dict[str, int]) -> dict[str, Any]:
    guest = partition.table.guest
    return {
        "name": partition.name,
        "processors": _processors(partition, pools),
        "smt": partition.smt,
        "memory": [{"domains": list(p.domains), "bytes": p.bytes} for p in partition.memory],
        "memory_policy": guest.memory_policy,
        "data_bytes": partition.data_bytes,
        "io_domain": partition.io_domain,
        "page_bytes": partition.page_bytes,
        "hypervisor_share": partition.hypervisor_share,
        "home": list(partition.home),
        "guest": _guest(guest),
        "workload": _workload(partition.table.workload),
        "profile": partition.profile,
    }


def _processors(partition: PlacedPartition, pools: dict[str, int]) -> dict[str, Any]:
    processors = partition.table.processors
    if isinstance(processors, Shared):
        return {
            "mode": "shared",
            "entitlement": processors.entitlement,
            "virtual": processors.virtual,
            "capped": processors.capped,
            "weight": processors.weight,
            "pool": pools[processors.pool],
        }
    return {
        "mode": "dedicated",
        "cores": list(partition.cores or ()),
        "donating": processors.donating,
        "donate_threshold_pct": processors.donate_threshold * 100,
    }


def _guest(guest: Guest) -> dict[str, Any]:
    scheduler = {
        "tick_ns": guest.tick,
        "tick_cost_ns": guest.tick_cost,
        "timeslice_ns": guest.timeslice,
        "rebalance_ns": guest.rebalance,
        "daemon_rate_per_s": guest.daemons.rate,
        "daemon_ns": guest.daemons.work,
    }
    if not isinstance(guest, Aix):
        return {"os": guest.os.replace("-", ""), **scheduler}
    return {
        "os": guest.os,
        "throughput_mode": guest.throughput_mode,
        "xvcpus": guest.xvcpus if guest.folding else -1,
        "fold_threshold_pct": guest.fold_threshold * 100,
        "snooze_delay_ns": guest.snooze_delay,
        **scheduler,
    }


def _workload(workload: Workload) -> dict[str, Any]:
    if isinstance(workload, Transactions):
        return {"kind": "transactions", "rate_per_s": workload.rate, **_bursts(workload)}
    if isinstance(workload, Users):
        return {
            "kind": "users",
            "count": workload.count,
            "think_ns": workload.think,
            **_bursts(workload),
        }
    if isinstance(workload, Loops):
        return {"kind": "loops", "count": workload.count, "endless": workload.endless}
    if isinstance(workload, Warehouses):
        return {"kind": "warehouses", "count": workload.count}
    return {"kind": "idle"}


def _bursts(workload: Transactions | Users) -> dict[str, Any]:
    return {"bursts": workload.bursts, "wait_ns": workload.wait, "burst_work": workload.burst_work}
