"""What spin lock a guest's kernel has: a profile says how often and for how long one is held, its
kernel what those do that wait for it (`lock_kind = "kernel"`).

- Linux on x86: queue locks (`ARCH_USE_QUEUED_SPINLOCKS` of `arch/x86/Kconfig`). Under a hypervisor
  whoever comes first has it (`virt_spin_lock` of `arch/x86/include/asm/qspinlock.h`) unless that
  hypervisor's guests set up paravirtual ones, which are queue locks: KVM's where the host offers
  them (`kvm_spinlock_init` of `arch/x86/kernel/kvm.c`), Xen's (`arch/x86/xen/spinlock.c`), not
  VMware's (`arch/x86/kernel/cpu/vmware.c`).
- Linux on Power: queue locks (`PPC_QUEUED_SPINLOCKS`, on for servers), in a form of its own since
  6.2 (`arch/powerpc/lib/qspinlock.c`). Who comes looks at the lock a while before it queues, and
  may take it past the queue until the first of that forbids it; with shared processors whoever
  waits yields to a holder that has no core, and both look 256 times as long once one was seen.
  That is taken for a queue with dedicated processors, and for whoever comes first with shared ones.
- Linux on Z: queue locks where processors are dedicated, past whose queue three at most take the
  lock before its first; else whoever comes first, since one that waits in a queue and has no core
  would hold up all behind it. Who waits yields to a holder that has no core (`arch_spin_lock_wait`
  of `arch/s390/lib/spinlock.c`, commit b96f7d881ad9).
- Linux on Itanium: tickets (`arch/ia64/include/asm/spinlock.h`, commit 2c86963b093c).
- AIX: who waits for a simple lock spins, and sleeps if its holder does not run or after a while
  (IBM, AIX performance management, "Types of locks"). That whoever comes first has it, and that
  nobody sleeps, is assumed; so it is of HP-UX and others.
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
