"""Partitions of a host that are alike and yet got unlike: whole threads do not fit its processors
evenly, and where no processor waits for another's work nobody is moved, so that it stays so. Or
the memory of some lies beside other processors than theirs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.estimate import mean_of

if TYPE_CHECKING:
    from homenode.simulate.kept.figures import Figures

APART = 0.05
"""Part of the mean by which equals are apart from where on it is said."""
HAVE_WORK = 0.5
"""Of the time of their virtual processors: who has work for less is told apart by chance."""
_TOLD = (("etr_per_s", "transactions/s"), ("physc", "processors"))
_MEMORY = ("cores_memory_local", "cores_memory_near", "cores_memory_far")
_OWN = frozenset({"name", "home", "memory", "workload_name"})
"""What tells partitions apart that are alike."""
_UNEVEN = (
    "their threads do not fit the processors evenly, and a scheduler moves nobody where nobody "
    "waits for longer than elsewhere"
)


def equals_lines(run: Figures) -> list[str]:
    """A sentence for each set of partitions that are alike and got unlike."""
    return [line for names in _alike(run) for line in _told(run, names)]


def _alike(run: Figures) -> Iterator[list[str]]:
    """Names of partitions that nothing but place tells apart, of hosts."""
    if run.spec["machine"]["hypervisor"]["policy"] not in HOST_POLICIES:
        return
    found: dict[str, list[str]] = {}
    for one in run.spec["partitions"]:
        found.setdefault(_key(run, one), []).append(str(one["name"]))
    yield from (names for names in found.values() if len(names) > 1)


def _key(run: Figures, one: Mapping[str, Any]) -> str:
    groups = run.spec.get("cgroups", [])
    own = {name: value for name, value in one.items() if name not in _OWN}
    above: list[Any] = []
    at = one["processors"].get("host", {}).get("cgroup")
    while at is not None:
        above.append({**groups[at], "name": "", "parent": None})
        at = groups[at].get("parent")
    processors = dict(own["processors"])
    processors["host"] = {**processors.get("host", {}), "cgroup": None}
    return json.dumps([{**own, "processors": processors}, above], sort_keys=True)


def _told(run: Figures, names: list[str]) -> Iterator[str]:
    if mean_of([_with_work(run, name) for name in names]) < HAVE_WORK:
        return
    for metric, unit in _TOLD:
        by_name = [run.values(name, metric) for name in names]
        if not all(by_name) or len({len(values) for values in by_name}) > 1:
            continue
        # Who is lucky is left to chance, so each replication is asked by itself.
        each = list(zip(*by_name, strict=True))
        least, most = mean_of([min(of) for of in each]), mean_of([max(of) for of in each])
        middle = mean_of([mean_of(list(of)) for of in each])
        if middle > 0 and most - least > APART * middle:
            yield (
                f"{_names(names)} are alike and got {least:,.4g} to {most:,.4g} {unit}: "
                f"{_far_memory(run, names) or _UNEVEN}."
            )
        return


def _far_memory(run: Figures, names: list[str]) -> str | None:
    """That memory makes transactions of some dearer, if most of what tells them apart is that."""
    each = []
    for name in names:
        done = mean_of(run.values(name, "etr_per_s") or [0.0])
        if done <= 0:
            return None
        cores = (run.values(name, metric) for metric in ("physc", *_MEMORY))
        each.append([1e6 * mean_of(values or [0.0]) / done for values in cores])
    least, most = min(each), max(each)
    if sum(most[1:]) - sum(least[1:]) <= (most[0] - least[0]) / 2:
        return None
    return (
        "some have their memory beside other processors than their own, so that a transaction "
        f"takes {least[0]:,.4g} to {most[0]:,.4g} us of one"
    )


def _with_work(run: Figures, name: str) -> float:
    """Share of the time of its virtual processors in which they run or wait for a processor."""
    processors = run.partition_spec(name)["processors"]
    if processors["mode"] != "shared":
        return 1.0
    both = (run.values(name, metric) for metric in ("physc", "run_delay_cores"))
    return sum(mean_of(values) for values in both if values) / processors["virtual"]


def _names(names: list[str]) -> str:
    if len(names) > 3:
        return f"{names[0]} to {names[-1]} ({len(names)})"
    return " and ".join([", ".join(names[:-1]), names[-1]])
