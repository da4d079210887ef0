"""On what work takes the cores that are told: the layout as stated, another one, or a machine."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from homenode.errors import HomenodeError, NotFoundError, ScenarioError, nearest
from homenode.model.document import to_toml
from homenode.model.scenario import PlacedPartition, Scenario
from homenode.model.scenario.played import Asked
from homenode.model.spec import PartitionSpec, Spec, VirtualMachineSpec, machines_of
from homenode.model.units import SIZE
from homenode.simulate.settle.solve import Cores

Asking = Mapping[str, Asked]
"""Work told by the cores it takes, by partition or partition and virtual machine."""
N = TypeVar("N", PartitionSpec, VirtualMachineSpec)
_SEED = 1
"""Of the random numbers with which work is found, whatever a run draws."""


@dataclass(frozen=True)
class Reference:
    """A frozen layout and the cores that its partitions' work is to take there."""

    spec: Spec
    asking: Asking
    """All that is asked there, in the steps of one day."""
    on: str
    """What it is, in words."""

    @property
    def wanted(self) -> Cores:
        """The cores, step by step."""
        return {key: one.cores for key, one in self.asking.items()}


def as_stated(scenario: Scenario) -> Reference:
    """The layout itself, with the work that is told of it."""
    spec = _still(scenario.layout_spec())
    return Reference(spec, _aligned(scenario.resolved.asked), "the layout as stated")


def elsewhere(reference: Scenario, replaced: Asking, specs: Spec, on: str) -> Reference:
    """Another layout, with the work and the profile of some of this one, which stands in `specs`.
    Raises `NotFoundError` if it lacks one of them.
    """
    spec = _still(reference.layout_spec())
    for key in replaced:
        partition, _, machine = key.partition("/")
        own, there = _partition(specs, partition, on), _partition(spec, partition, on)
        there["profile"] = own["profile"]
        if machine:
            _machine(there, machine, on)["work"] = _machine(own, machine, on)["work"]
        else:
            there["workload"] = own["workload"]
    return Reference(spec, _aligned({**reference.resolved.asked, **replaced}), on)


def _partition(spec: Spec, name: str, on: str) -> PartitionSpec:
    return _named(spec["partitions"], "partition", name, on)


def _machine(partition: PartitionSpec, name: str, on: str) -> VirtualMachineSpec:
    return _named(machines_of(partition), "virtual machine", name, on)


def _named(ones: Sequence[N], kind: str, name: str, on: str) -> N:
    for one in ones:
        if one["name"] == name:
            return one
    names = [one["name"] for one in ones]
    problem = f'{on} has no {kind} "{name}"{nearest(name, names)}'
    raise NotFoundError(problem, asked=name, next_step="give them the same names")


def named(name: str, scenario: Scenario, key: str) -> Scenario:
    """What `reference` names: a scenario file, or a machine. Raises `HomenodeError`."""
    if not name.endswith(".toml"):
        return _alone(scenario, scenario.partition(key), name)
    path = scenario.folder / name
    found = Scenario.load(path)
    if found.axes:
        raise ScenarioError(f"{path} is a sweep of several layouts", next_step="name one layout")
    if any(one.reference is not None for one in found.resolved.asked.values()):
        problem = f"{path} names another reference itself"
        raise HomenodeError(problem, next_step="name that one")
    return found


def _alone(scenario: Scenario, partition: PlacedPartition, model: str) -> Scenario:
    """A machine that the partition has to itself, with the processors it has here."""
    table: Any = scenario.data["partition"]
    own = table[partition.row]
    data = {
        "name": "reference",
        "machine": {"model": model},
        "partition": [
            {
                "name": partition.name,
                "processors": {
                    key: value
                    for key, value in own["processors"].items()
                    if key not in ("pool", "cgroup", "pins", "cpuset", "from")
                },
                "memory": SIZE.format(partition.memory_bytes),
                **({"guest": own["guest"]} if "guest" in own else {}),
                **({"kvm": own["kvm"]} if "kvm" in own else {}),
                "workload": {"kind": "idle"},
            }
        ],
    }
    return Scenario.from_toml(to_toml(data), f"reference {model}")


def _still(spec: Spec) -> Spec:
    """A layout as it is at the beginning, with random numbers of its own."""
    found = copy.deepcopy(spec)
    found["seed"], found["name"] = _SEED, "reference"
    found.pop("changes", None)
    return found


def _aligned(asking: Asking) -> Asking:
    """All of them in the steps of a day that is cut wherever one of them is."""
    cuts = tuple(sorted({cut for one in asking.values() for cut in one.cuts}))
    extras = tuple(dict.fromkeys(name for one in asking.values() for name in one.extras))

    def aligned(one: Asked) -> Asked:
        cores = tuple(one.cores[step] for step in one.steps_of(cuts, extras))
        return replace(one, cuts=cuts, extras=extras, cores=cores)

    return {key: aligned(one) for key, one in asking.items()}


def by_reference(asking: Asking) -> Mapping[str | None, Asking]:
    """Work that is to be found, by what it names as reference."""
    found: dict[str | None, dict[str, Asked]] = {}
    for key, one in asking.items():
        if one.work is None:
            found.setdefault(one.reference, {})[key] = one
    return found
