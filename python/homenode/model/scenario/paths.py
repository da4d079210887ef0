"""Changing a scenario's document by dotted paths: `partition.lpar1.processors.virtual`.

Partitions, pools and cache levels are named in a path by their name (or their index), one of
several partitions of a kind (`count`) by the name that it gets; a name with a dot in it stands in
quotes, as in TOML. A machine's number that is replaced gets the reason it needs by itself.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import get_args, get_origin

from homenode.errors import ScenarioError, listed, nearest
from homenode.model.catalog import Figure
from homenode.model.catalog.control_program import ControlProgram
from homenode.model.catalog.machine_model import MachineDescription
from homenode.model.document.positions import split_key
from homenode.model.document.table import Table
from homenode.model.scenario.loads import load_names

_PLAIN_MACHINE_KEYS = (
    *("model", "file", "policy", "active_cores", "placing", "characterized"),
    *("sockets", "cores_per_socket", "threads", "nps"),
)


def spelt(name: str) -> str:
    """A name as a path writes it: in quotes where there is a dot in it."""
    return json.dumps(name, ensure_ascii=False) if "." in name else name


def changed(
    data: Mapping[str, object], changes: Mapping[str, object], reason: str
) -> dict[str, object]:
    """A scenario's data with the values at the paths replaced; None removes a key. What no path
    leads into is that of the data itself.
    """
    result = dict(data)
    for path, value in changes.items():
        if value is not None and not _is_plain(value):
            step = "give a number, a text, true or false, or lists and tables of these"
            raise ScenarioError(f"{path} cannot be {value!r:.60}", next_step=step)
        _set(result, path, copy.deepcopy(value), reason)
    return result


def _is_plain(value: object) -> bool:
    """Whether a value is of a kind that TOML has."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(entry) for key, entry in value.items())
    if isinstance(value, (list, tuple)):
        return all(_is_plain(entry) for entry in value)
    return isinstance(value, (str, int, float))


def _set(data: dict[str, object], text: str, value: object, reason: str) -> None:
    parts = split_key(text)
    if not parts:
        raise ScenarioError(
            f'"{text}" is no path', next_step="write one like partition.lpar1.processors.virtual"
        )
    if _is_figure(parts) and value is not None and not isinstance(value, Mapping):
        value = {"value": value, "why": reason}
    here: object = data
    for depth, part in enumerate(parts[:-1]):
        here = _step(here, part, ".".join(parts[:depth]), text)
    _put(here, parts[-1], value, text)


def _is_figure(parts: tuple[str, ...]) -> bool:
    """Whether a path names a number of the machine description or of z/VM's Control Program, which
    needs a reason.
    """
    top, *rest = parts
    if top == "partition" and len(rest) > 1 and rest[1] == "cp":
        return _is_in(ControlProgram, rest[2:])
    if top != "machine" or not rest or rest[0] in _PLAIN_MACHINE_KEYS:
        return False
    if rest[0] == "cache":
        return len(rest) == 3
    return _is_in(MachineDescription, rest)


def _is_in(top: type[Table], parts: Sequence[str]) -> bool:
    """Whether the keys lead from a table to a number of it."""
    tables: list[type[Table]] = [top]
    for part in parts:
        fields = [table.model_fields[part] for table in tables if part in table.model_fields]
        if not fields:
            return False
        tables = [table for field in fields for table in _tables_of(field.annotation)]
    return not tables


def _tables_of(kind: object) -> list[type[Table]]:
    """The tables that a value of a kind may be, such as those of a union or of an optional one."""
    if isinstance(kind, type) and issubclass(kind, Table):
        return [] if issubclass(kind, Figure) else [kind]
    if get_origin(kind) in (list, dict):
        return []
    return [table for part in get_args(kind) for table in _tables_of(part)]


def _step(here: object, part: str, before: str, text: str) -> object:
    """One step down a path, into a copy that takes the place of what was there."""
    if isinstance(here, list):
        index = _index(here, part, before, text)
        here[index] = copy.copy(here[index])
        return here[index]
    if isinstance(here, dict):
        entry = here.get(part, {})
        if isinstance(entry, str) and part == "profile":
            entry = {"base": entry}
        here[part] = copy.copy(entry)
        return here[part]
    raise ScenarioError(
        f'the path "{text}" goes below {before}, which is a plain value',
        next_step="shorten the path",
    )


def _index(tables: list[object], part: str, before: str, text: str) -> int:
    names = [
        str(table.get("name")) if isinstance(table, dict) else str(index)
        for index, table in enumerate(tables)
    ]
    if before.startswith("partition.") and before.endswith(".workload"):
        names = load_names(tables)
    if part in names:
        return names.index(part)
    if part.isdecimal() and int(part) < len(tables):
        return int(part)
    if before == "partition" and _part_from_its_kind(tables, part):
        return _index(tables, part, before, text)
    raise ScenarioError(
        f'the path "{text}" names no {before}{nearest(part, names)}',
        asked=part,
        there=f"there is {listed(names)}",
    )


def _part_from_its_kind(tables: list[object], name: str) -> bool:
    """Where a name is that of one of several of a kind (`count`), make each of them a table of its
    own, with the name and the number that it has anyway.
    """
    for row, table in enumerate(tables):
        count = table.get("count", 1) if isinstance(table, dict) else 1
        if not isinstance(table, dict) or not isinstance(count, int) or count < 2:
            continue
        names = [f"{table.get('name')}{copy_number + 1}" for copy_number in range(count)]
        if name not in names:
            continue
        tables[row : row + 1] = [_alone(table, one, at) for at, one in enumerate(names)]
        return True
    return False


def _alone(table: dict[str, object], name: str, at: int) -> dict[str, object]:
    found = {**table, "name": name}
    del found["count"]
    number = table.get("number")
    return {**found, "number": number + at} if isinstance(number, int) else found


def _put(here: object, part: str, value: object, text: str) -> None:
    if isinstance(here, list):
        index = _index(here, part, "entry", text)
        if value is None:
            del here[index]
        else:
            here[index] = value
    elif isinstance(here, dict):
        if value is None:
            here.pop(part, None)
        else:
            here[part] = value
    else:
        raise ScenarioError(
            f'the path "{text}" goes below a plain value', next_step="shorten the path"
        )
