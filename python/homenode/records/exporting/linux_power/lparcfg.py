"""/proc/ppc64/lparcfg, in the order and with the names of the kernel (version 1.9 of the file;
arch/powerpc/platforms/pseries/lparcfg.c, lparcfg(5)).

Capacities are hundredths of a core, times are ticks of the timebase. Lines whose value is not
modelled are left out: serial number, power mode, memory sharing and coalescing beyond what says
that there is none, affinity score, security flavour.
"""

from __future__ import annotations

from collections.abc import Iterator

from homenode.records.exporting.linux_power.state import Partition, State, ticks
from homenode.tools import SystemConfiguration
from homenode.tools.configuration import FIRST_GROUP_ID

_NO_MEMORY_POOL = 65535
"""Number of the memory pool of a partition that is in none."""
_SLB_ENTRIES = 32
_BYTES_PER_MB = 1 << 20
_HUNDREDTHS = 100

Line = tuple[str, object]


def lparcfg(partition: Partition, state: State) -> bytes:
    """The file at a moment."""
    lines = [
        *_identity(partition),
        *_profile(partition),
        *_capacity(partition.configuration, state),
        *_memory(partition.configuration),
        *_counters(partition.configuration, state),
        *_totals(partition.configuration),
    ]
    return ("lparcfg 1.9\n" + "".join(f"{name}={value}\n" for name, value in lines)).encode()


def purr_ns(configuration: SystemConfiguration, state: State) -> int:
    """Time charged to the partition [ns]: what it was dispatched, and of dedicated cores that are
    never lent all of their time.
    """
    if configuration.is_shared or configuration.is_donating:
        return state.counted["busy_ns"]
    return round(configuration.ent * state.elapsed_ns)


def _hundredths(cores: float) -> int:
    return round(_HUNDREDTHS * cores)


def _identity(partition: Partition) -> Iterator[Line]:
    if partition.model:
        yield "system_type", f"IBM,{partition.model}"
    yield "partition_id", partition.configuration.number
    yield "partition_name", partition.configuration.name


def _profile(partition: Partition) -> Iterator[Line]:
    """The characteristics of the partition's profile.

    `lparstat` takes the entitlement from `DesEntCap`: that of now stands there, whatever the
    profile desires.
    """
    c = partition.configuration
    hypervisor = partition.machine["hypervisor"]
    capacity, processors, memory = c.capacity_limits, c.processor_limits, c.memory_limits
    yield "BoundThrds", 1
    yield "CapInc", 1 if c.is_shared else _HUNDREDTHS
    yield "DisWheRotPer", ticks(int(hypervisor["window_ns"])) if c.is_shared else 0
    yield "MinEntCap", _hundredths(capacity.minimum)
    yield "MinEntCapPerVP", _hundredths(hypervisor["min_entitlement_per_vp"])
    yield "MinMem", round(memory.minimum)
    yield "MinProcs", round(processors.minimum)
    yield "partition_max_entitled_capacity", _hundredths(capacity.maximum)
    yield "system_potential_processors", c.system_cores
    yield "DesEntCap", _hundredths(c.ent)
    yield "DesMem", round(memory.desired)
    yield "DesProcs", round(processors.desired)
    yield "DesVarCapWt", _weight(c)
    yield "DedDonMode", int(c.is_donating)


def _capacity(c: SystemConfiguration, state: State) -> Iterator[Line]:
    yield "partition_entitled_capacity", _hundredths(c.ent)
    yield "group", FIRST_GROUP_ID + c.number if c.group is None else c.group
    yield "system_active_processors", c.active_cores
    if c.is_shared:
        yield "pool", c.pool
        yield "pool_capacity", _HUNDREDTHS * c.psize
        yield "pool_idle_time", ticks(state.pool.get("idle_ns", 0))
        yield "pool_num_procs", c.psize
    yield "unallocated_capacity_weight", 0
    yield "capacity_weight", _weight(c)
    yield "capped", int(c.mode != "Uncapped")
    yield "unallocated_capacity", 0
    yield "physical_procs_allocated_to_virtualization", c.shared_cores
    yield "max_proc_capacity_available", _hundredths(c.pool_maximum)
    yield "entitled_proc_capacity_available", _hundredths(c.pool_entitled)


def _memory(c: SystemConfiguration) -> Iterator[Line]:
    size = c.mem_mb * _BYTES_PER_MB
    yield "entitled_memory", size
    yield "entitled_memory_group_number", FIRST_GROUP_ID + c.number if c.group is None else c.group
    yield "entitled_memory_pool_number", _NO_MEMORY_POOL
    yield "entitled_memory_weight", 0
    yield "unallocated_entitled_memory_weight", 0
    yield "unallocated_io_mapping_entitlement", 0
    yield "entitled_memory_loan_request", 0
    yield "backing_memory", f"{size} bytes"
    yield "cmo_enabled", 0


def _counters(c: SystemConfiguration, state: State) -> Iterator[Line]:
    """`dispatches` is printed by lparstat as `vcsw`, and counts the same here."""
    yield "dispatches", state.counted["vcsw"]
    if state.dispersion is not None:
        moved = sum(vp.total - vp.same_core for vp in state.dispersion.values())
        yield "dispatch_dispersions", moved
    yield "purr", ticks(purr_ns(c, state))
    yield "tbr", ticks(state.elapsed_ns)


def _totals(c: SystemConfiguration) -> Iterator[Line]:
    yield "partition_active_processors", c.vps
    yield "partition_potential_processors", round(c.processor_limits.maximum)
    yield "shared_processor_mode", int(c.is_shared)
    yield "slb_size", _SLB_ENTRIES
    yield "MaxMem", round(c.memory_limits.maximum) * _BYTES_PER_MB


def _weight(c: SystemConfiguration) -> int:
    return c.weight if c.mode == "Uncapped" else 0
