"""The Control Program of a partition: the shipped numbers, some replaced for a stated reason."""

from __future__ import annotations

import copy

from homenode.errors import ScenarioError, listed, suggestion
from homenode.model.catalog.control_program import (
    ControlProgram,
    control_program,
    control_program_document,
)
from homenode.model.catalog.figure import PROVENANCES
from homenode.model.document import Problems, validate
from homenode.model.document.positions import Path
from homenode.model.scenario.file.partition import Partition

_KEYS = ("value", "why", "range", *PROVENANCES)


def choose_control_program(table: Partition, row: int, problems: Problems) -> ControlProgram:
    """The numbers of z/VM in the partition of that row; the shipped ones after noting a problem."""
    if not table.cp:
        return control_program()
    path: Path = ("partition", row, "cp")
    data = copy.deepcopy(control_program_document().data)
    before = len(problems)
    _merge(data, table.cp, path, problems)
    if len(problems) > before:
        return control_program()
    return validate(ControlProgram, problems.document, ScenarioError, data, path)


def _merge(
    target: dict[str, object], changes: dict[str, object], path: Path, problems: Problems
) -> None:
    for key, change in changes.items():
        here = (*path, key)
        entry = target.get(key)
        if not isinstance(entry, dict):
            names = [name for name, value in target.items() if isinstance(value, dict)]
            step = suggestion(key, names, f"there is {listed(names, 20)}")
            problems.add_key(here, f"the Control Program has no number {key}", step)
        elif "value" in entry:
            _replace(entry, change, here, problems)
        elif isinstance(change, dict):
            _merge(entry, change, here, problems)
        else:
            step = f"write [partition.cp.{key}] and under it the numbers"
            problems.add(here, there="a table is needed here", next_step=step)


def _replace(entry: dict[str, object], change: object, path: Path, problems: Problems) -> None:
    """Put one number in place of the shipped one: with a reason, or with all its provenance."""
    keys = change if isinstance(change, dict) else {}
    unknown = [key for key in keys if key not in _KEYS]
    if unknown:
        step = f"the keys here are {listed(_KEYS)}"
        problems.add_key((*path, unknown[0]), f'unknown key "{unknown[0]}"', step)
    elif "value" not in keys or not any(keys.get(key) for key in ("why", *PROVENANCES)):
        there = "a number of the Control Program is replaced by a value with a reason"
        step = 'write { value = ..., why = "the reason" }'
        problems.add(path, there=there, next_step=step)
    else:
        entry.clear()
        entry.update({("stated" if key == "why" else key): value for key, value in keys.items()})
