"""Partitions that wait for processors that others always want, where how long is not solved.

How much each gets follows from shares and limits, and is told. When one that comes and goes gets a
processor back from those that never rest hangs on turns, slices and who is behind: of dispatchers
for which the solver does not know these, short work waits several times as long as it says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from homenode.model.spec import (
    PartitionSpec,
    Spec,
    WorkloadSpec,
    machines_of,
    processors_of,
    shared_cores,
    shared_of,
    works_of,
)

_LEFT = 0.005
"""Share of a pool's processors that may be left over where all are taken."""

_BUSY = 0.4
"""Part of the processors that are left of which those that come and go often find all taken.
Assumed, 0.3 to 0.6: of two half in use both are taken for a third of the time."""

_ALL = 0.98
"""Part of its virtual processors that one uses to whom nobody leaves less than it wants."""


def waits_behind(
    spec: Spec, used: Mapping[str, float], unsteady: Mapping[str, bool]
) -> dict[str, tuple[str, ...]]:
    """By partition that shares processors of which none is left, and of whose turns nothing is
    known, those with which it shares them that always want more. `used` are the cores of each,
    `unsteady` those with more to do than they can.
    """
    none_left = _beside_greedy(spec, used, unsteady)
    found = {one["name"]: greedy for one, greedy in none_left if not _has_turns(spec, one)}
    of_machines = ((one["name"], _loops(one)) for one in spec["partitions"])
    return found | {name: loops for name, loops in of_machines if loops}


def wanting_all(
    spec: Spec, used: Mapping[str, float], unsteady: Mapping[str, bool]
) -> dict[str, tuple[str, ...]]:
    """The same of those of whose turns it is known how they come: on a Linux host nothing is told
    of what work waits that wants nearly all that these leave it.
    """
    none_left = _beside_greedy(spec, used, unsteady)
    is_linux = spec["machine"]["hypervisor"]["policy"] == "linux"
    return {one["name"]: greedy for one, greedy in none_left if is_linux and _has_turns(spec, one)}


def _beside_greedy(
    spec: Spec, used: Mapping[str, float], unsteady: Mapping[str, bool]
) -> Iterator[tuple[PartitionSpec, tuple[str, ...]]]:
    """Partitions that share processors of which none is left with others that always want more,
    and these.
    """
    for cores, members in _sharing(spec):
        greedy = tuple(
            one["name"]
            for one in members
            if unsteady[one["name"]] or any(map(_never_rests, works_of(one)))
        )
        if greedy and _is_full(cores, members, used):
            yield from ((one, greedy) for one in members if one["name"] not in greedy)


def beside_greedy(
    spec: Spec, used: Mapping[str, float], unsteady: Mapping[str, bool]
) -> tuple[str, ...]:
    """Partitions that come and go and share processors of which none is left with others that
    always want more, whether or not it is known how their turns come.
    """
    found: list[str] = []
    for cores, members in _sharing(spec):
        never = {one["name"] for one in members if any(map(_never_rests, works_of(one)))}
        greedy = never | {one["name"] for one in members if unsteady[one["name"]]}
        if _is_full(cores, members, used):
            rest = (one["name"] for one in members if one["name"] not in never)
            found += [name for name in rest if greedy - {name}]
    return tuple(found)


def _is_full(cores: int, members: Sequence[PartitionSpec], used: Mapping[str, float]) -> bool:
    return math.fsum(used[one["name"]] for one in members) >= (1.0 - _LEFT) * cores


def kept_from(
    spec: Spec, used: Mapping[str, float], unsteady: Mapping[str, bool]
) -> dict[str, tuple[str, ...]]:
    """On a Linux host without pins or cpusets, by partition, those whose threads always have work
    and leave fewer processors than it has virtual ones, where it uses much of these: it is told as
    if it might have all of its own.
    """
    found: dict[str, tuple[str, ...]] = {}
    sets = [group for group in spec.get("cgroups", []) if group["cpuset"] is not None]
    if spec["machine"]["hypervisor"]["policy"] != "linux" or sets:
        return found
    for cores, members in _sharing(spec):
        if any(_is_pinned(one, cores) for one in members):
            continue
        never = {
            one["name"]: processors_of(one)
            for one in members
            if unsteady[one["name"]] or any(map(_never_rests, works_of(one)))
        }
        others = [one for one in members if one["name"] not in never]
        left = cores - sum(never.values())
        if never and left > 0:
            busy = math.fsum(used[one["name"]] for one in others) > _BUSY * left
            few = (one["name"] for one in others if busy and processors_of(one) > left)
            found |= dict.fromkeys(few, tuple(never))
    return found


def looked_for_late(spec: Spec, used: Mapping[str, float]) -> tuple[str, ...]:
    """Domains that are pinned to some of Xen's processors, beside others that are not, where none
    is left: they get less than their shares if no other processor may throw the runner off theirs,
    as in Xen without `outgoing_counts`. `used` are the cores of each.
    """
    rules = spec["machine"]["hypervisor"].get("credit2")
    if rules is None or rules.get("outgoing_counts"):
        return ()
    found: list[str] = []
    for cores, members in _sharing(spec):
        pinned = [
            one["name"]
            for one in members
            if _is_pinned(one, cores) and used[one["name"]] < _ALL * processors_of(one)
        ]
        if _is_full(cores, members, used) and len(pinned) < len(members):
            found += pinned
    return tuple(found)


def _is_pinned(one: PartitionSpec, cores: int) -> bool:
    shared = shared_of(one)
    host = None if shared is None else shared.get("host")
    return host is not None and any(len(pins) < cores for pins in host["pins"] if pins)


def _loops(one: PartitionSpec) -> tuple[str, ...]:
    """Virtual machines of z/VM that want all of its processors: others wait about so long."""
    loops = [machine for machine in machines_of(one) if machine["role"] == "loop"]
    if sum(machine["cpus"] for machine in loops) < processors_of(one) * one["smt"]:
        return ()
    return tuple(machine["name"] for machine in loops)


def _has_turns(spec: Spec, one: PartitionSpec) -> bool:
    """Whether it is solved how turns come round to a partition."""
    hypervisor = spec["machine"]["hypervisor"]
    if "machines" in one["guest"]:
        return False
    match hypervisor["policy"]:
        case "linux":
            linux = hypervisor.get("linux")
            return linux is not None and linux["scheduler"] == "eevdf"
        case "prsm":
            shared = shared_of(one)
            cores = None if shared is None else shared.get("prsm")
            return cores is not None and cores["polarization"] == "horizontal"
        case policy:
            return policy == "phyp"


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
