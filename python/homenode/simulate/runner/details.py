"""What a partition's own tools print of it but no simulation needs: its number, its memory, its
limits. And what reports say of the machine.

The keys are the fields of `homenode.tools.SystemConfiguration`; limits are minimum, maximum and
desired value.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from homenode.model.scenario import PlacedPartition, Scenario
from homenode.model.scenario.file.guest import Aix
from homenode.model.scenario.mainframe.pools import type_of
from homenode.model.scenario.memory_away import away_of
from homenode.model.scenario.profiles import score_of
from homenode.simulate.answers import Details, MachineFacts, PartitionDetails

_LIMITS: dict[Literal["capacity", "processors", "memory"], str] = {
    "capacity": "entitlement",
    "processors": "virtual",
    "memory": "memory",
}
_BYTES_PER_MB = 1 << 20


def partition_details(scenario: object) -> Details:
    """Details by partition, of a scenario in its file's language; of any other none."""
    if not isinstance(scenario, Scenario):
        return {}
    pools = {pool.name: pool.number for pool in scenario.resolved.pools}
    return {
        partition.name: {
            **_details(partition, pools),
            **_granule(partition),
            **_elsewhere(partition),
            **_score(partition, scenario.folder),
        }
        for partition in scenario.partitions
    }


def machine_facts(scenario: object) -> MachineFacts:
    """What of the machine reports say but no simulation needs, of a scenario in its file's
    language; of any other nothing: what a node is called, the weights of the relative nest
    intensity, on a machine of cells how much memory of each can be used [bytes] and in which cells
    a partition can have cores.
    """
    if not isinstance(scenario, Scenario):
        return {}
    machine = scenario.machine
    facts: MachineFacts = {"node_name": machine.node_name, "model": machine.model}
    if machine.rni is not None:
        facts["rni"] = {name: figure.value for name, figure in machine.rni if figure is not None}
    types = scenario.file.machine.characterized
    if types:
        facts["characterized"] = {kind: count for kind, count in types.items() if count}
    if machine.platform is not None:
        firmware = machine.platform.cell_firmware.value
        facts["room"] = {
            str(cell.index): max(cell.memory - firmware, 0)
            for npartition in scenario.resolved.npartitions
            for cell in npartition.cells
        }
        facts["reach"] = {
            partition.name: list(partition.in_cells.npartition.indices)
            for partition in scenario.partitions
            if partition.in_cells is not None
        }
    return facts


def _details(partition: PlacedPartition, pools: dict[str, int | None]) -> PartitionDetails:
    found: PartitionDetails = {
        "number": partition.number,
        "mem_mb": partition.memory_bytes // _BYTES_PER_MB,
    }
    found |= _of_mainframe(partition)
    guest = partition.table.guest
    if isinstance(guest, Aix):
        found["level"] = guest.level
    if guest.hostname:
        found["node_name"] = guest.hostname
    pool = pools.get(getattr(partition.table.processors, "pool", ""))
    if pool is not None:
        found["pool"] = pool
    if getattr(partition.table.processors, "allow_performance_collection", False):
        found["pool_authority"] = True
    for name, key in _LIMITS.items():
        limits = _limits(partition, key)
        if limits is not None:
            found[name] = limits
    return found


def _granule(partition: PlacedPartition) -> PartitionDetails:
    """The smallest unit in which its memory is given, which limits its pages."""
    where = partition.in_cells
    if where is None or not where.npartition.vpars:
        return {}
    kinds = {part.cell is None for part in where.memory}
    npartition = where.npartition
    return {"granule": min(npartition.ilm_granule if k else npartition.clm_granule for k in kinds)}


def _elsewhere(partition: PlacedPartition) -> PartitionDetails:
    """What a KVM guest's host knows of its balloon and of its swap."""
    kvm = partition.table.kvm
    if kvm is None or not kvm.elsewhere:
        return {}
    balloon, away = kvm.balloon or 0, away_of(partition)
    profiles = (partition.profile, *(one.profile for one in partition.beside))
    pages = [0.0 if away is None else away.pages(one) * away.from_guest for one in profiles]
    return {
        "balloon": balloon,
        "swapped": kvm.swapped or 0,
        "untouched": max(partition.memory_bytes - balloon - partition.touched_bytes, 0),
        "guest_page_ins": pages,
    }


def _score(partition: PlacedPartition, folder: Path) -> PartitionDetails:
    """The unit in which results of its benchmark are published, if it runs one."""
    score = score_of(partition.table.workload.profile, folder)
    if score is None or partition.beside:  # its transactions are not those of one alone
        return {}
    return {"score": {"unit": score.unit, "of_rate": score.of_rate.value}}


def _of_mainframe(partition: PlacedPartition) -> PartitionDetails:
    """Its mode, the type of each logical core (all of one are `core_type`), and under z/VM the
    processor numbers and CPU pools.
    """
    where, table = partition.mainframe, partition.table
    if where is None:
        return {}
    found: PartitionDetails = {
        "mode": where.mode,
        "core_type": "+".join(dict.fromkeys(where.types)),
        "core_types": list(where.types),
        "numbers": [number for core in where.numbers for number in core],
    }
    if table.cpu_pool:
        found["cpu_pools"] = [
            {"type": type_of(pool, table), "limit": pool.limit} for pool in table.cpu_pool
        ]
    return found


def _limits(partition: PlacedPartition, key: str) -> list[float] | None:
    """Minimum, maximum and desired value; what is not told is what is online."""
    table = partition.table
    online = _online(partition, key)
    told = [getattr(part, key, None) for part in (table.minimum, table.maximum, table.desired)]
    if key == "virtual":
        cores = [
            getattr(part, "cores", None) for part in (table.minimum, table.maximum, table.desired)
        ]
        told = [core if value is None else value for value, core in zip(told, cores, strict=True)]
    if all(value is None for value in told):
        return None
    scale = _BYTES_PER_MB if key == "memory" else 1
    return [online if value is None else value / scale for value in told]


def _online(partition: PlacedPartition, key: str) -> float:
    if key == "memory":
        return float(partition.memory_bytes // _BYTES_PER_MB)
    if key == "virtual":
        return float(partition.virtual)
    return float(partition.entitlement)
