"""Points of which some axes do nothing but put a number into the engine's input. The others decide
the rest of it, which is read once for all points that have their values in common.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError

from homenode import _engine
from homenode.errors import HomenodeError
from homenode.model.document.positions import split_key
from homenode.model.scenario import Scenario
from homenode.model.spec import Spec
from homenode.simulate.runner.job import Job, canonical, freeze
from homenode.simulate.sweep.order import Order

_KEYS = {
    ("workload", "rate"): "rate_per_s",
    ("workload", "count"): "count",
    ("workload", "think"): "think_ns",
    ("workload", "wait"): "wait_ns",
    ("guest", "throughput_mode"): "throughput_mode",
    ("guest", "snooze_delay"): "snooze_delay_ns",
}
"""What of a partition's table the engine gets as it is, and by which name. Nothing else follows
from it; it is refused by itself, or by the engine.
"""
_KINDS = ("kind", "os")
"""What decides which keys a table has."""
_MOST_HELD = 4_000_000
"""Characters of the inputs that are held."""
_AS_TABLES = ConfigDict(strict=True, allow_inf_nan=False)
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class _Leaf:
    """An axis that is one."""

    paths: tuple[Path, ...]
    """In the engine's input: one for each partition of a kind."""
    numbers: Sequence[object]
    """What stands there, by value of the axis."""


class Leaves:
    """Jobs of the points of a sweep, the same as `freeze` makes of each."""

    def __init__(self, base: Scenario, order: Order) -> None:
        self._base, self._order = base, order
        # Work that is found and changes during the run hang on more than one table.
        plain = not base.file.change and not base.resolved.asked
        found = {axis: _leaf(base, axis) for axis in base.axes if plain}
        self._leaves = {axis: leaf for axis, leaf in found.items() if leaf is not None}
        paths = [path for leaf in self._leaves.values() for path in leaf.paths]
        if len(set(paths)) < len(paths):
            self._leaves = {}  # one of a kind, and the whole kind
        self._inputs: dict[int, _Input | None] = {}
        self._held = 0

    def job(self, number: int) -> Job | None:
        """That of a point; None where it has to be read by itself."""
        if not self._leaves:
            return None
        first, step, numbers = number, self._base.points, []
        for axis, values in self._base.axes.items():
            before, step = step, step // len(values)
            if axis in self._leaves:
                at = number % before // step
                first -= at * step
                leaf = self._leaves[axis]
                numbers += [leaf.numbers[at]] * len(leaf.paths)
        if first not in self._inputs:
            self._hold(first, self._read(first))
        shared = self._inputs[first]
        return None if shared is None else shared.job(numbers, self._base.values_of(number))

    def _read(self, first: int) -> _Input | None:
        """What all points have in common with one that has the first value of every leaf."""
        order = self._order
        try:
            point = self._base.nth(first)
            job = freeze(point, order.replications, order.seed, order.version, kept=False)
        except HomenodeError:
            return None  # each is told by itself
        if _names(point) != _names(self._base):
            return None
        leaves = self._leaves.values()
        firsts = {path: leaf.numbers[0] for leaf in leaves for path in leaf.paths}
        if any(_at(job.spec, path) != number for path, number in firsts.items()):
            return None
        return _Input(job, list(firsts))

    def _hold(self, first: int, shared: _Input | None) -> None:
        if self._held > _MOST_HELD:
            self._inputs, self._held = {}, 0
        self._inputs[first] = shared
        self._held += 0 if shared is None else len(shared.text)


class _Input:
    """An engine's input with holes in it."""

    def __init__(self, job: Job, paths: Sequence[Path]) -> None:
        self._job, self._paths = job, paths
        holes = [f"\0{at}\0" for at in range(len(paths))]
        self.text = canonical(_with(job.spec, paths, holes))
        # In the order in which they stand in the text.
        places = {self.text.index(json.dumps(hole)): at for at, hole in enumerate(holes)}
        self._order = [places[place] for place in sorted(places)]
        self._pieces, rest = [], self.text
        for at in self._order:
            piece, _, rest = rest.partition(json.dumps(holes[at]))
            self._pieces.append(piece)
        self._pieces.append(rest)

    def job(self, numbers: Sequence[object], point: dict[str, object]) -> Job | None:
        """The job with numbers in the holes; None if the engine refuses them."""
        parts = [self._pieces[0]]
        for at, piece in zip(self._order, self._pieces[1:], strict=True):
            parts += (json.dumps(numbers[at]), piece)
        text = "".join(parts)
        try:
            _engine.check(text)
        except _engine.SpecError:
            return None
        job = replace(self._job, spec=_with(self._job.spec, self._paths, numbers), point=point)
        job.__dict__["spec_text"] = text  # what would be spelled once more
        return job


def _leaf(base: Scenario, axis: str) -> _Leaf | None:
    """The leaf that an axis is, if it is one."""
    parts = split_key(axis) or ()
    if len(parts) != 4 or parts[0] != "partition" or parts[2:] not in _KEYS:
        return None
    _, name, table, key = parts
    kinds = [base.file.partition[one.row] for one in base.partitions]
    which = [at for at, one in enumerate(base.partitions) if one.name == name]
    which = which or [at for at, one in enumerate(kinds) if one.name == name]
    if not which:
        return None
    # Of several workloads there is a list, whose names stand in the path.
    field = getattr(type(getattr(kinds[which[0]], table)), "model_fields", {}).get(key)
    if field is None or any(_decides(split_key(one) or (), parts) for one in base.axes):
        return None
    value_of = TypeAdapter[object](field.rebuild_annotation(), config=_AS_TABLES)
    try:
        numbers = [value_of.validate_python(value) for value in base.axes[axis]]
    except ValidationError:
        return None
    return _Leaf(tuple(("partitions", at, table, _KEYS[table, key]) for at in which), numbers)


def _names(scenario: Scenario) -> list[str]:
    return [one.name for one in scenario.partitions]


def _decides(one: Sequence[str], leaf: Sequence[str]) -> bool:
    """Whether an axis makes the table of a leaf another one."""
    above = len(one) < len(leaf) and tuple(leaf[: len(one)]) == tuple(one)
    return above or (tuple(one[:3]) == tuple(leaf[:3]) and one[-1] in _KINDS)


def _at(spec: Spec, path: Path) -> object:
    """What stands at a place; None if nothing does."""
    here: Any = spec
    for part in path:
        if isinstance(here, dict) and part not in here:
            return None
        here = here[part]
    return here


def _with(spec: Spec, paths: Sequence[Path], values: Sequence[object]) -> Spec:
    """A spec with other values at these places; what no path leads to is the same."""
    result = dict(spec)
    for path, value in zip(paths, values, strict=True):
        here: Any = result
        for part in path[:-1]:
            here[part] = here[part].copy()
            here = here[part]
        here[path[-1]] = value
    return cast("Spec", result)
