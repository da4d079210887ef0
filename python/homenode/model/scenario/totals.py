"""What must hold over all partitions together: memory, capacity, and the size of the results."""

from __future__ import annotations

from collections.abc import Sequence

from homenode.model.catalog import MachineDescription
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.file.processors import Shared
from homenode.model.scenario.file.scenario import Run
from homenode.model.scenario.placed import PlacedPartition, Resolved
from homenode.model.units import SIZE

_MOST_ROWS = 200_000_000
_SLACK = 1e-9


def check_memory(
    machine: MachineDescription, partitions: Sequence[PlacedPartition], problems: Problems
) -> None:
    """The memory of all partitions fits the machine."""
    limit = machine.memory.maximum.value
    used = 0
    for partition in partitions:
        wanted = partition.memory_bytes - partition.elsewhere_bytes
        if used + wanted > limit:
            there = f"{machine.title} holds {SIZE.format(limit)}"
            if used:
                there += f", of which {SIZE.format(limit - used)} are left for {partition.name}"
            step = "ask for less, or say in [machine.memory] maximum how much there is"
            if partition.host is not None and partition.table.kvm is not None:
                step += "; or what its balloon holds and the host has swapped out (kvm)"
            problems.add(("partition", partition.row, "memory"), there=there, next_step=step)
            return
        used += wanted


def check_capacity(resolved: Resolved, problems: Problems) -> None:
    """Entitlements and reserves fit the physical pool, and those of a pool its maximum."""
    total = sum(pool.reserved for pool in resolved.pools)
    used = {pool.name: pool.reserved for pool in resolved.pools}
    maximum = {pool.name: pool.maximum for pool in resolved.pools}
    cores = resolved.pool_cores
    if total > cores + _SLACK:
        row = next(i for i, pool in enumerate(resolved.pools[1:]) if pool.reserved)
        there = f"all pools together reserve {total:g} cores of {cores} that are not dedicated"
        problems.add(("pool", row, "reserved"), there=there, next_step="reserve less")
        return
    for partition in resolved.partitions:
        processors = partition.table.processors
        weighed = partition.mainframe is not None or partition.host is not None
        if not isinstance(processors, Shared) or weighed:
            continue  # the weights of a mainframe or a host divide what there is
        path: Path = ("partition", partition.row, "processors", "entitlement")
        asked, pool = partition.entitlement, processors.pool
        limit = maximum[pool]
        if total + asked > cores + _SLACK:
            left = f"{max(0.0, cores - total):g} of the pool's {cores}"
            step = "lower entitlements, reserve less or activate more cores"
        elif limit is not None and used[pool] + asked > limit + _SLACK:
            left = f"{max(0.0, limit - used[pool]):g} of {pool}'s {limit:g}"
            step = "lower the entitlement or enlarge the pool"
        else:
            total += asked
            used[pool] += asked
            continue
        there = f"{partition.name} asks {asked:g} cores, {left} are left"
        problems.add(path, there=there, next_step=step)
        return


def entitled_beyond(resolved: Resolved, entitled: Sequence[float]) -> str | None:
    """Where these entitlements [cores], by partition, are more than there is, in words."""
    used = {pool.name: pool.reserved for pool in resolved.pools}
    for partition, asked in zip(resolved.partitions, entitled, strict=True):
        processors = partition.table.processors
        weighed = partition.mainframe is not None or partition.host is not None
        if isinstance(processors, Shared) and not weighed:
            used[processors.pool] += asked
    total, cores = sum(used.values()), resolved.pool_cores
    if total > cores + _SLACK:
        return f"{total:g} cores are entitled or reserved, the pool has {cores}"
    for pool in resolved.pools:
        if pool.maximum is not None and used[pool.name] > pool.maximum + _SLACK:
            return f"{used[pool.name]:g} cores of {pool.name}'s {pool.maximum:g} are entitled"
    return None


def check_size(partitions: Sequence[PlacedPartition], run: Run, problems: Problems) -> None:
    """The results stay of a size that can be kept."""
    intervals = run.duration // run.interval_ns
    rows = intervals * run.replications * sum(p.result_rows for p in partitions)
    if rows > _MOST_ROWS:
        there = f"that would write {rows:,} rows of results, {_MOST_ROWS:,} are the limit"
        step = "make the intervals longer or the run shorter"
        problems.add(("run", "duration"), there=there, next_step=step)
