"""What must hold between the values of a scenario, each with a message that says what is, what may be and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import TYPE_CHECKING

from homenode.catalog import MachineDescription
from homenode.document import Problems
from homenode.document.positions import Path
from homenode.errors import closest, listed
from homenode.scenario.models import DEFAULT_POOL, Dedicated, Partition, Pool, Resources, Run, Shared
from homenode.units import SIZE, TIME

if TYPE_CHECKING:
    from homenode.scenario.resolve import PlacedPartition

_MOST_ROWS = 200_000_000
_MOST_INTERVALS = 10_000_000
_SLACK = 1e-9


def check_run(run: Run, problems: Problems) -> None:
    """Intervals fill the duration."""
    interval = run.interval_ns
    path: Path = ("run", "duration") if run.interval is None else ("run", "interval")
    if interval > run.duration:
        there = f"the duration is {TIME.format(run.duration)}, shorter than one interval"
        problems.add(path, there=there, next_step="make the interval at most the duration")
    elif run.duration % interval:
        there = f"the duration of {TIME.format(run.duration)} is no whole number of intervals of {TIME.format(interval)}"
        step = f"make it {TIME.format(max(1, run.duration // interval) * interval)} or choose another interval"
        problems.add(path, there=there, next_step=step)
    elif run.duration // interval > _MOST_INTERVALS:
        there = f"that makes {run.duration // interval:,} intervals"
        problems.add(path, there=there, next_step=f"make the interval longer; at most {_MOST_INTERVALS:,} are kept")


def check_pools(pools: Sequence[Pool], problems: Problems) -> None:
    """Pools have names and numbers of their own, and a reserve within their maximum."""
    seen = {DEFAULT_POOL: "the default pool, which is always there"}
    for index, pool in enumerate(pools):
        if pool.name in seen:
            step = "give each pool a name of its own"
            problems.add(("pool", index, "name"), there=f"{seen[pool.name]} has that name", next_step=step)
        seen[pool.name] = "another pool"
        if pool.maximum is not None and pool.reserved > pool.maximum:
            there = f"its maximum is {pool.maximum:g} cores"
            problems.add(("pool", index, "reserved"), there=there, next_step="reserve at most the maximum")


def check_partition(
    table: Partition, row: int, machine: MachineDescription, pools: Sequence[str], problems: Problems
) -> None:
    """What can be said of one partition alone."""
    path: Path = ("partition", row)
    processors = table.processors
    if isinstance(processors, Shared):
        _check_shared(processors, (*path, "processors"), machine, pools, problems)
    elif processors.cores > machine.active_cores:
        there = f"{machine.title} has {machine.active_cores} active cores"
        problems.add((*path, "processors", "cores"), there=there, next_step=f"ask for at most {machine.active_cores}")
    if table.smt is not None and table.smt > machine.threads_per_core:
        there = f"a core of {machine.title} ({machine.generation}) has {machine.threads_per_core} threads"
        problems.add((*path, "smt"), there=there, next_step=f"write smt = 1 to {machine.threads_per_core}")
    if not table.guest.folding and table.guest.xvcpus > 0:
        there = "folding is off, so no virtual processor is ever folded"
        problems.add((*path, "guest", "xvcpus"), there=there, next_step="leave out xvcpus or folding = false")
    _check_bounds(table, path, problems)


def _check_shared(
    processors: Shared, path: Path, machine: MachineDescription, pools: Sequence[str], problems: Problems
) -> None:
    least = machine.hypervisor.min_entitlement_per_vp.value
    entitlement, virtual = processors.entitlement, processors.virtual
    each = entitlement / virtual
    if abs(entitlement * 100 - round(entitlement * 100)) > 1e-6:
        near = max(0.01, round(entitlement, 2))
        problems.add(
            (*path, "entitlement"), there="capacity is given in hundredths of a core", next_step=f"write {near:g}"
        )
    if each < least - _SLACK:
        most = floor(entitlement / least + _SLACK)
        there = f"{entitlement:g} cores make {each:.3g} for each, {machine.generation} needs at least {least:.2f}"
        enough = f"at least {virtual * least:.2f} cores of entitlement"
        step = f"ask for {enough}" if most == 0 else f"ask for at most {most} virtual processors or {enough}"
        problems.add((*path, "virtual"), there=there, next_step=step)
    elif each > 1 + _SLACK:
        there = f"{virtual} virtual processors can use {virtual} cores at most, it is entitled to {entitlement:g}"
        step = f"ask for at least {_ceil(entitlement)} virtual processors or at most {virtual} cores of entitlement"
        problems.add((*path, "virtual"), there=there, next_step=step)
    if processors.pool not in pools:
        near_name = closest(processors.pool, pools)
        more = f"did you mean {near_name}?" if near_name else 'add [[pool]] with that name, or leave out "pool"'
        problems.add((*path, "pool"), there=f"the pools are {listed(pools)}", next_step=more)


def _ceil(value: float) -> int:
    return -floor(-value + _SLACK)


def _check_bounds(table: Partition, path: Path, problems: Problems) -> None:
    """Minimum <= what it has <= maximum, and only what its kind of processors knows."""
    processors = table.processors
    has: dict[str, float | int | None] = {
        "entitlement": processors.entitlement if isinstance(processors, Shared) else None,
        "virtual": processors.virtual if isinstance(processors, Shared) else None,
        "cores": processors.cores if isinstance(processors, Dedicated) else None,
        "memory": sum(part.size for part in table.memory),
    }
    for which in ("minimum", "maximum", "desired"):
        bounds: Resources | None = getattr(table, which)
        if bounds is None:
            continue
        for key, value in has.items():
            bound = getattr(bounds, key)
            if bound is None:
                continue
            here = (*path, which, key)
            if value is None:
                there = f"its processors are {processors.mode}, which have no {key}"
                problems.add(here, there=there, next_step=f"leave {key} out")
            elif (which == "minimum" and bound > value) or (which == "maximum" and bound < value):
                there = f"the partition has {SIZE.format(int(value)) if key == 'memory' else format(value, 'g')}"
                problems.add(here, there=there, next_step=f"the {which} lies on the other side of what it has")


def check_machine_fit(machine: MachineDescription, partitions: Sequence[PlacedPartition], problems: Problems) -> None:
    """The memory of all partitions fits the machine."""
    limit = machine.memory.maximum.value
    used = 0
    for partition in partitions:
        used += partition.memory_bytes
        if used > limit:
            before = used - partition.memory_bytes
            there = f"{machine.title} holds {SIZE.format(limit)}, {SIZE.format(before)} of it are taken by partitions before it"
            step = "ask for less memory, or state how much the machine has in [machine.memory] maximum"
            problems.add(("partition", partition.row, "memory"), there=there, next_step=step)
            return


def check_totals(
    pool_cores: int, pools: Sequence[Pool], partitions: Sequence[PlacedPartition], run: Run, problems: Problems
) -> None:
    """Entitlements fit the physical pool and each partition's own pool; the results stay of a size that can be kept."""
    rows = run.duration // run.interval_ns * run.replications * sum(1 + p.logical_cpus for p in partitions)
    if rows > _MOST_ROWS:
        there = f"that would write {rows:,} rows of results"
        problems.add(("run", "duration"), there=there, next_step="make the intervals longer or the run shorter")
    total = sum(pool.reserved for pool in pools)
    by_pool = {pool.name: pool.reserved for pool in pools}
    maximum = {pool.name: pool.maximum for pool in pools}
    for partition in partitions:
        processors = partition.table.processors
        if not isinstance(processors, Shared):
            continue
        path: Path = ("partition", partition.row, "processors", "entitlement")
        left = pool_cores - total
        if processors.entitlement > left + _SLACK:
            there = f"{partition.name} asks {processors.entitlement:g} cores, {max(0.0, left):g} of {pool_cores} in the pool are left"
            problems.add(path, there=there, next_step="lower entitlements, reserve less or activate more cores")
            return
        limit = maximum[processors.pool]
        if limit is not None and by_pool[processors.pool] + processors.entitlement > limit + _SLACK:
            left = max(0.0, limit - by_pool[processors.pool])
            there = f"{partition.name} asks {processors.entitlement:g} cores, {left:g} of {processors.pool}'s {limit:g} are left"
            problems.add(path, there=there, next_step="lower the entitlement or enlarge the pool")
            return
        total += processors.entitlement
        by_pool[processors.pool] += processors.entitlement
