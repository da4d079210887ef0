"""Values replaced in a frozen scenario by their path: `partitions.*.workload.count`,
`machine.smt.gain.1`.

A step is a key, the index of a list's element, the `name` of an element, or `*` for all elements.
The path must exist: a study that sets something nobody reads is wrong.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from homenode.errors import StudyError, nearest
from homenode.simulate.runner.job import FrozenScenario


@dataclass(frozen=True)
class Overridden:
    """A scenario some values of which were replaced after it was frozen."""

    text: str
    replications: int
    spec: dict[str, Any]

    def spec_json(self) -> str:
        """The engine's input."""
        return json.dumps(self.spec)


def override(scenario: FrozenScenario, values: Mapping[str, Any]) -> FrozenScenario:
    """The scenario with the value at each path replaced; its text says what was."""
    if not values:
        return scenario
    spec = json.loads(scenario.spec_json())
    for path, value in values.items():
        set_value(spec, path, value)
    notes = "".join(
        f"# after freezing: {path} = {json.dumps(value)}\n" for path, value in values.items()
    )
    return Overridden(scenario.text + notes, scenario.replications, spec)


def set_value(spec: dict[str, Any], path: str, value: Any) -> None:
    """Replace the value at a path, keeping whole numbers whole."""
    for holder, key in list(_places(spec, path)):
        old = holder[key]
        whole = isinstance(old, int) and not isinstance(old, bool) and isinstance(value, float)
        holder[key] = round(value) if whole else copy.deepcopy(value)


def get_values(spec: dict[str, Any], path: str) -> list[Any]:
    """All values a path leads to."""
    return [holder[key] for holder, key in _places(spec, path)]


def _places(spec: Any, path: str) -> Iterator[tuple[Any, Any]]:
    *steps, last = path.split(".")
    holders = [spec]
    for step in steps:
        holders = [holder[key] for holder in holders for key in _keys(holder, step, path)]
    for holder in holders:
        for key in _keys(holder, last, path):
            yield holder, key


def _keys(holder: Any, step: str, path: str) -> list[Any]:
    if isinstance(holder, dict):
        if step in holder:
            return [step]
        raise StudyError(
            f"path {path}: there is no {step} in the frozen scenario{nearest(step, holder)}"
        )
    if isinstance(holder, list):
        if step == "*":
            return list(range(len(holder)))
        if step.isdigit() and int(step) < len(holder):
            return [int(step)]
        named = [
            i
            for i, item in enumerate(holder)
            if isinstance(item, dict) and item.get("name") == step
        ]
        if named:
            return named
        names = [item["name"] for item in holder if isinstance(item, dict) and "name" in item]
        raise StudyError(f"path {path}: no element {step}{nearest(step, names)}")
    raise StudyError(f"path {path}: nothing lies below the step before {step}")
