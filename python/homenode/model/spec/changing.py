"""A spec as it is at some time of its run."""

from __future__ import annotations

from typing import cast

from homenode.model.spec.asking import cores_of, shared_of
from homenode.model.spec.layout import PartitionSpec, Spec
from homenode.model.spec.sharing import ChangeSpec, ProcessorsSpec, SharedSpec

_KEYS = ("entitlement", "virtual", "capped", "weight", "soft_cap", "cores")
"""What of a change is a partition's processors'."""


def times_of_change(spec: Spec) -> list[int]:
    """When something changes during the run, in order [ns]."""
    return sorted({change["at_ns"] for change in spec.get("changes", ())})


def spec_at(spec: Spec, end_ns: int | None = None) -> Spec:
    """The spec with all changes made that come before a time [ns]; without one, with all. What is
    still to come is left out.
    """
    if not spec.get("changes"):
        return spec
    partitions = list(spec["partitions"])
    for change in sorted(spec["changes"], key=lambda change: change["at_ns"]):
        if end_ns is None or change["at_ns"] < end_ns:
            index = change["partition"]
            partitions[index] = _changed(partitions[index], change)
    then: Spec = {**spec, "partitions": partitions, "changes": []}
    if spec["machine"]["hypervisor"]["policy"] == "prsm":
        then["partitions"] = _weighed(then)
    return then


def _weighed(spec: Spec) -> list[PartitionSpec]:
    """PR/SM's partitions, each entitled to what the weights give it: of the cores that its pool
    shares the part that its weight is of all, at most its logical cores.
    """
    own = {core for partition in spec["partitions"] for core in cores_of(partition)}
    every = set(range(spec["machine"]["active_cores"])) - own
    named = {core for pool in spec["pools"] for core in pool.get("cores") or ()}
    cores = [len(set(pool.get("cores") or every - named) & every) for pool in spec["pools"]]
    shared = [shared_of(partition) for partition in spec["partitions"]]
    sums = [0] * len(cores)
    for one in shared:
        if one is not None:
            sums[one["pool"]] += one["weight"] or 0
    found = []
    for partition, one in zip(spec["partitions"], shared, strict=True):
        if one is None:
            found.append(partition)
            continue
        part = cores[one["pool"]] * (one["weight"] or 0) / sums[one["pool"]]
        entitled: SharedSpec = {**one, "entitlement": min(part, float(one["virtual"]))}
        found.append({**partition, "processors": entitled})
    return found


def _changed(partition: PartitionSpec, change: ChangeSpec) -> PartitionSpec:
    new = {key: value for key, value in change.items() if key in _KEYS}
    processors = cast(ProcessorsSpec, {**partition["processors"], **new})
    found: PartitionSpec = {**partition, "processors": processors}
    for key in ("smt", "memory", "data_bytes"):
        if key in change:
            found[key] = change[key]
    return found
