"""On what work takes the cores that are told: the layout as stated, another one, or a machine."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from homenode.errors import HomenodeError, NotFoundError, ScenarioError, nearest
from homenode.model.document import to_toml
from homenode.model.scenario import PlacedPartition, Scenario
from homenode.model.spec import Spec
from homenode.model.units import SIZE
from homenode.simulate.settle.solve import Cores

_SEED = 1
"""Of the random numbers with which work is found, whatever a run draws."""


@dataclass(frozen=True)
class Reference:
    """A frozen layout and the cores that its partitions' work is to take there."""

    spec: Spec
    wanted: Cores
    on: str
    """What it is, in words."""


def as_stated(scenario: Scenario) -> Reference:
    """The layout itself, with the work that is told of it."""
    asked = [one for one in scenario.partitions if one.asked is not None]
    return Reference(_still(scenario.layout_spec()), _aligned(asked), "the layout as stated")


def elsewhere(
    reference: Scenario, replaced: Sequence[PlacedPartition], specs: Spec, on: str
) -> Reference:
    """Another layout, with the work and the profile of some partitions of this one, which stands in
    `specs`. Raises `NotFoundError` if it lacks one of them.
    """
    spec = _still(reference.layout_spec())
    own = {one["name"]: one for one in specs["partitions"]}
    there = {one["name"]: one for one in spec["partitions"]}
    for one in replaced:
        if one.name not in there:
            problem = f'{on} has no partition "{one.name}"{nearest(one.name, list(there))}'
            raise NotFoundError(problem, asked=one.name, next_step="give them the same names")
        there[one.name]["profile"] = own[one.name]["profile"]
        there[one.name]["workload"] = own[one.name]["workload"]
    names = {one.name for one in replaced}
    others = [one for one in reference.partitions if one.asked and one.name not in names]
    return Reference(spec, _aligned([*others, *replaced]), on)


def named(name: str, scenario: Scenario, partition: PlacedPartition) -> Scenario:
    """What `reference` names: a scenario file, or a machine. Raises `HomenodeError`."""
    if not name.endswith(".toml"):
        return _alone(scenario, partition, name)
    path = scenario.folder / name
    found = Scenario.load(path)
    if found.axes:
        raise ScenarioError(f"{path} is a sweep of several layouts", next_step="name one layout")
    if any(one.asked is not None and one.asked.reference for one in found.partitions):
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


def _aligned(partitions: Sequence[PlacedPartition]) -> dict[str, tuple[float, ...]]:
    """Cores by partition with as many steps for each: one that has no day takes as much always."""
    asked = {one.name: one.asked.cores for one in partitions if one.asked is not None}
    steps = max(map(len, asked.values()), default=0)
    short = {name: len(cores) for name, cores in asked.items() if len(cores) not in (1, steps)}
    if short:
        problem = "the days of the scenario and of its reference are cut at other hours"
        raise HomenodeError(problem, next_step="tell both days in the same parts")
    return {name: cores * steps if len(cores) == 1 else cores for name, cores in asked.items()}


def by_reference(
    partitions: Sequence[PlacedPartition],
) -> Mapping[str | None, list[PlacedPartition]]:
    """Partitions whose work is to be found, by what they name as reference."""
    found: dict[str | None, list[PlacedPartition]] = {}
    for one in partitions:
        if one.asked is not None and one.asked.work is None:
            found.setdefault(one.asked.reference, []).append(one)
    return found
