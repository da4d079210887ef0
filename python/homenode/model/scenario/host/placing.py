"""Partitions of a Linux or Xen host: control groups, weights, pins and what KVM does, decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from homenode.model.catalog import MachineDescription
from homenode.model.catalog.hosts import Credit2Host, KvmHost, LinuxHost, SpinningGuests
from homenode.model.catalog.listed import ListedHost
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.document import Problems
from homenode.model.scenario.file.guest import Aix, Daemons, Linux
from homenode.model.scenario.file.host import DEFAULT_WEIGHT, Kvm
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.processors import Shared
from homenode.model.scenario.file.scenario import ScenarioFile
from homenode.model.scenario.host.entitle import Threads, entitlements, fill
from homenode.model.scenario.host.esxi import is_esxi, place_machines, pool_specs
from homenode.model.scenario.host.groups import (
    XEN_WEIGHT,
    OnHost,
    PlacedCgroup,
    allowed,
    make_groups,
    pins_of,
    soft_pins_of,
)
from homenode.model.scenario.naming import Named
from homenode.model.spec import (
    HostThreadsSpec,
    KvmSpec,
    ResourcePoolSpec,
    SharedSpec,
    VirtualizedSpec,
)

_BARE: dict[str, object] = {
    "tick_cost": 0,
    "rebalance": None,
    "daemons": Daemons.model_construct(rate=0.0, work=0),
}
"""What processes of a host have of a guest system: nothing that runs by itself."""

_Switch = Literal["directed_yield", "lock_holder_preemption", "paravirtual_flush"]
"""What a guest's table switches on or off."""


@dataclass(frozen=True)
class Hosted:
    """All control groups, and what the host knows of each partition by name."""

    groups: tuple[PlacedCgroup, ...]
    partitions: Mapping[str, OnHost]
    pools: tuple[ResourcePoolSpec, ...] = ()
    """Resource pools, under ESXi."""


def is_host(machine: MachineDescription) -> bool:
    """Whether a host's scheduler dispatches threads on it."""
    return machine.hypervisor.policy in HOST_POLICIES


def with_usual_guests(
    file: ScenarioFile,
    machine: MachineDescription,
    problems: Problems,
    known: Mapping[int, Partition],
) -> ScenarioFile:
    """The file with Linux where it names no guest, which elsewhere means AIX; processes of the host
    have no guest's ticks and daemons where nobody writes them. `known` are, by row, tables of which
    that is found already.
    """
    # Xen and ESXi run virtual machines only.
    processes = not (isinstance(machine.hypervisor, Credit2Host) or is_esxi(machine))
    tables = [
        known.get(row) or _usual(one, row, processes, problems)
        for row, one in enumerate(file.partition)
    ]
    return file.model_copy(update={"partition": tables})


def _usual(table: Partition, row: int, processes: bool, problems: Problems) -> Partition:
    guest = table.guest
    told = problems.document.value(("partition", row, "guest"))
    if isinstance(guest, Aix) and (not isinstance(told, dict) or "os" not in told):
        keys = {} if told is None else {key: getattr(guest, key) for key in guest.model_fields_set}
        known = {key: value for key, value in keys.items() if key in Linux.model_fields}
        guest = Linux.model_construct(**{**known, "os": "linux"})
    if isinstance(guest, Linux) and table.kvm is None and processes:
        plain = {k: v for k, v in _BARE.items() if k not in guest.model_fields_set}
        guest = guest.model_copy(update=plain)
    return table.model_copy(update={"guest": guest})


def place_on_host(
    file: ScenarioFile, entries: Sequence[Named], machine: MachineDescription
) -> Hosted:
    """Groups and shares of a scenario whose words are known to fit."""
    cpus = machine.host_cpus
    hypervisor = machine.hypervisor
    if isinstance(hypervisor, ListedHost) and is_esxi(machine):
        pools, kvm = pool_specs(file.resource_pool), hypervisor.kvm
        virtual = (kvm.spec(), kvm.virtualized())
        return Hosted((), place_machines(entries, cpus, pools, virtual), pools)
    if isinstance(hypervisor, ListedHost):
        return Hosted((), _alike(entries, cpus, hypervisor.kvm))
    if not isinstance(hypervisor, LinuxHost):
        return Hosted((), _domains(entries, cpus, cast(Credit2Host, hypervisor).domain))
    groups, member = make_groups(file.cgroup, entries)
    shared = [
        (entry, entry.table.processors)
        for entry in entries
        if isinstance(entry.table.processors, Shared)
    ]
    threads = [
        Threads(entry.name, member[entry.name], own.virtual, own.nice, pins_of(own, cpus))
        for entry, own in shared
    ]
    parts = entitlements(groups, threads, cpus)
    return Hosted(
        groups,
        {
            entry.name: OnHost(
                cgroup=member[entry.name],
                pins=pins_of(own, cpus),
                allowed=allowed(pins_of(own, cpus), groups, member[entry.name]),
                weight=100,
                entitlement=parts[entry.name],
                kvm=kvm_spec(entry.table.kvm, hypervisor.kvm),
                virtualized=virtualized_spec(entry.table.kvm, hypervisor.kvm),
            )
            for entry, own in shared
        },
    )


def _domains(entries: Sequence[Named], cpus: int, domain: SpinningGuests) -> dict[str, OnHost]:
    """Xen's domains, all on one level."""
    shared = [(e, e.table.processors) for e in entries if isinstance(e.table.processors, Shared)]
    weights = [XEN_WEIGHT if own.weight is None else own.weight for _, own in shared]
    # Each virtual processor has its domain's weight: more of them get more.
    claims = [float(weight * own.virtual) for weight, (_, own) in zip(weights, shared, strict=True)]
    limits = []
    for entry, own in shared:
        threads = Threads(entry.name, 0, own.virtual, 0, pins_of(own, cpus))
        limits.append(threads.limit if own.cap is None else min(threads.limit, own.cap))
    parts = fill(float(cpus), claims, limits)
    return {
        entry.name: OnHost(
            cgroup=None,
            pins=pins_of(own, cpus),
            # The hypervisor gives memory where the domain would rather run.
            allowed=allowed(soft_pins_of(own, cpus) or pins_of(own, cpus), (), None),
            soft_pins=soft_pins_of(own, cpus),
            weight=weight,
            entitlement=part,
            kvm=domain.spec(),
            virtualized=domain.virtualized(),
        )
        for (entry, own), weight, part in zip(shared, weights, parts, strict=True)
    }


def _alike(entries: Sequence[Named], cpus: int, kvm: KvmHost) -> dict[str, OnHost]:
    """Partitions of a scheduler for which all threads are alike."""
    shared = [(e, e.table.processors) for e in entries if isinstance(e.table.processors, Shared)]
    threads = [
        Threads(entry.name, None, own.virtual, 0, pins_of(own, cpus)) for entry, own in shared
    ]
    parts = entitlements((), threads, cpus)
    return {
        entry.name: OnHost(
            cgroup=None,
            pins=pins_of(own, cpus),
            allowed=allowed(pins_of(own, cpus), (), None),
            weight=DEFAULT_WEIGHT,
            entitlement=parts[entry.name],
            kvm=kvm_spec(entry.table.kvm, kvm),
            virtualized=virtualized_spec(entry.table.kvm, kvm),
        )
        for entry, own in shared
    }


def kvm_spec(kvm: Kvm | None, host: KvmHost) -> KvmSpec | None:
    """The host's numbers with the partition's in place; None for processes."""
    if kvm is None:
        return None
    spec = host.spec()
    if kvm.halt_poll is not None:
        spec["halt_poll_ns"] = kvm.halt_poll
    if kvm.guest_poll:
        spec = _polling_by_itself(spec, kvm.guest_poll)
    switches: tuple[_Switch, ...] = get_args(_Switch)
    for name in switches:
        told = getattr(kvm, name)
        if told is not None:
            spec[name] = told
    if kvm.paravirtual_locks is not None:
        spec["paravirtual_locks"] = host.locks_spec() if kvm.paravirtual_locks else None
    if kvm.pause_loop is not None:
        spec["pause_loop"] = host.loop_spec() if kvm.pause_loop else None
    return spec


def _polling_by_itself(spec: KvmSpec, longest: int) -> KvmSpec:
    """A guest that polls for up to so long [ns], with the kernel's `guest_halt_poll_grow_start`,
    `_grow` and `_shrink`; it tells its host not to (MSR_KVM_POLL_CONTROL).
    """
    return {
        **spec,
        "halt_poll_ns": longest,
        "halt_poll_grow_start_ns": 50_000,
        "halt_poll_grow": 2,
        "halt_poll_shrink": 2,
        "polls_in_guest": True,
    }


def virtualized_spec(kvm: Kvm | None, host: KvmHost) -> VirtualizedSpec | None:
    """What it costs to be a virtual machine, the partition's numbers in place of the host's."""
    if kvm is None:
        return None
    spec = host.virtualized()
    if kvm.page is not None:
        spec["page_bytes"] = kvm.page
    if kvm.posted_interrupts is not None:
        spec["posted_interrupts"] = kvm.posted_interrupts
    return spec


def host_threads_spec(processors: Shared, host: OnHost) -> SharedSpec:
    """The `processors` part of a partition on a host."""
    threads: HostThreadsSpec = {
        "cgroup": host.cgroup,
        "pins": [list(pin) for pin in host.pins],
        "slice_ns": processors.slice,
        "nice": processors.nice,
        "kvm": None if host.kvm is None else host.kvm.copy(),
        "cap": processors.cap,
    }
    if host.soft_pins:
        threads["soft_pins"] = [list(pin) for pin in host.soft_pins]
    if host.machine is not None:
        threads["machine"] = host.machine.copy()
    if host.virtualized is not None:
        threads["virtualized"] = host.virtualized.copy()
    return {
        "mode": "shared",
        "entitlement": host.entitlement,
        "virtual": processors.virtual,
        "capped": False,
        "weight": host.weight,
        "pool": 0,
        "host": threads,
    }
