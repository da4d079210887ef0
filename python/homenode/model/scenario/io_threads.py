"""Threads of a Linux host that do a KVM guest's I/O outside its virtual processors: QEMU's main
loop, or I/O threads of their own. Each guest's are a group of processes beside it, `NAME.emulator`
or `NAME.io`, in the guest's control group, as libvirt has them in the machine's scope.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from homenode.model.catalog import MachineDescription
from homenode.model.catalog.hosts import HostOnLinux
from homenode.model.catalog.profile_model import Numbers
from homenode.model.document import Problems
from homenode.model.scenario.file.guest import Daemons
from homenode.model.scenario.file.host import Kvm
from homenode.model.scenario.file.processors import Shared
from homenode.model.scenario.file.workload import Idle
from homenode.model.scenario.host.groups import OnHost
from homenode.model.scenario.placed import PlacedMemory, PlacedPartition
from homenode.model.spec import IoThreadsSpec

IO, EMULATOR = ".io", ".emulator"
"""End the names of groups of such threads: of their own, and QEMU's main loop."""
_MEMORY = 64 << 20
"""What QEMU itself touches [bytes]; its code is the same in all guests."""
_SMALL: Numbers = {"miss_m0": 0.0, "sharing": 0.0, "lock_share": 0.0}
"""Their time is measured whole, misses and all."""


def has_io_threads(kvm: Kvm | None) -> bool:
    """Whether a guest's I/O is done by threads beside its virtual processors."""
    told = () if kvm is None else (kvm.io_threads, kvm.io_pins, kvm.emulator_pins)
    return any(one is not None for one in told)


def _name(guest: str, kvm: Kvm) -> str:
    return guest + (IO if kvm.io_threads else EMULATOR)


def check_io_threads(partitions: tuple[PlacedPartition, ...], problems: Problems) -> None:
    """Note a name that is taken, pins that fit no thread."""
    names = {one.name: one.row for one in partitions}
    for one in partitions:
        kvm = one.table.kvm
        if kvm is None or not has_io_threads(kvm):
            continue
        path = ("partition", one.row, "kvm")
        taken = names.get(_name(one.name, kvm))
        if taken is not None:
            there = f"the I/O threads of {one.name} are called so"
            path = ("partition", taken, "name")
            problems.add(path, there=there, next_step="choose another name")
        pins, count = kvm.io_pins or [], kvm.io_threads or 0
        if pins and not count:
            step = f"add io_threads = {len(pins)}, or write emulator_pins for QEMU's main loop"
            problems.add((*path, "io_pins"), there="it has no I/O threads", next_step=step)
        elif len(pins) not in (0, 1, count):
            there = f"it has {count} I/O threads"
            problems.add((*path, "io_pins"), there=there, next_step="give each a list, or all one")


def with_io_threads(
    partitions: tuple[PlacedPartition, ...], machine: MachineDescription
) -> tuple[PlacedPartition, ...]:
    """The partitions, then the threads of each that has any."""
    numbers = iter(range(max(one.number for one in partitions) + 1, 2**31))
    asides = [
        _threads_of(one, one.host, one.table.kvm, next(numbers), machine)
        for one in partitions
        if one.host is not None and one.table.kvm is not None and has_io_threads(one.table.kvm)
    ]
    return (*partitions, *asides)


def _threads_of(
    guest: PlacedPartition, host: OnHost, kvm: Kvm, number: int, machine: MachineDescription
) -> PlacedPartition:
    count = max(kvm.io_threads or 0, 1)
    told = kvm.io_pins or ([kvm.emulator_pins] if kvm.emulator_pins else [])
    pins = [tuple(sorted({cpu for cpu in one if cpu < machine.host_cpus})) for one in told]
    pins = pins * count if len(pins) == 1 else pins
    allowed = tuple(sorted({cpu for one in pins for cpu in one})) or host.allowed
    none = Daemons.model_construct(rate=0.0, work=0)
    bare = {"tick_cost": 0, "rebalance": None, "daemons": none}
    processors = Shared.model_construct(mode="shared", virtual=count)
    table = guest.table.model_copy(
        update={
            "processors": processors,
            "kvm": None,
            "interrupts": None,
            "guest": guest.table.guest.model_copy(update=bare),
            "loads": [Idle.model_construct(kind="idle")],
        }
    )
    return replace(
        guest,
        name=_name(guest.name, kvm),
        number=number,
        table=table,
        memory_bytes=_MEMORY,
        memory=(PlacedMemory(guest.memory[0].domains, _MEMORY),),
        profile={**guest.profile, **_SMALL},
        host=replace(
            host,
            pins=tuple(pins),
            allowed=allowed,
            entitlement=float(count),
            kvm=None,
            virtualized=None,
        ),
        demand=None,
        beside=(),
    )


def io_threads_spec(
    partition: PlacedPartition, index: Mapping[str, int], machine: MachineDescription
) -> IoThreadsSpec | None:
    """As the engine takes it; None where virtual processors do it all."""
    kvm, host = partition.table.kvm, machine.hypervisor
    if kvm is None or not has_io_threads(kvm) or not isinstance(host, HostOnLinux):
        return None
    return {
        "partition": index[_name(partition.name, kvm)],
        "request_ns": kvm.io_request,
        "answer_ns": kvm.io_answer,
        "kick_ns": host.kvm.kick.value,
    }
