"""`Scenario`: a scenario file that has been read, checked and frozen. Running it is not known on
this floor: see `homenode.simulate.scenario`.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from homenode.errors import HomenodeError, NotFoundError, ScenarioError, listed, nearest
from homenode.model.catalog import MachineDescription
from homenode.model.document import (
    Document,
    Problems,
    TomlTable,
    in_written_order,
    parse_document,
    read_text,
    to_toml,
    validate,
)
from homenode.model.scenario.advised import check_advise
from homenode.model.scenario.asked import by_the_hour
from homenode.model.scenario.checked import CheckedTables
from homenode.model.scenario.file.amounts import LONGEST_NAME
from homenode.model.scenario.file.find import Find
from homenode.model.scenario.file.scenario import Run, ScenarioFile
from homenode.model.scenario.flatten import flatten
from homenode.model.scenario.limits import check_limits
from homenode.model.scenario.mainframe.kinds import check_threads_alike
from homenode.model.scenario.paths import changed
from homenode.model.scenario.placed import PlacedPartition, Resolved
from homenode.model.scenario.resolve import resolve
from homenode.model.scenario.sought import check_find
from homenode.model.spec import Spec

_MOST_POINTS = 100_000
_BY_SWEEP = "set by the sweep"
_TOP = ("machine", "pool", "npartition", "group", "cgroup", "partition", "run")
"""Tables that a sweep may change."""


@dataclass(frozen=True)
class Scenario:
    """A partition layout with its workloads: loaded once, checked once, never changed.

    Make one with `load`, `from_toml` or `with_`. Two scenarios are equal if their texts are.
    """

    text: str
    """The file as given."""
    source: str
    """Name of the file in messages."""
    folder: Path = field(compare=False)
    """Where files that it names are looked for."""
    file: ScenarioFile = field(compare=False, repr=False)
    """Its tables."""
    resolved: Resolved = field(compare=False, repr=False)
    """Its machine, pools and partitions with everything decided."""
    point: Mapping[str, object] = field(default_factory=dict, compare=False)
    """Values of the axes if it is one point of a sweep."""
    origin: Self | None = field(default=None, compare=False, repr=False)
    """The scenario that it was changed from, on which its work takes the cores that are told."""
    edits: Mapping[str, object] = field(default_factory=dict, compare=False, repr=False)
    """What was set since, by path: see `changes`."""

    @classmethod
    def load(cls, path: str | Path, *, simulated: bool = True) -> Self:
        """Read a scenario file; whatever is wrong with it raises a `HomenodeError` that says
        where. Without `simulated` it may be one that can only be looked at.
        """
        path = Path(path)
        text = read_text(path, ScenarioError)
        return cls._read(text, str(path), path.parent, {}, simulated=simulated)

    @classmethod
    def from_toml(
        cls,
        text: str,
        source: str = "scenario.toml",
        folder: str | Path = ".",
        *,
        simulated: bool = True,
    ) -> Self:
        """A scenario from TOML text; `source` is its name in messages, `folder` where files it
        names are. See `load`.
        """
        place = folder if isinstance(folder, Path) else Path(folder)
        return cls._read(text, source, place, {}, simulated=simulated)

    @classmethod
    def _read(
        cls,
        text: str,
        source: str,
        folder: Path,
        point: Mapping[str, object],
        *,
        simulated: bool = True,
        origin: Self | None = None,
        edits: Mapping[str, object] | None = None,
    ) -> Self:
        document = parse_document(text, source, ScenarioError)
        file = validate(ScenarioFile, document, ScenarioError)
        made = cls._decided(
            file, document, folder, point, simulated=simulated, origin=origin, edits=edits
        )
        if text == document.text:
            return made
        return replace(made, text=text)  # as it came, with the line ends of its system

    @classmethod
    def _decided(
        cls,
        file: ScenarioFile,
        document: Document,
        folder: Path,
        point: Mapping[str, object],
        *,
        simulated: bool = True,
        origin: Self | None = None,
        edits: Mapping[str, object] | None = None,
    ) -> Self:
        """A scenario of tables that were read; what else is wrong with them raises."""
        file = by_the_hour(file)
        held = () if origin is None else [one.told for one in origin.resolved.asked.values()]
        resolved = resolve(file, document, folder, held=held)
        _check_sweep(file, document)
        check_find(file.find, resolved.partitions, document)
        tables = {one.name: one.table for one in resolved.partitions}
        check_advise(file.advise, tables, resolved.machine, document)
        of = (folder, file, resolved, dict(point), origin, dict(edits or {}))
        scenario = cls(document.text, document.file, *of)
        scenario.__dict__["_parsed"] = document.data  # what `_parsed` would read once more
        if simulated and file.sweep is None:  # of a sweep only the points are simulated
            check_threads_alike(file.partition, document)
            check_limits(scenario.layout_json, resolved, document)
        return scenario

    @property
    def name(self) -> str:
        """Its name: the one given, else that of the file as far as names are so."""
        if self.file.name is not None:
            return self.file.name
        stem = re.sub(r"[^A-Za-z0-9_.+-]", "-", Path(self.source).stem)
        return stem.lstrip("_.+-")[:LONGEST_NAME].rstrip("-.") or "scenario"

    @property
    def title(self) -> str | None:
        """One line on what it is about."""
        return self.file.title

    @property
    def machine(self) -> MachineDescription:
        """The machine, with the scenario's own numbers."""
        return self.resolved.machine

    @property
    def partitions(self) -> tuple[PlacedPartition, ...]:
        """The partitions, in the order of every result table."""
        return self.resolved.partitions

    def partition(self, name: str) -> PlacedPartition:
        """One partition by name."""
        names = [partition.name for partition in self.partitions]
        if name not in names:
            raise NotFoundError(
                f'{self.name} has no partition called "{name}"{nearest(name, names)}', asked=name
            )
        return self.partitions[names.index(name)]

    @property
    def timing(self) -> Run:
        """Warm-up, duration, interval, replications, seed."""
        return self.file.run

    @property
    def replications(self) -> int:
        """How often it asks to be repeated."""
        return self.file.run.replications

    @property
    def looks_for(self) -> Find | None:
        """What its table `[find]` asks for."""
        return self.file.find

    def spec(self, *, seed: int | None = None) -> Spec:
        """The engine's input as a dictionary. Raises `ScenarioError` while work that is told by the
        cores it takes has not been found; see `homenode.simulate.settle`.
        """
        spec: Spec = json.loads(self.spec_json())
        return spec if seed is None else {**spec, "seed": seed}

    def layout_spec(self) -> Spec:
        """The same to look at, not to simulate: work that is yet to be found is none."""
        return flatten(self.name, self.file.run, self.resolved)

    @functools.cached_property
    def layout_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.layout_spec())

    def playing(self, work: Mapping[str, tuple[float, ...]]) -> Self:
        """The same with the work [instructions/s], step by step, that is told by the cores it
        takes, by the keys of `resolved.asked`.
        """
        return replace(self, resolved=replace(self.resolved, found=dict(work)))

    def spec_json(self, *, seed: int | None = None) -> str:
        """The engine's input as JSON; see `spec`."""
        not_found = [name for name in self.resolved.asked if name not in self.resolved.found]
        if not_found:
            raise ScenarioError(
                f"{self.name}: the work of {listed(not_found, 4)} is told by the cores it takes",
                next_step="load it by homenode.load_scenario, which finds the work",
            )
        return self.layout_json if seed is None else json.dumps(self.spec(seed=seed))

    @property
    def data(self) -> TomlTable:
        """A copy of the file's data, as TOML has it."""
        return copy.deepcopy(self._parsed)

    @functools.cached_property
    def _parsed(self) -> TomlTable:
        """The same, which nobody may change: many points are made from one scenario."""
        return parse_document(self.text, self.source, ScenarioError).data

    def to_toml(self) -> str:
        """The scenario as TOML in one spelling; comments are lost."""
        return to_toml(self.data)

    def with_(
        self,
        changes: Mapping[str, object] | None = None,
        /,
        *,
        why: str = "changed from Python",
        **named: object,
    ) -> Self:
        """Another scenario with values replaced by path; None removes one.

        `scenario.with_({"partition.lpar1.processors.virtual": 20})` or, without quotes,
        `scenario.with_(partition__lpar1__processors__virtual=20)`. `why` is the reason given for
        machine numbers.
        """
        wanted = {
            **(changes or {}),
            **{key.replace("__", "."): value for key, value in named.items()},
        }
        return self._changed(wanted, why, self.point)

    def with_values(self, changes: Mapping[str, object], why: str) -> Self:
        """As `with_` of values that JSON has, and sooner: tables that no change leads into are not
        read once more.
        """
        with contextlib.suppress(HomenodeError, ValueError, TypeError, LookupError):
            return self._repeated(changes, why, self.point)
        return self._changed(changes, why, self.point)  # what is wrong is told by its own text

    def _changed(
        self, changes: Mapping[str, object], why: str, point: Mapping[str, object]
    ) -> Self:
        data = {"name": self.name, **changed(self._parsed, changes, why)}
        text, source, since = to_toml(data), self._source_of_changed, {**self.edits, **changes}
        origin = self.origin or self
        return self._read(text, source, self.folder, point, origin=origin, edits=since)

    def _repeated(
        self, changes: Mapping[str, object], why: str, point: Mapping[str, object]
    ) -> Self:
        """The same as `_changed` for values that TOML has: tables that no change leads into are
        not read once more. What is wrong raises anything.
        """
        data = in_written_order({"name": self.name, **changed(self._parsed, changes, why)})
        file = ScenarioFile.model_validate(self._checked.in_place_of(data))
        origin, since = self.origin or self, {**self.edits, **changes}
        document = Document(self._source_of_changed, to_toml(data), data)
        return self._decided(file, document, self.folder, point, origin=origin, edits=since)

    @property
    def changes(self) -> dict[str, object]:
        """In which values it differs from the scenario that it was changed from, by path; those of
        a sweep's axes stand in `point`.
        """
        told = {"sweep": None, **self.point}.items()
        since = [one for one in self.edits.items() if one not in told]
        if self.origin is None or not since:
            return {}
        was = self.origin.data
        return {path: value for path, value in since if _differs(was, path, value)}

    @property
    def _source_of_changed(self) -> str:
        return f"{self.source} (changed)"

    @functools.cached_property
    def _checked(self) -> CheckedTables:
        """Its tables, which points have but for what their axes touch."""
        return CheckedTables(self._parsed)

    @property
    def axes(self) -> dict[str, list[object]]:
        """The axes of its sweep; empty if there is none."""
        return dict(self.file.sweep or {})

    def expand(self) -> Iterator[Self]:
        """The scenarios of the sweep, the last axis changing fastest; only itself if there is no
        sweep.

        All keep the name, and with it their random numbers: two points of a sweep see the same
        arrivals.
        """
        if not self.axes:
            yield self
            return
        for number in range(self.points):
            yield self.nth(number)

    @property
    def points(self) -> int:
        """How many points its sweep has; 1 if there is none."""
        return math.prod(len(values) for values in self.axes.values())

    def values_of(self, number: int) -> dict[str, object]:
        """The values of the axes at the point of a number, from 0 on, in the order of `expand`."""
        point: dict[str, object] = {}
        for axis, values in reversed(self.axes.items()):
            number, at = divmod(number, len(values))
            point[axis] = values[at]
        return dict(reversed(point.items()))

    def nth(self, number: int) -> Self:
        """The scenario of that point."""
        point = self.values_of(number)
        changes = {"sweep": None, **point}
        with contextlib.suppress(HomenodeError, ValidationError):
            return self._repeated(changes, _BY_SWEEP, point)
        try:  # what is wrong is told by the point's own text
            return self._changed(changes, _BY_SWEEP, point)
        except ScenarioError as error:
            raise self._at_axis(point, error) from error

    def _at_axis(self, point: Mapping[str, object], error: ScenarioError) -> ScenarioError:
        """What is wrong with a point, told at the axis whose value alone is wrong too; as it is
        where the axes are wrong only together.
        """
        document = parse_document(self.text, self.source, ScenarioError)
        for axis, value in point.items():
            try:
                self._changed({"sweep": None, axis: value}, _BY_SWEEP, {})
            except ScenarioError as alone:
                return ScenarioError(
                    f'sweep: "{axis}" = {value}: {alone.problem}',
                    asked=alone.asked,
                    there=alone.there,
                    where=document.where(("sweep", axis)),
                    next_step=alone.next_step,
                )
        return error


def _differs(data: TomlTable, path: str, value: object) -> bool:
    """Whether another value stands at a path, or none."""
    try:
        return changed(data, {path: value}, _BY_SWEEP) != data
    except HomenodeError:  # what is meant is not there
        return True


def _check_sweep(file: ScenarioFile, document: Document) -> None:
    """Every axis names a place that can be changed, and has values."""
    if file.sweep is None:
        return
    problems = Problems(document, ScenarioError)
    points = 1
    for axis, values in file.sweep.items():
        path = ("sweep", axis)
        points *= len(values)
        if not values:
            problems.add(
                path,
                there="the axis has no values",
                next_step="name at least one, or leave the axis out",
            )
            continue
        if axis.split(".", 1)[0] not in _TOP:
            step = 'write an axis like "partition.lpar1.processors.virtual" = [10, 20, 30]'
            problems.add_key(path, f'"{axis}" is no path into the scenario', step)
            continue
        try:
            changed(document.data, {axis: values[0]}, _BY_SWEEP)
        except HomenodeError as error:
            problems.add_key(path, error.problem, error.next_step or error.there or "")
    if points > _MOST_POINTS:
        there = f"the axes make {points:,} runs"
        problems.add(
            ("sweep",),
            there=there,
            next_step=f"at most {_MOST_POINTS:,} are possible; use fewer values",
        )
    problems.raise_any()


def load(path: str | Path) -> Scenario:
    """Read and check a scenario file: the second of the six stops from the command line to the
    engine.
    """
    return Scenario.load(path)
