"""What the engine refuses, told where it stands in the scenario file and in the file's words.

Limits that only the engine knows have no second copy here: it is asked, before anything runs, and
its answer says where in the spec the number stands. From there the way leads back to the key that a
person wrote, or to the nearest table around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from homenode import _engine
from homenode.errors import ScenarioError
from homenode.model.catalog.profile_model import ENGINE_NAMES
from homenode.model.document import Document, Problems
from homenode.model.document.positions import Path
from homenode.model.scenario.loads import place_of_load
from homenode.model.scenario.placed import PlacedPartition, Resolved
from homenode.model.units import TIME

_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_UNITS = ("_ns", "_bytes", "_per_s", "_pct", "_hz", "_cycles")
_MACHINE: dict[str, Path] = {
    "caches": ("cache",),
    "memory_ns": ("memory",),
    "cache_to_cache_ns": ("cache_to_cache",),
    "stores": ("streams",),
    "streams": ("streams",),
    **dict.fromkeys(
        ("nodes", "chips_per_node", "cores_per_chip", "threads_per_core"), ("topology",)
    ),
}
_PARTITION: dict[Path, Path] = {
    ("data_bytes",): ("guest", "memory_used"),
    ("guest",): ("guest",),
    ("guest", "daemon_ns"): ("guest", "daemons", "work"),
    ("guest", "daemon_rate_per_s"): ("guest", "daemons", "rate"),
    ("guest", "gangs"): ("guest", "daemons", "gangs"),
    ("guest", "locks"): ("cp", "locks"),
    ("guest", "minor_slice_ns"): ("cp", "dispatcher", "minor_slice"),
    ("guest", "paging"): ("cp", "paging"),
    ("guest", "paging", "aliases"): ("paging", "aliases"),
    ("guest", "paging", "bytes"): ("paging", "size"),
    ("guest", "paging", "control_units"): ("paging", "control_units"),
    ("guest", "paging", "paths"): ("paging", "paths"),
    ("guest", "paging", "storage"): ("cp", "storage"),
    ("guest", "paging", "volumes"): ("paging", "volumes"),
    ("guest", "park_interval_ns"): ("cp", "dispatcher", "park_interval"),
    ("guest", "paths"): ("cp", "paths"),
    ("guest", "steal_barrier"): ("cp", "dispatcher"),
    ("guest", "steal_barrier", "far"): ("cp", "dispatcher", "steal_far"),
    ("guest", "steal_barrier", "local"): ("cp", "dispatcher", "steal_local"),
    ("guest", "steal_barrier", "near"): ("cp", "dispatcher", "steal_near"),
    ("home",): ("home",),
    ("interrupts",): ("interrupts",),
    ("interrupts", "domain"): ("interrupts", "on"),
    ("interrupts", "rate_per_s"): ("interrupts", "rate"),
    ("io_domain",): ("io",),
    ("io_threads",): ("kvm",),
    ("memory",): ("memory",),
    ("memory_policy",): ("guest", "memory_policy"),
    ("page_bytes",): ("guest", "page"),
    ("processors",): ("processors",),
    ("processors", "host"): ("processors",),
    ("processors", "host", "kvm"): ("kvm",),
    ("processors", "prsm"): ("processors",),
    ("smt",): ("smt",),
}
"""Where the steps of the spec below a partition lead in its table; those behind keep their names,
without their units.
"""
_PLAYED = {"instructions_per_s": "file", "lengths_ns": "file"}
_PROFILE = {engine: name for name, engine in ENGINE_NAMES.items()}


def check_limits(spec: str, resolved: Resolved, document: Document) -> None:
    """Ask the engine whether it can simulate the spec of a scenario; raises `ScenarioError` with
    the place of the first number that it cannot take.
    """
    try:
        _engine.check(spec)
    except _engine.SpecError as error:
        problems = Problems(document, ScenarioError)
        # Text that is no spec has no place in it.
        pointer = getattr(error, "at", "")
        path = place_of(pointer, resolved, document)
        what = _in_units(_told(error, pointer, path), pointer)
        what = _as_written(what, pointer, _path(pointer.split("/")[1:], resolved, document))
        if document.written(path):
            problems.add(path, there=what)
        else:
            problems.add(path, what, at_key=True)
        problems.raise_any()


def _told(error: _engine.SpecError, pointer: str, path: Path) -> str:
    """The refusal beside the value as written: the name of the number only if it is not the key."""
    field, steps = getattr(error, "field", ""), pointer.split("/")
    key = str(next((part for part in reversed(path) if part != "value"), ""))
    name = _bare(steps[-1])
    is_field = bool(field) and field.split(".") == steps[-field.count(".") - 1 :]
    if is_field and key and (key in name or name in key):
        return f"it must be {error.range}"
    return getattr(error, "what", str(error))


def _in_units(text: str, pointer: str) -> str:
    """Times in nanoseconds as people write them, where the number is one."""
    name = pointer.rpartition("/")[2]
    if not name.endswith("_ns"):
        return text
    return _NUMBER.sub(lambda number: TIME.format(int(number[0])), text.replace(name, _bare(name)))


def _as_written(text: str, pointer: str, path: Path) -> str:
    """The name of a rate as it is in the file, where its table leaves it out."""
    name = pointer.rpartition("/")[2]
    if not name.endswith("_per_s") or not path:
        return text
    return re.sub(rf"\b{name}\b", str(path[-1]), text)


def place_of(pointer: str, resolved: Resolved, document: Document) -> Path:
    """The path in the document of what stands at a JSON pointer into the spec, or of the nearest
    table around it.
    """
    path = _path(pointer.split("/")[1:], resolved, document)
    while path and path not in document.positions.spots:
        path = path[:-1]
    figure = (*path, "value")  # a number with its reason
    return figure if figure in document.positions.spots else path


def _path(steps: Sequence[str], resolved: Resolved, document: Document) -> Path:
    if not steps:
        return ()
    top, *rest = steps
    at = int(rest[0]) if rest and rest[0].isdecimal() else 0
    if top == "partitions" and rest:
        return _of_partition(resolved.partitions[at], rest[1:], document)
    if top == "pools" and rest:
        # The first is the default one; a mainframe's are its types. Neither stands in a table.
        return _rest("pool", at - 1, rest) if at and "pool" in document.data else ("machine",)
    if top == "groups" and rest:
        return _rest("group", at, rest)
    if top == "resource_pools" and rest:
        return _rest("resource_pool", at, rest)
    if top == "changes" and rest:
        return _rest("change", at, rest)
    if top == "cgroups" and rest:
        return _of_cgroup(at, rest, resolved, document)
    if top == "machine":
        return _of_machine(rest, document)
    return ("run", _bare(top)) if top.endswith("_ns") else (top.removesuffix("s"),)


def _rest(table: str, at: int, steps: Sequence[str]) -> Path:
    return (table, at, *(_bare(step) for step in steps[1:]))


def _bare(name: str) -> str:
    """A name of the spec without its unit."""
    return next((name.removesuffix(unit) for unit in _UNITS if name.endswith(unit)), name)


def _of_cgroup(at: int, steps: Sequence[str], resolved: Resolved, document: Document) -> Path:
    """A group of the file, or one that a partition has to itself."""
    tables = document.data.get("cgroup", ())
    if at < len(tables):
        return _rest("cgroup", at, steps)
    owner = resolved.cgroups[at].name.rpartition(".")[0]
    row = next((one.row for one in resolved.partitions if one.name == owner), 0)
    return ("partition", row, "processors", *(_bare(step) for step in steps[1:]))


def _of_machine(steps: Sequence[str], document: Document) -> Path:
    """A replaced number, by the last name that the file has of it too; else the whole machine."""
    if not steps:
        return ("machine",)
    inner = (*_MACHINE.get(steps[0], ()), *(_bare(step) for step in steps))
    wanted = set(inner)
    paths = [path for path in document.positions.spots if path[0] == "machine" and len(path) > 1]
    named = [path for path in paths if path[-1] in wanted]
    return max(named, key=len, default=("machine", *inner))


def _of_partition(partition: PlacedPartition, steps: Sequence[str], document: Document) -> Path:
    top: Path = ("partition", partition.row)
    if steps[:1] in (["profile"], ["workload"]):
        top = place_of_load(document, partition.row)
    elif steps[:1] == ["beside"] and len(steps) > 1:
        top, steps = place_of_load(document, partition.row, int(steps[1]) + 1), steps[2:]
    match steps:
        case ["guest", "machines" | "switches" as kind, number, *rest]:
            return (*top, *_member(partition, kind, int(number), rest))
        case ["guest", "machines"]:
            return (*top, "virtual_machine")
        case ["guest", "cpu_pools", number, *rest]:
            told = partition.table.cpu_pool[int(number)].capacity is None
            key = {"cores": "limit" if told else "capacity"}
            return (*top, "cpu_pool", int(number), *(key.get(step, step) for step in rest))
        case ["profile", *rest]:
            return (*top, "profile", *(_PROFILE.get(step, step) for step in rest))
        case ["workload", *rest]:
            return (*top, *(_PLAYED.get(step, _bare(step)) for step in rest))
    for length in range(len(steps), 0, -1):
        into = _PARTITION.get(tuple(steps[:length]))
        if into is not None:
            return (*top, *into, *(_bare(step) for step in steps[length:]))
    return top


def _member(partition: PlacedPartition, kind: str, number: int, steps: Sequence[str]) -> Path:
    """The table of a virtual machine or a switch of z/VM, of which there may be several of one
    table.
    """
    system = None if partition.mainframe is None else partition.mainframe.zvm
    if system is None:
        return ()
    tables: Sequence[object]
    one: object
    if kind == "machines":
        key, tables = "virtual_machine", partition.table.virtual_machine
        one = system.members.machines[number].table
    else:
        key, tables, one = "switch", partition.table.switch, system.members.switches[number].table
    at = next(at for at, other in enumerate(tables) if other is one)
    return (
        key,
        at,
        *({"maximum": "limit", "work": "workload"}.get(step, _bare(step)) for step in steps),
    )
