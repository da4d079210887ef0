"""All layouts that may be: of each partition its forms, of each form the engine's input.

The forms of a partition that shares processors under PowerVM follow from the scenario with one
value changed at a time, for no two values write the same place of the engine's input, but for home
and memory, which are changed together. Where what one partition has depends on what others have
(cores of their own, weights that divide a host), the partitions are a block, whose forms are read
from the scenario with all their values changed at once.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homenode.errors import HomenodeError, ScenarioError
from homenode.model.document import to_toml
from homenode.model.scenario import PlacedPartition, Scenario
from homenode.model.scenario.nearby import Nearby
from homenode.model.scenario.paths import changed, spelt
from homenode.model.scenario.places import name_of_chip
from homenode.model.spec import PartitionSpec, Spec
from homenode.planner.played import Together
from homenode.planner.solver import Solver
from homenode.planner.variables import AROUND, Variable
from homenode.simulate.settle.work import settled

Rows = NDArray[np.int64]
Numbers = tuple[int, ...]
_PLACE = ("home", "memory")
_LEAST_STEP = 1e-9


class Space:
    """The layouts of a scenario. A row holds for each variable the number of its value."""

    def __init__(self, scenario: Scenario, variables: Sequence[Variable], solver: Solver) -> None:
        self.scenario = scenario
        self.held = held_homes(scenario)
        self.variables = tuple(variables)
        self.solver = solver
        self.sizes = np.array([1 + len(one.values) for one in variables], dtype=np.int64)
        self.base = [*solver.spec["partitions"]]
        self.blocks = self._blocks()
        self._options: dict[tuple[int, Numbers], Numbers | None] = {}
        self._alike: dict[tuple[int, str], int | None] = {}
        """By partition and input, the solver's number of a form."""
        self._parts: dict[tuple[int, Numbers], dict[str, Any] | None] = {}
        self._nearby_alone: dict[int, Nearby | None] = {}
        self.unsound: str | None = None
        """Why the first of the layouts cannot be that cannot."""

    def now(self) -> Rows:
        """The layout as it is, as rows."""
        return np.zeros((1, len(self.variables)), dtype=np.int64)

    @property
    def count(self) -> int:
        """How many layouts there are, sound or not."""
        return math.prod(int(size) for size in self.sizes)

    def every(self) -> Rows:
        """All rows, the layout as it is first."""
        ranges = [range(size) for size in self.sizes]
        return np.array([*itertools.product(*ranges)], dtype=np.int64)

    def changes(self, row: Rows) -> dict[str, object]:
        """What a row changes of the scenario."""
        pairs = zip(self.variables, row, strict=True)
        found: dict[str, object] = {}
        for one, number in pairs:
            found |= one.changes(int(number))
        return found

    def applied(self, row: Rows) -> Scenario:
        """The scenario with the changes; raises `ScenarioError` for what cannot be."""
        changes = self.changes(row)
        if not changes:
            return self.scenario
        return self.scenario.with_({**self.held, **changes}, why="advised")

    def apart(self, index: int) -> list[tuple[list[int], dict[Numbers, PartitionSpec]]] | None:
        """Of a partition whose values do not hang together, by places of variables: what becomes of
        it with each of their values that are looked at everywhere. None of one of a block.
        """
        if index not in self._alone:
            return None
        columns = next(columns for group, columns in self.blocks if group == [index])
        found = []
        for group in self._groups(columns):
            forms: dict[Numbers, PartitionSpec] = {}
            firsts = [self.variables[at].first_numbers() for at in group]
            for numbers in itertools.product(*firsts):
                part = self._part(index, group, numbers)
                if part is not None:
                    forms[numbers] = _with(self.base[index], part)
            found.append((group, forms))
        return found

    def _groups(self, columns: Sequence[int]) -> list[list[int]]:
        """Variables that write the same place of the engine's input."""
        places = [at for at in columns if self.variables[at].word in _PLACE]
        rest = [[at] for at in columns if at not in places]
        return [places, *rest] if places else rest

    def options(self, rows: Rows) -> tuple[Rows, NDArray[np.bool_]]:
        """The solver's number of each partition's form, and which rows are sound."""
        chosen = np.zeros((len(rows), len(self.base)), dtype=np.int64)
        sound = np.ones(len(rows), dtype=bool)
        if not len(rows):
            return chosen, sound
        for at, (partitions, columns) in enumerate(self.blocks):
            if not columns:
                continue
            found = self._of_block(at, rows[:, columns])
            table = [one or (0,) * len(partitions) for one in found]
            chosen[:, partitions] = np.array(table, dtype=np.int64)
            sound &= np.array([one is not None for one in found])
        return chosen, sound

    def _blocks(self) -> list[tuple[list[int], list[int]]]:
        """Partitions whose forms hang together, and the places of their variables."""
        alone: list[int] = []
        joint: list[int] = []
        shared_under_phyp = self.solver.spec["machine"]["hypervisor"]["policy"] == "phyp"
        for index, one in enumerate(self.base):
            placed = self.scenario.partitions[index]
            stays = placed.table.home is not None or _path(placed.name) in self.held
            own = (
                not self.solver.whole
                and shared_under_phyp
                and stays
                and one["processors"]["mode"] == "shared"
            )
            (alone if own else joint).append(index)
        self._alone = frozenset(alone)
        groups = [[index] for index in alone] + ([joint] if joint else [])
        return [
            (group, [at for at, one in enumerate(self.variables) if one.partition in group])
            for group in groups
        ]

    def _of_block(self, at: int, numbers: Rows) -> list[Numbers | None]:
        """Of a block, what `_made` says of each of these rows; new ones are made in their order."""
        keys = [(at, tuple(one)) for one in numbers.tolist()]
        for key in sorted({key for key in keys if key not in self._options}):
            self._options[key] = self._made(*key)
        return [self._options[key] for key in keys]

    def _made(self, at: int, numbers: Numbers) -> Numbers | None:
        """The solver's numbers of a block's forms; None for what cannot be."""
        partitions, columns = self.blocks[at]
        if not any(numbers):
            return (0,) * len(partitions)
        if isinstance(self.solver, Together):
            return self._as_whole(self.solver, columns, numbers)
        forms = (
            self._merged(partitions[0], columns, numbers)
            if partitions[0] in self._alone
            else self._loaded(partitions, columns, numbers)
        )
        if forms is None:
            return None
        pairs = zip(partitions, forms, strict=True)
        options = [
            0 if form == self.base[index] else self._number(index, form) for index, form in pairs
        ]
        return None if None in options else tuple(int(one or 0) for one in options)

    def _number(self, index: int, form: PartitionSpec) -> int | None:
        """The solver's number of a form: of a block most are those of other layouts, too. Under the
        same number it is known to stay as it is in the layout from which others are solved.
        """
        key = (index, json.dumps(form))
        if key not in self._alike:
            self._alike[key] = self.solver.add(index, form)
        return self._alike[key]

    def _merged(
        self, index: int, columns: Sequence[int], numbers: Numbers
    ) -> list[PartitionSpec] | None:
        """The form of one partition, put together from what each of its values changes."""
        form: Any = self.base[index]
        chosen = dict(zip(columns, numbers, strict=True))
        for group in self._groups(columns):
            part = self._part(index, group, tuple(chosen[at] for at in group))
            if part is None:
                return None
            form = _with(form, part)
        return [form] if self._fits(form) else None

    def _part(self, index: int, group: Sequence[int], numbers: Numbers) -> dict[str, Any] | None:
        """What values change of a partition's input; None where they cannot be."""
        if not any(numbers):
            return {}
        key = (group[0], numbers)
        if key not in self._parts:
            changes: dict[str, object] = {}
            for at, number in zip(group, numbers, strict=True):
                changes |= self.variables[at].changes(number)
            self._parts[key] = self._changed(index, changes)
        return self._parts[key]

    def _changed(self, index: int, changes: Mapping[str, object]) -> dict[str, Any] | None:
        """The same, read from a scenario with this partition alone: whether there is room for all
        is a matter of rules, not of forms.
        """
        loose = self._loosened(index, changes)
        form = self._form_alone(index, {**loose, **changes})
        if form is None:
            return None
        part = _different(self.base[index], form)
        part.pop("workload", None)  # of work told by cores, what was found
        for path in loose:
            part["processors"].pop(path.rpartition(".")[2], None)
        return part

    def _form_alone(self, index: int, changes: Mapping[str, object]) -> PartitionSpec | None:
        """The engine's input of a partition as it would be alone, with these values."""
        near = self._near_alone(index)
        quick = None if near is None else near.layout(changes, "advised")
        if quick is not None:
            return quick[0]["partitions"][0]
        try:
            return self._read_alone(index, changes).layout_spec()["partitions"][0]
        except ScenarioError as error:
            self._refuse(error)
            return None

    def _near_alone(self, index: int) -> Nearby | None:
        """Layouts near to that of a partition alone; None where it cannot be alone as it is."""
        if index not in self._nearby_alone:
            name = self.scenario.partitions[index].name
            named: dict[str, object] = {f"partition.{spelt(name)}.name": name}
            try:
                near = Nearby(self._alone_data(index, named), "scenario", self.scenario.folder)
            except (HomenodeError, ValueError):
                self._nearby_alone[index] = None
            else:
                self._nearby_alone[index] = near
        return self._nearby_alone[index]

    def _read_alone(self, index: int, changes: Mapping[str, object]) -> Scenario:
        text = to_toml(self._alone_data(index, changes))
        return Scenario.from_toml(text, folder=self.scenario.folder)

    def _alone_data(self, index: int, changes: Mapping[str, object]) -> dict[str, object]:
        """Tables of a partition by itself, with these values."""
        name = self.scenario.partitions[index].name
        held = {path: home for path, home in self.held.items() if path == _path(name)}
        data = changed(self._data, {**held, **changes}, "advised")
        tables: Any = data["partition"]
        alone: dict[str, object] = {key: data[key] for key in AROUND if key in data}
        alone["partition"] = [one for one in tables if one["name"] == name]
        return alone

    def _refuse(self, error: ScenarioError) -> None:
        """A layout that cannot be. The place is of a file that nobody has."""
        if self.unsound is None:
            told = str(error.problems[0])
            self.unsound = told.partition(f"{error.where}: ")[2] or told

    @functools.cached_property
    def _data(self) -> Mapping[str, object]:
        """The scenario's tables, which nobody may change."""
        return self.scenario.data

    def _loosened(self, index: int, changes: Mapping[str, object]) -> dict[str, object]:
        """What makes a single value possible, whose fit with others is looked at afterwards: as
        many virtual processors, or as much entitlement, as it needs.
        """
        (path, value), *others = changes.items()
        head, _, word = path.rpartition(".")
        processors: Any = self.base[index]["processors"]
        each, entitled, virtual = self._each, processors["entitlement"], processors["virtual"]
        if others or not isinstance(value, (int, float)):
            return {}
        if word == "entitlement":
            most = min(virtual, int(value / each + 1e-6))
            return {f"{head}.virtual": max(1, math.ceil(value), most)}
        if word == "virtual":
            fits = min(max(entitled, value * each), value)
            return {f"{head}.entitlement": round(fits + 0.0049, 2)}
        return {}

    @property
    def _each(self) -> float:
        """Least entitlement of a virtual processor [cores]."""
        hypervisor: Any = self.solver.spec["machine"]["hypervisor"]
        return float(hypervisor["min_entitlement_per_vp"])

    def _fits(self, form: Any) -> bool:
        """Whether entitlement and virtual processors fit each other."""
        processors = form["processors"]
        each = processors["entitlement"] / processors["virtual"]
        return bool(self._each - _LEAST_STEP <= each <= 1 + _LEAST_STEP)

    def _as_whole(
        self, solver: Together, columns: Sequence[int], numbers: Numbers
    ) -> Numbers | None:
        """The layout as one form of all partitions."""
        row = self.now()[0]
        row[[*columns]] = numbers
        # Work that is told by cores is found for the layout.
        quick = None if self.scenario.resolved.asked else self._near(row)
        try:
            if quick is None:
                spec = settled(self.applied(row)).spec()
                quick = spec, json.dumps(spec)
            number = solver.add_whole(*quick)
        except ScenarioError as error:
            self._refuse(error)
            return None
        return (number,) * len(self.base)

    def _near(self, row: Rows) -> tuple[Spec, str] | None:
        """The layout of a row, but for work that is told by cores, with no more read anew than what
        it changes; None for what cannot be, or has to be read as a whole.
        """
        return None if self._nearby is None else self._nearby.layout(self.changes(row), "advised")

    @functools.cached_property
    def _nearby(self) -> Nearby | None:
        """Layouts near to that of the scenario: each of several of a kind that may change has a
        table of its own. None where these would be other ones.
        """
        ones = [self.scenario.partitions[at] for at in {one.partition for one in self.variables}]
        kinds: dict[str, object] = {
            f"partition.{spelt(one.name)}.name": one.name for one in ones if _is_one_of(one)
        }
        if not self.held and not kinds:
            return Nearby.of(self.scenario)
        try:
            base = self.scenario.with_({**self.held, **kinds})
        except ScenarioError:
            return None
        found = base.playing(self.scenario.resolved.found)
        same = found.layout_spec()["partitions"] == self.scenario.layout_spec()["partitions"]
        return Nearby.of(base) if same else None

    def _loaded(
        self, partitions: Sequence[int], columns: Sequence[int], numbers: Numbers
    ) -> list[PartitionSpec] | None:
        """The forms of a block, from the scenario with all its values."""
        row = self.now()[0]
        for at, number in zip(columns, numbers, strict=True):
            row[at] = number
        try:
            quick = self._near(row)
            spec = self.applied(row).layout_spec() if quick is None else quick[0]
        except ScenarioError as error:
            self._refuse(error)
            return None
        forms: list[PartitionSpec] = []
        for index in partitions:
            workload = self.base[index]["workload"]  # of work told by cores, what was found
            forms.append({**spec["partitions"][index], "workload": workload})
        return forms


def held_homes(scenario: Scenario) -> dict[str, object]:
    """The homes of partitions that state none, as the hypervisor placed them: a partition that is
    not moved stays where it is, whatever becomes of the others.
    """
    machine = scenario.machine
    if machine.platform is not None or machine.hypervisor.policy != "phyp":
        return {}
    homes: dict[str, object] = {}
    for one in scenario.partitions:
        if one.table.home is None:
            homes[_path(one.name)] = [name_of_chip(chip, machine) for chip in one.home]
    try:
        same = scenario.with_(homes).layout_spec()["partitions"]
    except ScenarioError:
        return {}
    now = scenario.layout_spec()["partitions"]
    kept = {_path(one["name"]) for one, other in zip(now, same, strict=True) if one == other}
    return {path: home for path, home in homes.items() if path in kept}


def _is_one_of(one: PlacedPartition) -> bool:
    """Whether it is one of several of a kind; threads that do their input and output are none."""
    name = one.table.name
    return one.table.count > 1 and one.name.removeprefix(name).isdecimal()


def _path(name: str) -> str:
    """Where a partition's home stands."""
    return f"partition.{spelt(name)}.home"


def _different(base: Any, other: Any) -> dict[str, Any]:
    """The keys whose values differ, tables within tables."""
    found: dict[str, Any] = {}
    for key, value in other.items():
        before = base.get(key)
        if value == before:
            continue
        both = isinstance(value, dict) and isinstance(before, dict)
        found[key] = _different(before, value) if both else value
    return found


def _with(form: Any, part: Mapping[str, Any]) -> Any:
    changed = {**form}
    for key, value in part.items():
        inner = isinstance(value, dict) and isinstance(changed.get(key), dict)
        changed[key] = _with(changed[key], value) if inner else value
    return changed


def together(rows: Iterable[Rows]) -> Rows:
    """Rows of several neighbourhoods, each once, in their order."""
    joined = np.concatenate([*rows])
    _, first = np.unique(joined, axis=0, return_index=True)
    return joined[np.sort(first)]
