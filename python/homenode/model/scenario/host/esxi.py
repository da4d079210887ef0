"""Virtual machines of an ESXi host: shares, reservations and limits, decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from homenode.model.catalog import MachineDescription
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.file.processors import DEFAULT_POOL, Shared
from homenode.model.scenario.host.entitle import Threads, fill
from homenode.model.scenario.host.groups import OnHost, allowed, pins_of
from homenode.model.scenario.naming import Named
from homenode.model.spec import KvmSpec, VirtualizedSpec

ESXI = "esxi"
NORMAL_SHARES = 1000
"""Shares of a virtual processor where none are given ("normal")."""
_KNOWN = ("mode", "virtual", "pins", "shares", "entitlement", "cap")
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


def place_machines(
    entries: Sequence[Named], cpus: int, kvm: KvmSpec, virtualized: VirtualizedSpec | None
) -> dict[str, OnHost]:
    """All of them, with what each would get if all wanted all that they can have."""
    shared = {e.name: e.table.processors for e in entries if isinstance(e.table.processors, Shared)}
    shares = {
        name: NORMAL_SHARES * own.virtual if own.shares is None else own.shares
        for name, own in shared.items()
    }
    parts = _due(float(cpus), shared, shares, cpus)
    return {
        name: OnHost(
            cgroup=None,
            pins=pins_of(own, cpus),
            allowed=allowed(pins_of(own, cpus), (), None),
            weight=0,
            entitlement=parts[name],
            kvm=kvm.copy(),
            virtualized=None if virtualized is None else virtualized.copy(),
            machine={"shares": shares[name], "reservation": own.entitlement or 0.0},
        )
        for name, own in shared.items()
    }


def _due(
    cores: float, shared: Mapping[str, Shared], shares: Mapping[str, int], cpus: int
) -> dict[str, float]:
    """Cores by the shares, no less than is reserved and no more than can be used."""
    found: dict[str, float] = {}
    while True:
        rest = [name for name in shared if name not in found]
        most = [
            min(Threads(name, None, own.virtual, 0, pins_of(own, cpus)).limit, own.cap or cores)
            for name, own in ((name, shared[name]) for name in rest)
        ]
        claims = [float(shares[name]) for name in rest]
        parts = fill(cores - sum(found.values()), claims, most)
        given = dict(zip(rest, parts, strict=True))
        short = {n: e for n in rest if (e := shared[n].entitlement or 0.0) > given[n]}
        if not short:
            return {**found, **given}
        found |= short
