"""Questions about a partition of a spec that many ask."""

from __future__ import annotations

from collections.abc import Mapping

from homenode.model.spec.guests import AixSpec, SchedulerSpec, VirtualMachineSpec, ZvmSpec
from homenode.model.spec.layout import PartitionSpec, Spec
from homenode.model.spec.machine import MachineSpec
from homenode.model.spec.sharing import SharedSpec
from homenode.model.spec.work import ProfileSpec, WorkloadSpec


def shared_of(partition: PartitionSpec) -> SharedSpec | None:
    """How a partition shares processors; None where it has cores of its own."""
    processors = partition["processors"]
    return processors if processors["mode"] == "shared" else None


def cores_of(partition: PartitionSpec) -> list[int]:
    """The cores of its own that a partition has; none where it shares."""
    processors = partition["processors"]
    return processors["cores"] if processors["mode"] == "dedicated" else []


def processors_of(partition: PartitionSpec) -> int:
    """Virtual processors of a partition, or its own cores."""
    shared = shared_of(partition)
    return len(cores_of(partition)) if shared is None else shared["virtual"]


def chips_of(partition: PartitionSpec, cores_per_chip: int) -> list[int]:
    """The chip of each of its processors: of its own cores, or the homes of its virtual processors,
    which take them in turn; none where no home is told.
    """
    shared, home = shared_of(partition), partition["home"]
    if shared is None:
        return [core // cores_per_chip for core in cores_of(partition)]
    return [home[vp % len(home)] for vp in range(shared["virtual"])] if home else []


def aix_of(partition: PartitionSpec) -> AixSpec | None:
    """AIX in a partition; None where another guest runs."""
    guest = partition["guest"]
    return guest if guest["os"] == "aix" else None


def zvm_of(partition: PartitionSpec) -> ZvmSpec | None:
    """z/VM in a partition; None where another guest runs."""
    guest = partition["guest"]
    return guest if guest["os"] == "zvm" else None


def machines_of(partition: PartitionSpec) -> list[VirtualMachineSpec]:
    """Virtual machines of z/VM in a partition; none where another guest runs."""
    zvm = zvm_of(partition)
    return [] if zvm is None else zvm["machines"]


def capacity_of(machine: MachineSpec) -> int:
    """Processors that there are to give: active cores, on a host their hardware threads."""
    return machine["active_cores"] * machine["hypervisor"].get("siblings", 1)


def shared_cores(spec: Spec, pool: int) -> int:
    """Cores that partitions of a pool share, on a host processors: nobody's own ones of those that
    the pool has, which are all where it has none of its own.
    """
    own = spec["pools"][pool].get("cores")
    there = set(range(capacity_of(spec["machine"])) if own is None else own)
    return len(there - {core for one in spec["partitions"] for core in cores_of(one)})


def scheduler_of(partition: PartitionSpec) -> SchedulerSpec | None:
    """The scheduler of a partition's guest; None under z/VM, which has another one."""
    guest = partition["guest"]
    return None if guest["os"] == "zvm" else guest


def count_of(workload: WorkloadSpec) -> int:
    """Users, jobs, threads, pairs or programs of a workload that has a number of them; else 0."""
    told: Mapping[str, object] = workload
    count = told.get("count")
    return count if isinstance(count, int) else 0


def works_of(partition: PartitionSpec) -> list[WorkloadSpec]:
    """The workloads of a partition, the first of several first."""
    return [partition["workload"], *(one["workload"] for one in partition.get("beside", ()))]


def loads_of(partition: PartitionSpec) -> dict[str, ProfileSpec]:
    """The workloads of a partition by name, with the profile of each; the name of an only one is
    empty.
    """
    first = {partition.get("workload_name", ""): partition["profile"]}
    return first | {one["name"]: one["profile"] for one in partition.get("beside", ())}
