"""Virtual machines of an ESXi host: shares, reservations and limits, decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from homenode.errors import listed, suggestion
from homenode.model.catalog import MachineDescription
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.file.host import ResourcePool
from homenode.model.scenario.file.processors import DEFAULT_POOL, Shared
from homenode.model.scenario.file.scenario import ScenarioFile
from homenode.model.scenario.host.entitle import Threads, fill
from homenode.model.scenario.host.groups import OnHost, allowed, pins_of
from homenode.model.scenario.naming import Named
from homenode.model.spec import (
    KvmSpec,
    MachineSharesSpec,
    ResourcePoolSpec,
    VirtualizedSpec,
)

ESXI = "esxi"
NORMAL_SHARES = 1000
"""Shares of a virtual processor where none are given ("normal")."""
_KNOWN = ("mode", "virtual", "pins", "shares", "entitlement", "cap", "resource_pool")
_INSTEAD = {
    "weight": "write shares",
    "capped": "write cap, which says how much",
    "quota": "write cap, in cores",
    "cpuset": "write pins",
}


def is_esxi(machine: MachineDescription) -> bool:
    """Whether ESXi's scheduler dispatches on it."""
    return machine.hypervisor.policy == ESXI


def check_words(processors: Shared, path: Path, problems: Problems) -> None:
    """Note words of other hosts, and numbers that do not fit each other."""
    for key in type(processors).model_fields:
        if key in processors.model_fields_set and key not in _KNOWN:
            if key == "pool" and processors.pool == DEFAULT_POOL:
                continue
            step = _INSTEAD.get(key, f"leave {key} out")
            problems.add((*path, key), there="ESXi does not know it", next_step=step)
    most = float(processors.virtual) if processors.cap is None else processors.cap
    if processors.entitlement is not None and processors.entitlement > most:
        there = f"it can use {most:g} cores at most"
        step = "reserve no more than that"
        problems.add((*path, "entitlement"), there=there, next_step=step)


def check_resource_pools(
    file: ScenarioFile, machine: MachineDescription, problems: Problems
) -> None:
    """Note pools where there are none, and those that do not fit each other; sums of reservations
    are the engine's to check.
    """
    esxi = is_esxi(machine)
    if file.resource_pool and not esxi:
        there = f"only ESXi has it, {machine.title} does not run it here"
        step = 'leave it out, or choose policy = "esxi" under [machine]'
        here: Path = ("resource_pool", 0)
        problems.add(here, "no such thing here", there=there, next_step=step, at_key=True)
    before: list[str] = []
    for index, pool in enumerate(file.resource_pool if esxi else ()):
        path: Path = ("resource_pool", index)
        if pool.name in before:
            there, step = "an earlier pool has it", "give each pool a name of its own"
            problems.add((*path, "name"), there=there, next_step=step)
        _check_pool_name(pool.parent, before, (*path, "parent"), problems)
        before.append(pool.name)
        if pool.limit is not None and pool.reservation > pool.limit:
            there = f"its limit is {pool.limit:g} cores"
            problems.add((*path, "reservation"), there=there, next_step="reserve no more than that")
    for row, table in enumerate(file.partition):
        own = table.processors
        if isinstance(own, Shared) and own.resource_pool is not None:
            here = ("partition", row, "processors", "resource_pool")
            if esxi:
                _check_pool_name(own.resource_pool, before, here, problems)
            else:
                there = "only ESXi has resource pools"
                problems.add(here, there=there, next_step="leave resource_pool out")


def _check_pool_name(
    name: str | None, known: Sequence[str], path: Path, problems: Problems
) -> None:
    if name is not None and name not in known:
        there = f"the pools so far are {listed(known)}" if known else "there is no pool before"
        step = suggestion(name, known, "write [[resource_pool]] with that name, outer ones first")
        problems.add(path, there=there, next_step=step)


def pool_specs(pools: Sequence[ResourcePool]) -> tuple[ResourcePoolSpec, ...]:
    """Pools of a file as the engine takes them, parents by index."""
    number = {pool.name: at for at, pool in enumerate(pools)}
    return tuple(
        {
            "name": pool.name,
            "parent": None if pool.parent is None else number[pool.parent],
            "shares": pool.shares,
            "reservation": pool.reservation,
            "limit": pool.limit,
            "expandable": pool.expandable,
        }
        for pool in pools
    )


def place_machines(
    entries: Sequence[Named],
    cpus: int,
    pools: Sequence[ResourcePoolSpec],
    virtual: tuple[KvmSpec, VirtualizedSpec | None],
) -> dict[str, OnHost]:
    """All of them, with what each would get if all wanted all that they can have."""
    shared = {e.name: e.table.processors for e in entries if isinstance(e.table.processors, Shared)}
    number = {pool["name"]: at for at, pool in enumerate(pools)}
    kvm, virtualized = virtual
    claims = {name: _claim(name, own, number, cpus) for name, own in shared.items()}
    parts = _due(float(cpus), pools, claims)
    placed = {}
    for name, own in shared.items():
        one, pool = claims[name], claims[name].pool
        machine: MachineSharesSpec = {"shares": one.shares, "reservation": one.reserved}
        placed[name] = OnHost(
            cgroup=None,
            pins=pins_of(own, cpus),
            allowed=allowed(pins_of(own, cpus), (), None),
            weight=0,
            entitlement=parts[name],
            kvm=kvm.copy(),
            virtualized=None if virtualized is None else virtualized.copy(),
            machine=machine if pool is None else {**machine, "pool": pool},
        )
    return placed


@dataclass(frozen=True)
class _Claim:
    """What a virtual machine, or a pool, may have of what it is in."""

    pool: int | None
    """Index of the pool that it is in."""
    shares: int
    reserved: float
    most: float


def _claim(name: str, own: Shared, number: Mapping[str, int], cpus: int) -> _Claim:
    limit = Threads(name, None, own.virtual, 0, pins_of(own, cpus)).limit
    return _Claim(
        pool=None if own.resource_pool is None else number[own.resource_pool],
        shares=NORMAL_SHARES * own.virtual if own.shares is None else own.shares,
        reserved=own.entitlement or 0.0,
        most=limit if own.cap is None else min(limit, own.cap),
    )


def _due(
    cores: float, pools: Sequence[ResourcePoolSpec], machines: Mapping[str, _Claim]
) -> dict[str, float]:
    """Cores by the shares of each level, no less than is reserved and no more than can be used."""
    claims: dict[str | int, _Claim] = dict(machines.items())
    for at in reversed(range(len(pools))):
        pool, inside = pools[at], [one for one in claims.values() if one.pool == at]
        most = sum(one.most for one in inside)
        claims[at] = _Claim(
            pool["parent"],
            pool["shares"],
            max(pool["reservation"], sum(one.reserved for one in inside)),
            most if pool["limit"] is None else min(most, pool["limit"]),
        )
    parts: dict[str | int, float] = _level(cores, None, claims)
    for at in range(len(pools)):
        parts |= _level(parts[at], at, claims)
    return {name: parts[name] for name in machines}


def _level(
    cores: float, pool: int | None, claims: Mapping[str | int, _Claim]
) -> dict[str | int, float]:
    """What those right in a pool get of its cores."""
    inside = {key: one for key, one in claims.items() if one.pool == pool}
    found: dict[str | int, float] = {}
    while True:
        rest = [key for key in inside if key not in found]
        shares = [float(inside[key].shares) for key in rest]
        most = [inside[key].most for key in rest]
        given = fill(cores - sum(found.values()), shares, most)
        least = {key: min(inside[key].reserved, inside[key].most) for key in rest}
        short = {key: least[key] for key, got in zip(rest, given, strict=True) if least[key] > got}
        if not short:
            return {**found, **dict(zip(rest, given, strict=True))}
        found |= short
