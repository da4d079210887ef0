"""Whether two results may be compared: both measured by the same yardstick, or which part of it
differs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from homenode.errors import listed, nearest
from homenode.measure.errors import MeasureError
from homenode.measure.reduce import Measured, area_of

SETTINGS = ("gate", "affinity")
"""Of a session, what changes its figures; how often it repeated does not."""
CASE = ("metric", "unit", "better", "seconds", "warm_up", "parameters", "load")
"""Of a case."""
HOST: Mapping[str, tuple[str, ...]] = {
    "processor": ("processors", "model"),
    "threads of a core": ("processors", "smt"),
    "kernel": ("kernel", "release"),
    "preemption": ("kernel", "preemption"),
    "scheduler": ("scheduler", "class", "value"),
    "HZ": ("scheduler", "hz", "value"),
    "governor": ("frequency", "governor"),
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
        mine, theirs = first.cases.get(case, {}), second.cases.get(case, {})
        found += _by_key(case, mine, theirs, CASE)
    for area in dict.fromkeys(area_of(case) for case in cases):
        found += _by_key("version of", first.versions, second.versions, (area,))
    return found


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
    sides = [_told(result.environment) for result in (first, second)]
    found = _by_key("", sides[0], sides[1], HOST)
    counts = [_online(result.environment) for result in (first, second)]
    if counts[0] != counts[1]:
        found.append(f"processors online: {counts[0]} and {counts[1]}")
    flaws = [_mapping(result.environment.get("mitigations")) for result in (first, second)]
    names = sorted(name for name in flaws[0] | flaws[1] if flaws[0].get(name) != flaws[1].get(name))
    if names:
        found.append(f"mitigations of {listed(names, 6)}")
    return found


def _told(environment: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, path in HOST.items():
        value: Any = environment
        for key in path:
            value = _mapping(value).get(key)
        found[name] = value
    return found


def _online(environment: Mapping[str, Any]) -> int | None:
    online = _mapping(environment.get("processors")).get("online")
    return len(online) if isinstance(online, list) else None


def _mapping(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _by_key(
    what: str, first: Mapping[str, Any], second: Mapping[str, Any], keys: Iterable[str]
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
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 60 else f"{text[:57]}..."


def chosen(cases: Iterable[str], only: Iterable[str]) -> list[str]:
    """The cases that were asked for by name or by adapter; all without a choice."""
    there, wanted = list(dict.fromkeys(cases)), list(only)
    names = [*there, *dict.fromkeys(area_of(case) for case in there)]
    for name in wanted:
        if name not in names:
            raise MeasureError(
                f"there is no case {name} in both results{nearest(name, names)}",
                next_step=f"name one of {listed(names)}" if len(names) <= 12 else None,
            )
    if not wanted:
        return there
    return [case for case in there if case in wanted or area_of(case) in wanted]
