"""Partitions whose work waits for processors that others always want: how long is hardly solved.

How much each gets follows from shares and limits, and is told. When one that comes and goes gets a
processor back from those that never rest hangs on turns, slices and who is behind: of that the
solver knows little, and short work waits several times as long as it takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from homenode.model.spec import PartitionSpec, Spec, WorkloadSpec, capacity_of, cores_of, shared_of

_LEFT = 0.005
"""Share of a pool's processors that may be left over where all are taken."""


def waits_behind(
    spec: Spec, used: Mapping[str, float], unsteady: Mapping[str, bool]
) -> dict[str, tuple[str, ...]]:
    """By partition that shares a pool without any processor to spare, those of it that always want
    more. `used` are the cores of each, `unsteady` those with more to do than they can.
    """
    own = {core for one in spec["partitions"] for core in cores_of(one)}
    every = set(range(capacity_of(spec["machine"]))) - own
    found: dict[str, tuple[str, ...]] = {}
    for cores, members in _sharing(spec, every):
        names = [one["name"] for one in members]
        taken = math.fsum(used[name] for name in names)
        greedy = tuple(
            one["name"]
            for one in members
            if unsteady[one["name"]] or any(map(_never_rests, _works(one)))
        )
        if greedy and taken >= (1.0 - _LEFT) * cores:
            found |= {name: greedy for name in names if name not in greedy}
    return found


def _sharing(spec: Spec, every: set[int]) -> Iterator[tuple[int, list[PartitionSpec]]]:
    """Processors, and the partitions that share them: pools of a core type have theirs, all others
    share what is nobody's own.
    """
    together: dict[int | None, list[PartitionSpec]] = {}
    for one in spec["partitions"]:
        shared = shared_of(one)
        if shared is not None:
            apart = spec["pools"][shared["pool"]].get("cores") is not None
            together.setdefault(shared["pool"] if apart else None, []).append(one)
    for pool, members in together.items():
        cores = every if pool is None else every & set(spec["pools"][pool].get("cores") or ())
        yield len(cores), members


def _works(partition: PartitionSpec) -> Iterator[WorkloadSpec]:
    yield partition["workload"]
    yield from (one["workload"] for one in partition.get("beside", ()))


def _never_rests(work: WorkloadSpec) -> bool:
    if work["kind"] == "loops":
        return work["endless"] and not work.get("rest_ns")
    return work["kind"] == "warehouses"
