"""Whether two results may be compared: both measured by the same yardstick, or which part of it
differs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from homenode.errors import listed, nearest
from homenode.hosts.adapters.floating.programs import PROGRAMS as FLOATING
from homenode.hosts.adapters.integer.programs import PROGRAMS as INTEGER
from homenode.hosts.errors import MeasureError
from homenode.hosts.reduce import Measured, area_of
from homenode.hosts.result import Result

SETTINGS = ("gate", "affinity", "hosts")
"""Of a session, what changes its figures; how often it repeated does not."""
CASE = ("metric", "unit", "better", "seconds", "load_per_processor", "parameters", "load")
"""Of a case; beside it whether a repetition that is not recorded comes first (`warm_up`)."""
_PROGRAMS = {"integer": INTEGER, "floating": FLOATING}
"""Of adapters that tell the versions of many packages."""
HOST: Mapping[str, tuple[str, ...]] = {
    "processor": ("processors", "model"),
    "threads of a core": ("processors", "smt"),
    "kernel": ("kernel", "release"),
    "preemption": ("kernel", "preemption"),
    "scheduler": ("scheduler", "class", "value"),
    "HZ": ("scheduler", "hz", "value"),
    "governor": ("frequency", "governor"),
    "boost": ("frequency", "boost"),
    "turbo forbidden": ("frequency", "no_turbo"),
    "transparent huge pages": ("kernel", "transparent_huge_pages"),
    "kernel parameters": ("kernel", "parameters"),
    "hypervisor": ("virtualisation", "hypervisor"),
    "clock": ("clock",),
    "distribution": ("distribution",),
}
"""Of the environment, what is told where it differs: it belongs to what is compared."""


def differences(first: Measured, second: Measured, cases: Iterable[str]) -> list[str]:
    """What of the yardstick differs, each in a phrase with both values."""
    cases = list(cases)
    found = _by_key("suite", first.suite, second.suite, ("name",))
    found += _by_key("setting", first.settings, second.settings, SETTINGS)
    for case in cases:
        mine, theirs = (_yardstick(result.cases.get(case, {})) for result in (first, second))
        found += _by_key(case, mine, theirs, (*CASE, "warm_up"))
    for area in dict.fromkeys(area_of(case) for case in cases):
        told = (result.versions.get(area) for result in (first, second))
        found += _versions(area, *(_of_programs(area, one, first, cases) for one in told))
    return found


def _yardstick(case: Mapping[str, object]) -> dict[str, object]:
    """What of a case must be alike: where its load goes by the processors, not the load that comes
    of it on either host.
    """
    found = {"warm_up": False, **case}
    if found.get("load_per_processor") is not None:
        found["load"] = None
        parameters = _mapping(found.get("parameters"))
        found["parameters"] = {k: v for k, v in parameters.items() if k != "load"}
    return found


def _of_programs(
    area: str, version: str | None, result: Measured, cases: Iterable[str]
) -> str | None:
    """Of an adapter that tells the versions of many packages those of the cases' own programs."""
    programs = _PROGRAMS.get(area)
    if version is None or programs is None:
        return version
    asked = (
        _mapping(result.cases.get(case, {}).get("parameters")).get("program") for case in cases
    )
    packages = {programs[name].package for name in asked if name in programs}
    parts = [part for part in version.split(", ") if part.partition(" ")[0] in packages]
    return ", ".join(parts) or version


def _versions(area: str, first: str | None, second: str | None) -> list[str]:
    """A tool's versions, of several programs only those that differ."""
    if first == second:
        return []
    if first is None or second is None:
        return [f"version of {area}: {_shown(first)} and {_shown(second)}"]
    mine, theirs = first.split(", "), second.split(", ")
    ours = [part for part in mine if part not in theirs] or mine
    others = [part for part in theirs if part not in mine] or theirs
    return [f"version of {area}: {listed(ours, 4)} and {listed(others, 4)}"]


def refuse_differences(first: Measured, second: Measured, cases: Iterable[str]) -> None:
    """Raise for results that do not compare."""
    found = differences(first, second, cases)
    if found:
        raise MeasureError(
            f"the two results were not measured alike: {'; '.join(found[:8])}"
            + (f"; and {len(found) - 8} more" if len(found) > 8 else ""),
            next_step="measure one of them again with the other's versions and settings, or "
            "compare only what is alike with --only",
        )


def hosts_differ(first: Measured, second: Measured) -> list[str]:
    """What of the hosts differs, in phrases; it does not hinder."""
    # A session that names nothing tells of the kernel its version alone.
    short = any(result.environment.get("anonymous") is True for result in (first, second))
    sides = [_told(result.environment, short=short) for result in (first, second)]
    found = _by_key("", sides[0], sides[1], HOST)
    counts = [_online(result.environment) for result in (first, second)]
    if counts[0] != counts[1]:
        found.append(f"processors online: {counts[0]} and {counts[1]}")
    memory = [_memory_gib(result.environment) for result in (first, second)]
    if memory[0] != memory[1] and None not in memory:
        found.append(f"memory: {memory[0]} and {memory[1]} GiB")
    clients = [_mapping(result.environment.get("client")) for result in (first, second)]
    if all(clients):
        mine, theirs = (_told(client, short=short) for client in clients)
        found += [f"the client's {one}" for one in _by_key("", mine, theirs, HOST)]
    flaws = [_mapping(result.environment.get("mitigations")) for result in (first, second)]
    names = sorted(name for name in flaws[0] | flaws[1] if flaws[0].get(name) != flaws[1].get(name))
    if names:
        found.append(f"mitigations of {listed(names, 6)}")
    return found


def _told(environment: Mapping[str, object], *, short: bool) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, path in HOST.items():
        value: object = environment
        for key in path:
            value = _mapping(value).get(key)
        found[name] = value
    if short and isinstance(found["kernel"], str):
        found["kernel"] = ".".join(re.findall(r"\d+", found["kernel"])[:3])
    return found


def _online(environment: Mapping[str, object]) -> int | None:
    online = _mapping(environment.get("processors")).get("online")
    return len(online) if isinstance(online, list) else None


def _memory_gib(environment: Mapping[str, object]) -> int | None:
    """To a GiB, since kernels keep different amounts for themselves."""
    total = _mapping(environment.get("memory")).get("total_kib")
    return round(total / (1 << 20)) if isinstance(total, int) else None


def _mapping(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, Mapping) else {}


def _by_key(
    what: str, first: Mapping[str, object], second: Mapping[str, object], keys: Iterable[str]
) -> list[str]:
    return [
        f"{what} {key}: {_shown(first.get(key))} and {_shown(second.get(key))}".strip()
        for key in keys
        if first.get(key) != second.get(key)
    ]


def _shown(value: object) -> str:
    if value is None:
        return "not told"
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and "foreign_limit" in value:
        limit, steal = value["foreign_limit"], value.get("steal_limit")
        more = "" if steal is None else f", steal {100 * steal:g} %"
        return "off" if limit is None else f"{100 * limit:g} %{more}"
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 60 else f"{text[:57]}..."


def only_of(result: Result, only: Sequence[str]) -> Result:
    """A result with these cases or adapters alone; the whole one without a choice.

    Raises `MeasureError` for a name that it does not have.
    """
    if not only:
        return result
    every = [run.case for run in result.records]
    cases = set(chosen([*every, *result.cases], only, where="this result"))
    return replace(
        result,
        records=[run for run in result.records if run.case in cases],
        cases={name: about for name, about in result.cases.items() if name in cases},
        left_out=[one for one in result.left_out if one.get("case") in cases],
        failures=[one for one in result.failures if one.get("case") in cases],
    )


def chosen(cases: Iterable[str], only: Iterable[str], *, where: str = "both results") -> list[str]:
    """The cases that were asked for by name or by adapter; all without a choice."""
    there, wanted = list(dict.fromkeys(cases)), list(only)
    names = [*there, *dict.fromkeys(area_of(case) for case in there)]
    for name in wanted:
        if name not in names:
            raise MeasureError(
                f"there is no case {name} in {where}{nearest(name, names)}",
                next_step=f"name one of {listed(names)}" if len(names) <= 12 else None,
            )
    if not wanted:
        return there
    return [case for case in there if case in wanted or area_of(case) in wanted]
