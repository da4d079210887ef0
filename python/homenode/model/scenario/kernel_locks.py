"""What spin lock a guest's kernel has: a profile says how often and for how long one is held, its
kernel what those do that wait for it (`lock_kind = "kernel"`).

- Linux on x86: queue locks since 4.2; under a hypervisor that offers no paravirtual ones whoever
  comes first has it (`virt_spin_lock` of `arch/x86/include/asm/qspinlock.h`), as under ESXi.
- Linux on Power: queue locks of its own since 6.2 (`arch/powerpc/lib/qspinlock.c`,
  `PPC_QUEUED_SPINLOCKS` is the default of servers). With shared processors waiters may take it
  past a queue whose first has no core, and yield to the holder: whoever comes first has it.
- Linux on Z: queue locks where processors are dedicated, else whoever comes first, who yields to
  the holder (`arch_spin_lock_wait` of `arch/s390/lib/spinlock.c`, since 4.15).
- Linux on Itanium: tickets (commit 2c86963b, 2009).
- AIX: simple locks, which go to whoever comes first. HP-UX and others: the same, assumed.
"""

from __future__ import annotations

from typing import cast

from homenode.model.catalog.profile_model import Numbers, SpinLock
from homenode.model.scenario.file.processors import Shared
from homenode.model.scenario.placed import PlacedPartition, Resolved
from homenode.model.spec import ProfileSpec


def with_lock(profile: Numbers, partition: PlacedPartition, resolved: Resolved) -> ProfileSpec:
    """A profile whose lock is that of its guest's kernel, if it says so."""
    if profile.get("lock_kind") != "kernel":
        return cast(ProfileSpec, profile)
    kind = partition.table.guest.spin_lock or own_lock(partition, resolved)
    told = {name: value for name, value in profile.items() if name != "lock_kind"}
    return cast(ProfileSpec, told if kind == "queue" else {**told, "lock_kind": kind})


def own_lock(partition: PlacedPartition, resolved: Resolved) -> SpinLock:
    """The lock of a guest's kernel where nothing is said."""
    guest, machine = partition.table.guest, resolved.machine
    if guest.os != "linux":
        return "test-and-set"
    if machine.platform is not None:
        return "ticket"
    policy = machine.hypervisor.policy
    if policy in ("phyp", "prsm"):
        shared = isinstance(partition.table.processors, Shared)
        return "test-and-set" if shared else "queue"
    if policy == "esxi":
        return "test-and-set"
    kvm = None if partition.host is None else partition.host.kvm
    return "queue" if kvm is None or kvm["paravirtual_locks"] is not None else "test-and-set"
