"""Layouts of one scenario in which some values of partitions are others, one after the other.

Of each only what the values lead into is read, checked by itself and put into the engine's input
anew; what hangs on all partitions together (numbers, entitlements, places, sums, what the engine
refuses) is decided for each layout by the code that decides it of a file. A differential test holds
that against the reading of the whole text (`Scenario.with_`), which has the last word on what is
refused too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from homenode import _engine
from homenode.errors import HomenodeError
from homenode.model.catalog import MachineDescription
from homenode.model.document import Document, TomlTable, in_written_order
from homenode.model.scenario.asked import by_the_hour
from homenode.model.scenario.checked import CheckedTables
from homenode.model.scenario.file.scenario import ScenarioFile
from homenode.model.scenario.flatten import Flat, Ways, flatten
from homenode.model.scenario.known import Known
from homenode.model.scenario.mainframe.kinds import check_threads_alike
from homenode.model.scenario.paths import changed
from homenode.model.scenario.placed import Resolved
from homenode.model.scenario.resolve import resolve
from homenode.model.scenario.scenario import Scenario
from homenode.model.scenario.sought import check_find
from homenode.model.spec import MachineSpec, PartitionSpec, Spec


class Nearby:
    """Layouts near to that of a scenario, as the engine takes them."""

    def __init__(
        self, data: TomlTable, name: str, folder: Path, held: Sequence[object] = ()
    ) -> None:
        """Of tables without a sweep, which stay as they are. Work that is told as in `held` need
        not fit, as that of a scenario need not which others were changed from. Raises
        `HomenodeError`, or what reading raises, for what cannot be.
        """
        self._data, self._name, self._folder = data, name, folder
        self._tables, self._held = CheckedTables(data), held
        self._file, self._first = self._read(self._data, None)
        self._names = [one.name for one in self._first.partitions]
        # Threads that do a guest's input and output come after it, in its row.
        own = {one.row: one for one in reversed(self._first.partitions)}
        self._machines: dict[Ways, MachineSpec] = {}
        self._usual = {row: one.table for row, one in own.items()}
        self._profiles = {row: one.profile for row, one in own.items()}
        self._specs = self._flat(self._file, self._first, {})["partitions"]
        self._texts = {id(one): json.dumps(one) for one in (*self._specs, *self._machines.values())}

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        """Near to that of a scenario."""
        origin = scenario.origin or scenario
        held = [one.told for one in origin.resolved.asked.values()]
        return cls(scenario.data, scenario.name, scenario.folder, held)

    def layout(self, changes: Mapping[str, object], why: str) -> tuple[Spec, str] | None:
        """The engine's input with these values by path, and the same as JSON; work that is told by
        cores is none. None for what cannot be, or has to be read as a whole to be sure.
        """
        if not all(path.startswith("partition.") for path in changes):
            return None
        try:
            return self._layout({path: _as_toml(value) for path, value in changes.items()}, why)
        except (HomenodeError, ValidationError, _engine.SpecError):
            return None

    def _layout(self, changes: Mapping[str, object], why: str) -> tuple[Spec, str] | None:
        data = in_written_order(changed(self._data, changes, why))
        file, resolved = self._read(data, self._first.machine)
        if [one.name for one in resolved.partitions] != self._names:
            return None  # what else of the scenario names them is not looked at here
        spec = self._flat(file, resolved, self._same(resolved))
        text = self._text(spec)
        _engine.check(text)
        return spec, text

    def _read(
        self, data: TomlTable, machine: MachineDescription | None
    ) -> tuple[ScenarioFile, Resolved]:
        """With everything decided; on a machine that is known what was is not decided again."""
        told = {"name": self._name, **data}
        file = by_the_hour(ScenarioFile.model_validate(self._tables.in_place_of(told)))
        document = Document("scenario.toml", "", told)
        known = None if machine is None else self._known(file, machine)
        resolved = resolve(file, document, self._folder, held=self._held, known=known)
        check_find(file.find, resolved.partitions, document)
        check_threads_alike(file.partition, document)
        return file, resolved

    def _known(self, file: ScenarioFile, machine: MachineDescription) -> Known:
        """What is known of the tables that no value leads into."""
        pairs = [*enumerate(zip(file.partition, self._file.partition, strict=False))]
        usual = {row: self._usual[row] for row, (one, other) in pairs if one is other}
        profiles = {
            row: self._profiles[row]
            for row, (one, other) in pairs
            if one.workload.profile is other.workload.profile
        }
        return Known(machine, usual, profiles)

    def _same(self, resolved: Resolved) -> dict[int, PartitionSpec]:
        """By place, the engine's input of partitions of which nothing is another: neither of their
        own nor of what theirs refers to by number.
        """
        first = self._first
        refers = ("machine", "pools", "groups", "asked", "found")
        if any(getattr(resolved, name) != getattr(first, name) for name in refers):
            return {}
        pairs = enumerate(zip(resolved.partitions, first.partitions, strict=True))
        return {at: self._specs[at] for at, (one, other) in pairs if one == other}

    def _flat(
        self, file: ScenarioFile, resolved: Resolved, known: Mapping[int, PartitionSpec]
    ) -> Spec:
        return flatten(self._name, file.run, resolved, Flat(known, self._machines))

    def _text(self, spec: Spec) -> str:
        """As JSON: of partitions that are the same it was written before."""
        tables = [self._texts.get(id(one)) or json.dumps(one) for one in spec["partitions"]]
        written = {
            key: f"[{', '.join(tables)}]"
            if key == "partitions"
            else self._texts.get(id(value)) or json.dumps(value)
            for key, value in spec.items()
        }
        return f"{{{', '.join(f'{json.dumps(key)}: {text}' for key, text in written.items())}}}"


def _as_toml(value: object) -> object:
    """A value as it would come back from its text."""
    if isinstance(value, Mapping):
        return {key: _as_toml(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_toml(entry) for entry in value]
    return value
