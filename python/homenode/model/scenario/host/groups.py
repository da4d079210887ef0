"""The control groups of a Linux host in one list, parents before children, a partition's own among
them; and under Xen the domains as one level.

A partition is a group of threads. With a weight, a quota, processors or nothing at all of its own
it has a group of its own, as systemd and libvirt give each service or guest one; where it only
names a `[[cgroup]]`, its threads are in that one.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from homenode.model.catalog import MachineDescription
from homenode.model.scenario.file.host import ROOT, Cgroup, weight_of
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.processors import Shared
from homenode.model.scenario.naming import Named
from homenode.model.spec import CgroupSpec, KvmSpec, MachineSharesSpec, VirtualizedSpec

XEN_WEIGHT = 256
"""Weight of a domain where none is given (`xl sched-credit2`)."""
_OWN = ("weight", "shares", "quota", "cpuset")
SCOPE = ".scope"
"""Ends the names of groups that partitions have to themselves."""


@dataclass(frozen=True)
class PlacedCgroup:
    """A control group with everything decided."""

    name: str
    parent: int | None
    """Index of the one it is in; None below the root."""
    weight: int
    quota_ns: int | None
    period_ns: int
    burst_ns: int
    cpuset: tuple[int, ...] | None
    idle: bool

    @property
    def cap(self) -> float | None:
        """Processors that the quota amounts to."""
        return None if self.quota_ns is None else self.quota_ns / self.period_ns

    def spec(self) -> CgroupSpec:
        """As the engine takes it."""
        return {
            "name": self.name,
            "parent": self.parent,
            "weight": self.weight,
            "quota_ns": self.quota_ns,
            "period_ns": self.period_ns,
            "burst_ns": self.burst_ns,
            "cpuset": None if self.cpuset is None else list(self.cpuset),
            "idle": self.idle,
        }


@dataclass(frozen=True)
class OnHost:
    """What a host knows of a partition's threads."""

    cgroup: int | None
    """Index of the control group its threads are in; None in the root, and under Xen."""
    pins: tuple[tuple[int, ...], ...]
    """Processors that each virtual processor may use; empty where all may use those of the group.
    """
    allowed: tuple[int, ...]
    """All processors that its threads may use, where not all of the host's."""
    weight: int
    """Under Xen, the domain's."""
    entitlement: float
    """What it gets if everybody wants everything [processors]."""
    kvm: KvmSpec | None
    """What KVM does for it, as the engine takes it; None for processes."""
    virtualized: VirtualizedSpec | None
    """What it costs to be a virtual machine; None for processes."""
    machine: MachineSharesSpec | None = None
    """Under ESXi, what the virtual machine has."""
    soft_pins: tuple[tuple[int, ...], ...] = ()
    """Under Xen, processors that each virtual processor prefers; empty where it prefers none."""


def own_group(table: Partition) -> bool:
    """Whether a partition's threads have a control group to themselves."""
    processors = table.processors
    if not isinstance(processors, Shared):
        return False
    alone = processors.cgroup is None
    return alone or any(getattr(processors, name) is not None for name in _OWN)


def make_groups(
    groups: Sequence[Cgroup], entries: Sequence[Named]
) -> tuple[tuple[PlacedCgroup, ...], dict[str, int | None]]:
    """All groups, and that of each partition by its name, None for the root; checked before."""
    number: dict[str, int | None] = {group.name: at for at, group in enumerate(groups)}
    number[ROOT] = None
    placed = [
        PlacedCgroup(
            name=group.name,
            parent=None if group.parent is None else number[group.parent],
            weight=weight_of(group.weight, group.shares),
            quota_ns=group.quota,
            period_ns=group.period,
            burst_ns=group.burst,
            cpuset=None if group.cpuset is None else tuple(group.cpuset),
            idle=group.idle,
        )
        for group in groups
    ]
    member: dict[str, int | None] = {}
    for entry in entries:
        processors = entry.table.processors
        if not isinstance(processors, Shared):
            continue
        parent = None if processors.cgroup is None else number[processors.cgroup]
        if not own_group(entry.table):
            member[entry.name] = parent
            continue
        member[entry.name] = len(placed)
        placed.append(_scope(entry.name, processors, parent))
    return tuple(placed), member


def _scope(name: str, processors: Shared, parent: int | None) -> PlacedCgroup:
    """The group of one partition's own."""
    return PlacedCgroup(
        name=name + SCOPE,
        parent=parent,
        weight=weight_of(processors.weight, processors.shares),
        quota_ns=processors.quota,
        period_ns=processors.period,
        burst_ns=processors.burst,
        cpuset=None if processors.cpuset is None else tuple(processors.cpuset),
        idle=False,
    )


def pins_of(processors: Shared, cpus: int) -> tuple[tuple[int, ...], ...]:
    """Allowed processors by virtual processor; empty where nothing is said."""
    return _each(processors.pins, processors.virtual, cpus)


def soft_pins_of(processors: Shared, cpus: int) -> tuple[tuple[int, ...], ...]:
    """Those that they prefer of the allowed ones; empty where nothing is said."""
    return _each(processors.soft_pins, processors.virtual, cpus)


def _each(
    told: Sequence[Sequence[int]] | None, virtual: int, cpus: int
) -> tuple[tuple[int, ...], ...]:
    pins = [tuple(sorted({one for one in pin if one < cpus})) for pin in told or ()]
    return tuple(pins * virtual if len(pins) == 1 else pins)


def allowed(
    pins: Sequence[Sequence[int]], groups: Sequence[PlacedCgroup], at: int | None
) -> tuple[int, ...]:
    """Processors that threads of a group may use: their pins, else the innermost cpuset."""
    if pins:
        return tuple(sorted({cpu for pin in pins for cpu in pin}))
    while at is not None:
        own = groups[at].cpuset
        if own is not None:
            return own
        at = groups[at].parent
    return ()


def chips_of(host: OnHost, machine: MachineDescription) -> tuple[int, ...] | None:
    """Chips of the processors that a partition may use, if it says which."""
    each = machine.cores_per_chip * machine.host_threads
    return tuple(sorted({cpu // each for cpu in host.allowed})) or None


def homes_of_pins(host: OnHost | None, machine: MachineDescription) -> tuple[int, ...]:
    """The chip of each virtual processor where they are pinned to processors of several chips, each
    to its own: the chips of equal pins take turns. Empty where pins tell nothing.
    """
    pins = () if host is None else host.pins
    if len(set(pins)) < 2:
        return ()
    each = machine.cores_per_chip * machine.host_threads
    turns = {pin: itertools.cycle(sorted({cpu // each for cpu in pin})) for pin in set(pins)}
    homes = tuple(next(turns[pin]) for pin in pins)
    return homes if len(set(homes)) > 1 else homes[:1]
