"""What PR/SM's weights entitle a partition to.

Entitlement = shared cores of the type x weight / sum of the weights of all shared partitions of
that type (PRSM-CONCEPTS). Dedicated cores are neither shared nor weighed. A partition with fewer
logical cores than that cannot use it all; the rest is unused power, as PR/SM has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from homenode.errors import listed, suggestion
from homenode.model.catalog import MachineDescription
from homenode.model.document import Problems
from homenode.model.scenario.file.mainframe import ByType, CoreType
from homenode.model.scenario.file.partition import Partition
from homenode.model.scenario.file.processors import Shared
from homenode.model.scenario.mainframe.kinds import PartitionKind
from homenode.model.scenario.naming import Named

LEAST_WEIGHT, MOST_WEIGHT = 1, 999


def available_cores(
    characterized: ByType | None,
    kinds: Mapping[int, PartitionKind],
    tables: Sequence[Partition],
    machine: MachineDescription,
    problems: Problems,
) -> dict[CoreType, int]:
    """Cores of each type in the machine: those characterized, else all that are active are of the
    types that partitions ask for.
    """
    if characterized is not None:
        return {kind: count for kind, count in characterized.items() if count}
    dedicated = _counts(kinds, tables, shared=False)
    shared = list(_counts(kinds, tables, shared=True))
    if len(shared) > 1:
        names = " and ".join(shared)
        there = f"partitions share cores of the types {names}; how many there are is not said"
        parts = ", ".join(f"{kind} = ..." for kind in dict.fromkeys((*shared, *dedicated)))
        step = f"write characterized = {{ {parts} }} in it"
        problems.add(("machine",), there=there, next_step=step, at_key=True)
    rest = max(0, machine.active_cores - sum(dedicated.values()))
    found = dict(dedicated)
    for kind in shared[:1] or list(dedicated)[:1]:
        found[kind] = found.get(kind, 0) + rest
    return found


def _counts(
    kinds: Mapping[int, PartitionKind], tables: Sequence[Partition], *, shared: bool
) -> dict[CoreType, int]:
    """Logical cores of either kind of processors by type."""
    found: dict[CoreType, int] = {}
    for row, table in enumerate(tables):
        if isinstance(table.processors, Shared) == shared:
            for kind, count in kinds[row].counts.items():
                found[kind] = found.get(kind, 0) + count * table.count
    return found


def shared_cores(
    available: Mapping[CoreType, int],
    kinds: Mapping[int, PartitionKind],
    tables: Sequence[Partition],
) -> dict[CoreType, int]:
    """Cores of each type that are not dedicated."""
    dedicated = _counts(kinds, tables, shared=False)
    return {kind: max(0, count - dedicated.get(kind, 0)) for kind, count in available.items()}


def entitlements(
    entries: Sequence[Named], kinds: Mapping[int, PartitionKind], shared: Mapping[CoreType, int]
) -> dict[str, float]:
    """Entitled cores of every partition by name: a dedicated one's are all its own."""
    sums: dict[CoreType, int] = {}
    for entry in entries:
        processors = entry.table.processors
        if isinstance(processors, Shared) and kinds[entry.row].types:
            kind = kinds[entry.row].types[0]
            sums[kind] = sums.get(kind, 0) + (processors.weight or 0)
    found = {}
    for entry in entries:
        processors, types = entry.table.processors, kinds[entry.row].types
        if not isinstance(processors, Shared):
            found[entry.name] = float(processors.cores)
        elif types and sums[types[0]]:
            weight = processors.weight or 0
            share = shared.get(types[0], 0) * weight / sums[types[0]]
            found[entry.name] = min(share, float(processors.virtual))
        else:
            found[entry.name] = 0.0
    return found


def check_shared(
    tables: Sequence[Partition],
    kinds: Mapping[int, PartitionKind],
    shared: Mapping[CoreType, int],
    groups: Sequence[str],
    problems: Problems,
) -> None:
    """Weights, logical cores and groups of partitions that share."""
    for row, table in enumerate(tables):
        processors = table.processors
        if not isinstance(processors, Shared):
            continue
        path = ("partition", row, "processors")
        if processors.weight is None:
            step = f"write weight = 100; {LEAST_WEIGHT} to {MOST_WEIGHT} is possible"
            problems.add(path, "weight is missing", next_step=step, at_key=True)
        elif not LEAST_WEIGHT <= processors.weight <= MOST_WEIGHT:
            there = f"a weight under PR/SM is {LEAST_WEIGHT} to {MOST_WEIGHT}"
            step = "choose one of these; only the ratio to the other weights counts"
            problems.add((*path, "weight"), there=there, next_step=step)
        own = list(kinds[row].counts)
        if len(own) == 1 and own[0] in shared and processors.virtual > shared[own[0]]:
            there = f"{shared[own[0]]} cores of type {own[0]} are shared"
            step = "a partition has at most as many logical cores; dedicate fewer or ask for fewer"
            problems.add((*path, "virtual"), there=there, next_step=step)
        if processors.group is not None and processors.group not in groups:
            there = f"the groups are {listed(groups)}" if groups else "there is no [[group]]"
            step = suggestion(processors.group, groups, "add [[group]] with that name and a cap")
            problems.add((*path, "group"), there=there, next_step=step)
