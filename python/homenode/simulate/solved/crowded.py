"""Partitions whose work waits for processors that others always want: how long is hardly solved.

How much each gets follows from shares and limits, and is told. When one that comes and goes gets a
processor back from those that never rest hangs on turns, slices and who is behind: of that the
solver knows little, and short work waits several times as long as it takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from homenode.model.spec import (
    PartitionSpec,
    Spec,
    WorkloadSpec,
    shared_cores,
    shared_of,
    works_of,
)

_LEFT = 0.005
"""Share of a pool's processors that may be left over where all are taken."""


def waits_behind(
    spec: Spec, used: Mapping[str, float], unsteady: Mapping[str, bool]
) -> dict[str, tuple[str, ...]]:
    """By partition that shares processors of which none is left, those with which it shares them
    that always want more. `used` are the cores of each, `unsteady` those with more to do than they
    can.
    """
    found: dict[str, tuple[str, ...]] = {}
    for cores, members in _sharing(spec):
        names = [one["name"] for one in members]
        greedy = tuple(
            one["name"]
            for one in members
            if unsteady[one["name"]] or any(map(_never_rests, works_of(one)))
        )
        if greedy and math.fsum(used[name] for name in names) >= (1.0 - _LEFT) * cores:
            found |= {name: greedy for name in names if name not in greedy}
    return found


def _sharing(spec: Spec) -> Iterator[tuple[int, list[PartitionSpec]]]:
    """Processors, and the partitions that share them: pools of a core type have theirs, all others
    share what is nobody's own.
    """
    together: dict[int | None, list[PartitionSpec]] = {}
    of_pool: dict[int | None, int] = {}
    for one in spec["partitions"]:
        shared = shared_of(one)
        if shared is not None:
            pool = shared["pool"]
            apart = spec["pools"][pool].get("cores") is not None
            together.setdefault(pool if apart else None, []).append(one)
            of_pool[pool if apart else None] = pool
    for key, members in together.items():
        yield shared_cores(spec, of_pool[key]), members


def _never_rests(work: WorkloadSpec) -> bool:
    if work["kind"] == "loops":
        return work["endless"] and not work.get("rest_ns")
    return work["kind"] == "warehouses"
