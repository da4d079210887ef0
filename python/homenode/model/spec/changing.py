"""A spec as it is at some time of its run."""

from __future__ import annotations

from homenode.model.spec.layout import PartitionSpec, Spec
from homenode.model.spec.sharing import ChangeSpec

_OF_SHARED = ("entitlement", "virtual", "capped", "weight", "soft_cap")


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
    return {**spec, "partitions": partitions, "changes": []}


def _changed(partition: PartitionSpec, change: ChangeSpec) -> PartitionSpec:
    processors = partition["processors"]
    if processors["mode"] == "shared":
        new = {key: value for key, value in change.items() if key in _OF_SHARED}
        processors = {**processors, **new}  # type: ignore[typeddict-item]
    else:
        processors = {**processors, "cores": change.get("cores", processors["cores"])}
    return {**partition, "smt": change.get("smt", partition["smt"]), "processors": processors}
