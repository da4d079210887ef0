"""CPU pools of z/VM: how many cores the members of each may use, and what does not go together."""

from __future__ import annotations

from homenode.errors import listed, suggestion
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.file.guest import Zvm
from homenode.model.scenario.file.mainframe import CoreType, CpuPool
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.mainframe.kinds import PLURAL, kind_of
from homenode.model.spec import CpuPoolSpec


def pools_of(table: Partition) -> list[CpuPoolSpec]:
    """Each pool with the most that its members may use [cores]."""
    return [{"name": pool.name, "cores": _cores(pool, table)} for pool in table.cpu_pool]


def type_of(pool: CpuPool, table: Partition) -> CoreType:
    """Which cores a pool limits: CP takes the partition's primary type where none is told."""
    return pool.type or kind_of(table).types[0]


def check_pools(table: Partition, path: Path, problems: Problems) -> None:
    """Pools limit cores that the partition has, and members; members are in pools there are."""
    counts = kind_of(table).counts
    if not counts or not isinstance(table.guest, Zvm):
        return
    names = [*dict.fromkeys(pool.name for pool in table.cpu_pool)]
    strange = [
        row
        for row, one in enumerate(table.virtual_machine)
        if one.cpu_pool is not None and one.cpu_pool not in names
    ]
    for row in strange:
        name = table.virtual_machine[row].cpu_pool or ""
        said = f"the CPU pools are {listed(names)}" if names else "there is no CPU pool"
        step = suggestion(name, names, "add [[partition.cpu_pool]] with that name")
        where = (*path, "virtual_machine", row, "cpu_pool")
        problems.add(where, there=said, next_step=step)
    known = {one.cpu_pool for one in table.virtual_machine}
    for row, pool in enumerate(table.cpu_pool):
        here = (*path, "cpu_pool", row)
        kind = type_of(pool, table)
        there = counts.get(kind, 0)
        if kind not in ("cp", "ifl"):
            said = f"the partition's first cores are {PLURAL[kind]}; pools limit CPs or IFLs"
            step = 'write type = "cp" or "ifl"'
            problems.add((*here, "type"), there=said, next_step=step, at_key=True)
        elif there == 0:
            said = f"the partition has no {PLURAL[kind]}, its cores are {_told(counts)}"
            step = f'write type = "{next(iter(counts))}", or leave type out'
            problems.add((*here, "type"), there=said, next_step=step)
        elif pool.capacity is not None and pool.capacity > there:
            said = f"the partition has {_told({kind: there})}; such a pool limits nothing"
            step = f"write at most {there}, or leave the pool out"
            problems.add((*here, "capacity"), there=said, next_step=step)
        if pool.name not in known and not strange:  # else the name may be misspelt there
            said = "no virtual machine is in it"
            step = f'write cpu_pool = "{pool.name}" at those that are, or leave the pool out'
            problems.add(here, "it has no members", there=said, next_step=step, at_key=True)


def _cores(pool: CpuPool, table: Partition) -> float:
    if pool.capacity is not None:
        return pool.capacity
    return (pool.limit or 0.0) * kind_of(table).counts[type_of(pool, table)]


def _told(counts: dict[CoreType, int]) -> str:
    def each(kind: CoreType, count: int) -> str:
        return f"{count} {PLURAL[kind] if count != 1 else PLURAL[kind].removesuffix('s')}"

    return listed([each(kind, count) for kind, count in counts.items()])
