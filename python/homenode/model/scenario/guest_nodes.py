"""Whether a virtual machine's kernel knows on which node of the host its data come to lie.

Without a virtual NUMA topology all of a guest's memory is alike to it: a thread's own data come to
lie wherever the host has the pages, whichever processor the thread is on. With one the guest puts
them beside the virtual processor, which tells something of the host only where that is pinned to a
node.
"""

from __future__ import annotations

from homenode.model.catalog import MachineDescription
from homenode.model.scenario.file.guest import MemoryPolicy
from homenode.model.scenario.placed import PlacedPartition


def memory_policy_of(partition: PlacedPartition, machine: MachineDescription) -> MemoryPolicy:
    """By which rule a partition's data come to lie: what its guest says, and for a guest of KVM or
    Xen that says nothing and knows no nodes, one part of its memory after the other.
    """
    guest, host = partition.table.guest, partition.host
    if host is None or host.virtualized is None or "memory_policy" in guest.model_fields_set:
        return guest.memory_policy
    if host.machine is not None:  # ESXi shows its guests the nodes, and keeps them there.
        return guest.memory_policy
    kvm = partition.table.kvm
    if kvm is not None and kvm.numa and _is_pinned_to_nodes(partition, machine):
        return guest.memory_policy
    return "in-order"


def _is_pinned_to_nodes(partition: PlacedPartition, machine: MachineDescription) -> bool:
    """Whether each of its virtual processors may use processors of one memory domain only."""
    host = partition.host
    sets = () if host is None else host.pins or (host.allowed,)
    each = machine.cores_per_chip * machine.host_threads
    domains = [{machine.domain_of(cpu // each) for cpu in one} for one in sets]
    return all(len(one) == 1 for one in domains)
