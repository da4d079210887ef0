"""The machine of a scenario: a shipped or own description with some numbers replaced for a stated
reason.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path as FilePath
from typing import Any

from homenode.errors import HomenodeError, MachineError, ScenarioError, listed, suggestion
from homenode.model.catalog import MachineDescription, machines
from homenode.model.catalog.check import check_machine
from homenode.model.catalog.figure import Latency
from homenode.model.catalog.hosts import OPTIONAL, completed
from homenode.model.catalog.names import load_machine, machine, machine_document
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.document import Document, Problems, TomlTable, read_document, validate
from homenode.model.document.positions import Path
from homenode.model.scenario import sockets
from homenode.model.scenario.domains import divide
from homenode.model.scenario.file.machine import MachineChoice

_NOT_OVERRIDES = (
    *("model", "file", "policy", "active_cores", "placing", "characterized"),
    *sockets.WORDS,
)
_MAY_BE_ADDED: tuple[Path, ...] = (
    ("machine", "node_distance"),
    ("machine", "core_rate"),
    ("machine", "turbo"),
    ("machine", "memory", "quarter"),
    ("machine", "hypervisor", "run_time"),
    *(("machine", "hypervisor", name) for name in OPTIONAL),
)
"""Numbers that a description may leave out."""
_MADE: dict[str, MachineDescription] = {}
"""Shipped machines with replacements, by the table that says which."""
_MOST_MADE = 64
_FAR = ("local", "near", "far", "quarter")
"""Latencies of memory."""


def choose_machine(
    choice: MachineChoice, document: Document, folder: FilePath, problems: Problems
) -> MachineDescription | None:
    """The machine with the scenario's replacements, or None after noting what is wrong.

    Points of a sweep and layouts that are compared have the same: it is made once.
    """
    key = json.dumps(document.value(("machine",)), sort_keys=True, default=str)
    if choice.model is not None and key in _MADE:
        return _MADE[key]
    made = _chosen(choice, document, folder, problems)
    if made is not None and choice.model is not None:
        if len(_MADE) >= _MOST_MADE:
            _MADE.clear()
        _MADE[key] = made
    return made


def _chosen(
    choice: MachineChoice, document: Document, folder: FilePath, problems: Problems
) -> MachineDescription | None:
    base = _base_document(choice, folder, problems)
    if base is None:
        return None
    written = document.value(("machine",))
    replaced = {key: value for key, value in written.items() if key not in _NOT_OVERRIDES}
    before = len(problems)
    active = _active(choice, base, problems)
    if len(problems) > before:
        return None
    by_sockets = any(getattr(choice, word) is not None for word in sockets.WORDS)
    if not replaced and active is None and choice.policy is None and not by_sockets:
        return machine(choice.model) if choice.model is not None else load_machine(base)
    described = load_machine(base)  # its own mistakes are reported as its own
    data = copy.deepcopy(base.data)
    if "clock" in replaced:
        _keep_memory(data["memory"], described.clock.value)
    if "clock" in replaced and "turbo" not in replaced:
        data.pop("turbo", None)  # The clock that is told is kept, however many cores are busy.
    _set_policy(data, choice)
    active = sockets.set_sockets(data, choice, active, problems)
    if active is not None:
        data["topology"]["active_cores"] = {
            "value": active,
            "stated": "set by the scenario",
        }
    _merge(data, replaced, ("machine",), problems)
    if len(problems) > before:
        return None
    described = validate(MachineDescription, document, ScenarioError, data, ("machine",))
    if choice.nps not in (None, 1):
        divide(data, described, choice.nps, problems)
        described = validate(MachineDescription, document, ScenarioError, data, ("machine",))
    check_machine(described, problems, ("machine",))
    return described if len(problems) == before else None


def _keep_memory(memory: TomlTable, clock_hz: float) -> None:
    """Memory is as far in time with another clock of the cores: it has one of its own."""
    for name in _FAR:
        figure = memory.get(name)
        if figure is None:
            continue
        for key in ("value", "range"):
            told = figure.get(key)
            if isinstance(told, list):
                figure[key] = [_in_time(one, clock_hz) for one in told]
            elif told is not None:
                figure[key] = _in_time(told, clock_hz)


def _in_time(latency: object, clock_hz: float) -> object:
    """A latency in cycles as a time; any other as it is written."""
    read = Latency.read(latency)
    return f"{read.nanoseconds(clock_hz)!r} ns" if read.in_cycles else latency


def _set_policy(data: TomlTable, choice: MachineChoice) -> None:
    """Another hypervisor of a host, with its usual numbers; every number that may be replaced."""
    table = data.get("hypervisor", {})
    if table.get("policy") not in HOST_POLICIES:
        return  # refused where words are looked at
    if choice.policy not in (None, table["policy"]):
        table = {"policy": choice.policy}
    data["hypervisor"] = copy.deepcopy(completed(table))


def _active(choice: MachineChoice, base: Document, problems: Problems) -> int | None:
    """Activated cores, where the scenario says how many: those of a mainframe that are
    characterized.
    """
    hypervisor = base.data.get("hypervisor", {})
    types = "zvm" in base.data or hypervisor.get("policy") == "prsm"
    if choice.characterized is None or not types:
        return choice.active_cores
    total = sum(choice.characterized.values())
    path: Path = ("machine", "characterized")
    if total == 0:
        step = "write how many there are of which type, as { ifl = 20 }"
        problems.add(path, there="that makes no core at all", next_step=step)
        return choice.active_cores
    if choice.active_cores not in (None, total):
        there = f"that makes {total} cores, active_cores says {choice.active_cores}"
        problems.add(path, there=there, next_step="leave active_cores out")
    return total


def _base_document(choice: MachineChoice, folder: FilePath, problems: Problems) -> Document | None:
    if choice.model is not None:
        names = machines()
        if choice.model in names:
            return machine_document(choice.model)
        step = suggestion(choice.model, names, 'for one of your own write file = "mine.toml"')
        problems.add(("machine", "model"), there=f"the models are {listed(names)}", next_step=step)
        return None
    try:
        return read_document(folder / str(choice.file), MachineError)
    except HomenodeError as error:
        if error.where is not None:
            raise
        problems.add(("machine", "file"), there=error.problem, next_step=error.next_step)
        return None


def _merge(target: Any, changes: TomlTable, path: Path, problems: Problems) -> None:
    """Put the scenario's numbers in place of the description's."""
    for key, change in changes.items():
        here = (*path, key)
        entry = _entry(target, key)
        if entry is None and here in _MAY_BE_ADDED:
            entry = target[key] = {"value": None}
        if not isinstance(entry, (dict, list)):
            names = _names(target)
            step = suggestion(key, names, f"there is {listed(names, 20)}")
            problems.add_key(here, f"the machine has no number {key}", step)
        elif isinstance(entry, dict) and "value" in entry:
            _replace(entry, change, here, problems)
        elif isinstance(change, dict):
            _merge(entry, change, here, problems)
        else:
            step = f"name one of {listed(_names(entry), 20)} under it"
            problems.add(here, there="a table is needed here", next_step=step)


def _entry(target: Any, key: str) -> Any:
    if isinstance(target, list):
        return next((entry for entry in target if entry.get("name") == key), None)
    return target.get(key)


def _names(target: Any) -> list[str]:
    if isinstance(target, list):
        return [str(entry.get("name")) for entry in target]
    return [key for key, value in target.items() if isinstance(value, (dict, list))]


def _replace(entry: TomlTable, change: Any, path: Path, problems: Problems) -> None:
    """Put one number in place of the description's; it needs a reason."""
    keys = change if isinstance(change, dict) else {}
    for key in keys:
        if key not in ("value", "why"):
            step = "the keys here are value, why"
            problems.add_key((*path, key), f'unknown key "{key}"', step)
            return
    if "value" not in keys or not isinstance(keys.get("why"), str) or not keys["why"]:
        there = "a number of the machine is replaced by a value with a reason"
        step = 'write { value = ..., why = "the reason" }'
        problems.add(path, there=there, next_step=step)
        return
    entry.clear()
    entry.update({"value": keys["value"], "stated": keys["why"]})
