"""What must hold between the values of one table, each with what may be and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor

from homenode.errors import listed, suggestion
from homenode.model.catalog import MachineDescription
from homenode.model.catalog.hypervisor import PowerVm
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.document import Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.file.guest import Aix
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.processors import DEFAULT_POOL, Dedicated, Resources, Shared
from homenode.model.scenario.file.scenario import Pool, Run
from homenode.model.scenario.file.workload import Workload
from homenode.model.units import SIZE, TIME

_MOST_INTERVALS = 10_000_000
_SLACK = 1e-9
_MOST_WEIGHT = 255


def check_run(run: Run, problems: Problems) -> None:
    """Intervals fill the duration."""
    interval, duration = TIME.format(run.interval_ns), TIME.format(run.duration)
    path: Path = ("run", "duration") if run.interval is None else ("run", "interval")
    count, rest = divmod(run.duration, run.interval_ns)
    if count == 0:
        there = f"the duration is {duration}, shorter than one interval"
        problems.add(path, there=there, next_step="make the interval at most the duration")
    elif rest:
        there = f"the duration of {duration} is no whole number of intervals of {interval}"
        whole = TIME.format(count * run.interval_ns)
        problems.add(path, there=there, next_step=f"make it {whole} or choose another interval")
    elif count > _MOST_INTERVALS:
        there = f"that makes {count:,} intervals, at most {_MOST_INTERVALS:,} are kept"
        problems.add(path, there=there, next_step="make the interval longer")


def check_placing(placing: str | None, machine: MachineDescription, problems: Problems) -> None:
    """An order of placing only where a hypervisor places partitions."""
    if placing is None:
        return
    if machine.hypervisor.policy in HOST_POLICIES:
        there = f"on {machine.title} the kernel puts threads where most is free"
    elif machine.platform is not None:
        there = f"on {machine.title} the cells and cores of each partition are configured"
    else:
        return
    problems.add(("machine", "placing"), there=there, next_step="leave placing out")


def check_pools(pools: Sequence[Pool], problems: Problems) -> None:
    """Pools have names and numbers of their own, and a reserve within their maximum."""
    names = {DEFAULT_POOL: "the default pool, which is always there,"}
    numbers = {0: DEFAULT_POOL}
    for index, pool in enumerate(pools):
        path: Path = ("pool", index)
        if pool.name in names:
            step = "give each pool a name of its own"
            problems.add((*path, "name"), there=f"{names[pool.name]} has it", next_step=step)
        names.setdefault(pool.name, "another pool")
        if pool.number is not None and pool.number in numbers:
            step = "give each pool a number of its own"
            there = f"{numbers[pool.number]} has it"
            problems.add((*path, "number"), there=there, next_step=step)
        elif pool.number is not None:
            numbers[pool.number] = pool.name
        if pool.maximum is not None and pool.reserved > pool.maximum:
            there = f"its maximum is {pool.maximum:g} cores"
            step = "reserve at most the maximum"
            problems.add((*path, "reserved"), there=there, next_step=step)


def check_partition(
    table: Partition,
    row: int,
    machine: MachineDescription,
    pools: Sequence[str],
    problems: Problems,
) -> None:
    """What can be said of one partition alone."""
    path: Path = ("partition", row)
    processors = table.processors
    if machine.hypervisor.policy in HOST_POLICIES:
        _check_bounds(table, path, problems)
        return
    if isinstance(processors, Shared) and machine.hypervisor.policy != "prsm":
        check_shares(processors, (*path, "processors"), machine, problems)
        if processors.pool not in pools:
            there = f"the pools are {listed(pools)}"
            step = suggestion(processors.pool, pools, "add [[pool]] with that name")
            problems.add((*path, "processors", "pool"), there=there, next_step=step)
    if not isinstance(machine.hypervisor, PowerVm):
        _check_without_dispatching(table, path, machine, problems)
    if table.smt is not None and table.smt > machine.threads_per_core:
        threads = machine.threads_per_core
        there = f"a core of {machine.title} ({machine.generation}) has {threads} threads"
        problems.add((*path, "smt"), there=there, next_step=f"write smt = 1 to {threads}")
    if isinstance(table.guest, Aix) and not table.guest.folding and table.guest.xvcpus > 0:
        there = "folding is off, so no virtual processor is ever folded"
        step = "leave out xvcpus or folding = false"
        problems.add((*path, "guest", "xvcpus"), there=there, next_step=step)
    _check_bounds(table, path, problems)


def _check_without_dispatching(
    table: Partition, path: Path, machine: MachineDescription, problems: Problems
) -> None:
    """Nothing is lent where nothing is shared, and AIX wants PowerVM."""
    if isinstance(table.processors, Dedicated) and table.processors.donating:
        there = (
            "PR/SM does not lend the cores of a dedicated partition"
            if machine.hypervisor.policy == "prsm"
            else f"{machine.title} has no shared pool to lend cores to"
        )
        step = "leave donating out"
        problems.add((*path, "processors", "donating"), there=there, next_step=step)
    if isinstance(table.guest, Aix):
        other = "linux" if machine.platform is None else "hp-ux"
        step = f'write guest = {{ os = "{other}" }}'
        here = (*path, "guest")
        there = f"{machine.title} does not run AIX, which is meant where guest.os is not given"
        problems.add(here, "another system is needed", there=there, next_step=step, at_key=True)


def check_shares(
    processors: Shared, path: Path, machine: MachineDescription, problems: Problems
) -> None:
    """Entitlement, weight and virtual processors fit each other."""
    entitlement, virtual = processors.entitlement, processors.virtual
    if not isinstance(machine.hypervisor, PowerVm):
        there = f"{machine.title} gives every partition cores of its own, nothing is shared"
        step = 'write processors = { mode = "dedicated", cores = 2 }'
        problems.add((*path, "mode"), there=there, next_step=step)
        return
    if processors.weight is not None and processors.weight > _MOST_WEIGHT:
        problems.add((*path, "weight"), there=f"at most {_MOST_WEIGHT} is possible")
    if entitlement is None:
        step = "entitled capacity in cores"
        problems.add(path, "entitlement is missing", next_step=step, at_key=True)
        return
    least = machine.hypervisor.min_entitlement_per_vp.value
    each = entitlement / virtual
    if abs(entitlement * 100 - round(entitlement * 100)) > 1e-6:
        step = f"write {max(0.01, round(entitlement, 2)):g}"
        there = "capacity is given in hundredths of a core"
        problems.add((*path, "entitlement"), there=there, next_step=step)
    if each < least - _SLACK:
        most = floor(entitlement / least + _SLACK)
        there = (
            f"{entitlement:g} cores make {each:.3g} for each, "
            f"{machine.generation} needs at least {least:.2f}"
        )
        fewer = f"at most {most} virtual processors or " if most else ""
        step = f"ask for {fewer}at least {virtual * least:.2f} cores of entitlement"
        problems.add((*path, "virtual"), there=there, next_step=step)
    elif each > 1 + _SLACK:
        most = -floor(-entitlement + _SLACK)
        there = f"{virtual} can use {virtual} cores at most, it is entitled to {entitlement:g}"
        step = f"ask for at least {most} virtual processors or at most {virtual} cores"
        problems.add((*path, "virtual"), there=there, next_step=step)


def _check_bounds(table: Partition, path: Path, problems: Problems) -> None:
    """Minimum <= what it has <= maximum, and only what its kind of processors knows."""
    processors = table.processors
    has: dict[str, float | None] = {
        "entitlement": processors.entitlement if isinstance(processors, Shared) else None,
        "virtual": processors.virtual if isinstance(processors, Shared) else None,
        "cores": processors.cores if isinstance(processors, Dedicated) else None,
        "memory": sum(part.size for part in table.memory),
    }
    for which in ("minimum", "maximum", "desired"):
        bounds: Resources = getattr(table, which) or Resources()
        for key, value in has.items():
            bound = getattr(bounds, key)
            here = (*path, which, key)
            if bound is None:
                continue
            if value is None:
                there = f"its processors are {processors.mode}, which have no {key}"
                problems.add(here, there=there, next_step=f"leave {key} out")
            elif (which == "minimum" and bound > value) or (which == "maximum" and bound < value):
                shown = SIZE.format(int(value)) if key == "memory" else f"{value:g}"
                side = "at most" if which == "minimum" else "at least"
                there = f"the partition has {shown}"
                problems.add(here, there=there, next_step=f"the {which} is {side} that")


def check_burst(
    workload: Workload,
    path: Path,
    profile: Mapping[str, float | int | str],
    machine: MachineDescription,
    problems: Problems,
) -> None:
    """Simulated time goes by nanoseconds, so the work between two waits must take one at least."""
    instructions, eicpi = profile.get("instructions_per_unit"), profile.get("eicpi")
    if not isinstance(instructions, (int, float)) or not isinstance(eicpi, (int, float)):
        return
    bursts = getattr(workload, "bursts", 1.0)
    burst_ns = instructions * eicpi / machine.clock.value * 1e9 / bursts
    if burst_ns < 1.0:
        there = f"{instructions:g} instructions in {bursts:g} bursts take {burst_ns:.2g} ns each"
        step = "at least 1 ns is needed; write more instructions or fewer bursts"
        problems.add(path, there=there, next_step=step)
