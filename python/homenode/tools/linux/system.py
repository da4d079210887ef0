"""Linux as its tools see it: a host with all its groups of threads, or the guest in a partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.spec import PartitionSpec, Spec, capacity_of, processors_of, shared_of
from homenode.simulate.kept.rows import select
from homenode.simulate.kept.store import table_path
from homenode.tools.errors import ToolError
from homenode.tools.intervals import Sample, samples
from homenode.tools.summing import Rows

if TYPE_CHECKING:
    from homenode.tools.view import KeptRunView, Table

XEN, ESXI = "credit2", "esxi"
"""Policies of hosts whose threads no Linux dispatches."""
_FOREIGN = {
    XEN: ("Xen", "xentop", "Linux in domain 0, which is not modelled, sees its virtual ones alone"),
    ESXI: ("ESXi", "esxtop", "there is no Linux on the host"),
}
"""Who dispatches there, by which tool it is seen, why by none of Linux."""
_ARCHITECTURES = {"phyp": "ppc64le", "prsm": "s390x", "dedicated": "ia64"}
FIRST_PID = 1001
"""Groups of threads have no process of their own; they are numbered from here."""


class Counted(Protocol):
    """What of a run is read here."""

    @property
    def id(self) -> str:
        """Name of the run."""
        ...

    @property
    def spec(self) -> Spec:
        """The frozen scenario."""
        ...

    @property
    def path(self) -> Path:
        """Its folder."""
        ...

    @property
    def details(self) -> Mapping[str, Mapping[str, Any]]:
        """Of each partition, what its own tools print but no simulation needs."""
        ...


Places = dict[int, dict[int, int]]
"""By processor, how long each partition, by index, used it [ns]."""


@dataclass(frozen=True)
class Group:
    """A partition of a host: a group of its threads, or a guest's virtual processors."""

    index: int
    name: str
    spec: PartitionSpec

    @property
    def pid(self) -> int:
        """The number that stands for its processes."""
        return FIRST_PID + self.index

    @property
    def is_guest(self) -> bool:
        """Whether its threads are virtual processors of a guest, of KVM or another hypervisor."""
        shared = shared_of(self.spec)
        host = None if shared is None else shared.get("host")
        return host is not None and host["kvm"] is not None

    @property
    def virtual(self) -> int:
        """Its threads."""
        return processors_of(self.spec)

    @property
    def memory_bytes(self) -> int:
        """What it takes of the host's memory, on all nodes together."""
        return sum(int(part["bytes"]) for part in self.spec["memory"])


@dataclass(frozen=True)
class DomainMemory:
    """Memory of a guest as its hypervisor counts it [bytes]."""

    maximum: int
    """What it was given."""
    balloon: int
    """Of that, what its balloon holds."""
    swapped: int
    """Of the rest, what the host has swapped out."""

    @property
    def current(self) -> int:
        """What its balloon has left it."""
        return self.maximum - self.balloon

    @property
    def current_kib(self) -> int:
        """The same in the unit of libvirt and Xen."""
        return self.current >> 10

    @property
    def maximum_kib(self) -> int:
        """What it was given, in that unit."""
        return self.maximum >> 10

    @property
    def resident_kib(self) -> int:
        """What of it is in the host's memory, in that unit."""
        return (self.current - self.swapped) >> 10


@dataclass(frozen=True)
class LinuxSystem:
    """A host, or the guest in a partition of a run."""

    run: Counted
    view: KeptRunView
    partition: str | None
    """None is the host itself."""

    @property
    def kind(self) -> Literal["host", "guest"]:
        """What it is."""
        return "host" if self.partition is None else "guest"

    @property
    def is_xen(self) -> bool:
        """Whether the host is one of Xen."""
        return self.policy == XEN

    @property
    def is_esxi(self) -> bool:
        """Whether the host is one of ESXi."""
        return self.policy == ESXI

    @property
    def policy(self) -> str:
        """The hypervisor's."""
        return self.run.spec["machine"]["hypervisor"]["policy"]

    @property
    def name(self) -> str:
        """Its host name."""
        if self.partition is None:
            return self.run.spec["name"]
        told = self.run.details.get(self.partition, {}).get("node_name")
        return str(told or self.partition)

    @property
    def architecture(self) -> str:
        """As `uname -m` has it."""
        return _ARCHITECTURES.get(self.policy, "x86_64")

    @cached_property
    def groups(self) -> list[Group]:
        """All partitions of the run."""
        parts = self.run.spec["partitions"]
        return [Group(index, str(one["name"]), one) for index, one in enumerate(parts)]

    @property
    def own(self) -> Group:
        """The partition of a guest."""
        return next(group for group in self.groups if group.name == self.partition)

    def memory_of(self, group: Group) -> DomainMemory:
        """What a guest of this host was given, and what of it is elsewhere."""
        told = self.run.details.get(group.name, {})
        balloon, swapped = int(told.get("balloon", 0)), int(told.get("swapped", 0))
        return DomainMemory(group.memory_bytes + balloon + swapped, balloon, swapped)

    @property
    def given_kib(self) -> int:
        """What all guests and groups have that no balloon holds, in the unit of libvirt and Xen."""
        return sum(self.memory_of(group).current for group in self.groups) >> 10

    @property
    def cpus(self) -> int:
        """Processors that Linux counts."""
        if self.partition is not None:
            return self.own.virtual * int(self.own.spec["smt"])
        machine = self.run.spec["machine"]
        return capacity_of(machine)

    def samples(
        self, name: str, interval_ns: int | None, count: int | None, *tables: Table
    ) -> list[Sample]:
        """What a partition counted in each interval asked for."""
        return samples(self, name, interval_ns, count, tables)  # type: ignore[arg-type]

    @property
    def interval_ns(self) -> int:
        """Length of a kept interval [ns]."""
        return self.view.interval_ns

    @property
    def has_dispatches(self) -> bool:
        """Whether the run recorded when which thread was where."""
        return table_path(self.run.path, "dispatches").exists()

    def dispatched(self, window_ns: int, windows: int) -> dict[int, Places]:
        """By number of the window, how long each processor of a host was used by whom."""
        found = select(
            "window_, core, partition, "
            "sum(least(end_ns, (window_ + 1) * $window) - greatest(start_ns, window_ * $window))",
            table_path(self.run.path, "dispatches"),
            ", (SELECT unnest(range($windows)) AS window_) WHERE replication = $replication "
            "AND start_ns < (window_ + 1) * $window AND end_ns > window_ * $window GROUP BY ALL",
            window=window_ns,
            windows=windows,
            replication=self.view.replication,
        )
        places: dict[int, Places] = {}
        for window, core, partition, used in found:
            places.setdefault(int(window), {}).setdefault(int(core), {})[int(partition)] = int(used)
        return places

    def rows(self, table: Table, partition: str) -> Rows:
        """Kept rows, as `RunView` has them."""
        return self.view.rows(table, partition)


def host_of(view: KeptRunView, tool: str) -> LinuxSystem:
    """The host of a run; refused where a hypervisor of its own shares cores out."""
    system = LinuxSystem(view.run, view, None)
    if system.policy not in HOST_POLICIES:
        raise ToolError(
            f"{tool}: run {view.run.id} is of {view.run.spec['machine']['name']}, no Linux host",
            next_step="name a partition with Linux with -p, or a run of a host with -r",
        )
    return system


def guest_of(view: KeptRunView, partition: str, tool: str) -> LinuxSystem:
    """Linux in a partition; refused where its threads are the host's own."""
    system = LinuxSystem(view.run, view, partition)
    if system.policy in HOST_POLICIES and not system.is_xen and not system.own.is_guest:
        raise ToolError(
            f"{tool}: {partition} of run {view.run.id} is a group of processes of the host",
            there="it has no system of its own",
            next_step=f"leave -p out for the host, or see `homenode pidstat -p {partition}`",
        )
    return system


def refuse_foreign(system: LinuxSystem, tool: str, *, in_guests: bool = False) -> None:
    """Raise `ToolError` where the host's processors are Xen's or ESXi's and not a Linux's; a tool
    that shows guests too is pointed to them.
    """
    if system.kind == "host" and system.policy in _FOREIGN:
        name, own, why = _FOREIGN[system.policy]
        raise ToolError(
            f"{tool}: {name} dispatches the processors of run {system.run.id}",
            there=why,
            next_step=f"see `homenode {own}`" + (f", or {tool} in a guest with -p" * in_guests),
        )
