"""What a partition's own tools print of it but no simulation needs: its number, its memory, its
limits.

The keys are the fields of `homenode.tools.SystemConfiguration`; limits are minimum, maximum and
desired value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from homenode.scenario import PlacedPartition

_LIMITS = {"capacity": "entitlement", "processors": "virtual", "memory": "memory"}
_BYTES_PER_MB = 1 << 20


def partition_details(scenario: object) -> dict[str, dict[str, Any]]:
    """Details by partition, of a scenario in its file's language; of any other none."""
    from homenode.scenario.scenario import Scenario

    if not isinstance(scenario, Scenario):
        return {}
    pools = {pool.name: pool.number for pool in scenario.resolved.pools}
    return {partition.name: _details(partition, pools) for partition in scenario.partitions}


def _details(partition: PlacedPartition, pools: dict[str, int | None]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "number": partition.number,
        "mem_mb": partition.memory_bytes // _BYTES_PER_MB,
        "level": partition.table.guest.level,
    }
    if partition.table.guest.hostname:
        found["node_name"] = partition.table.guest.hostname
    pool = pools.get(getattr(partition.table.processors, "pool", ""))
    if pool is not None:
        found["pool"] = pool
    for name, key in _LIMITS.items():
        limits = _limits(partition, key)
        if limits is not None:
            found[name] = limits
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
    return float(getattr(partition.table.processors, "entitlement", partition.virtual))
