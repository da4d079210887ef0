"""What of a partition may be changed on the page, with bounds and units."""

from __future__ import annotations

from typing import Any

from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.scenario import PlacedPartition, Scenario
from homenode.model.scenario.file.processors import Shared
from homenode.model.scenario.paths import spelt
from homenode.planner.variables import home_of

_NO_HOME = {
    "prsm": "PR/SM places partitions by itself, by weight and memory",
    "dedicated": "cores are named one by one here: change processors in the scenario",
}
_NO_HOME_ELSE = "the host's scheduler chooses the processors here; pin partitions in the scenario"
_LOADS = {"rate": "Load", "users": "Users", "count": "How many"}
"""Keys of a workload that say how much it is."""
_MOST_VIRTUAL = 1024


def fields(scenario: Scenario, one: PlacedPartition, written: Any) -> list[dict[str, Any]]:
    """In the order in which people ask for them; `written` is the scenario's data."""
    head = f"partition.{spelt(one.name)}"
    found = [*_processors(scenario, one, head)]
    threads = [*range(1, scenario.machine.threads_per_core + 1)]
    if one.mainframe is None and len(threads) > 1:
        widths = [count for count in (1, 2, 4, 8) if count in threads]
        found.append(
            _field(f"{head}.smt", "Threads a core (SMT)", one.smt, "choice", choices=widths)
        )
    return [*found, *_load(written["partition"][one.row], head)]


def _processors(scenario: Scenario, one: PlacedPartition, head: str) -> list[dict[str, Any]]:
    told, cores = one.table.processors, scenario.machine.active_cores
    if not isinstance(told, Shared):
        if getattr(told, "cores", None) is None or scenario.machine.platform is not None:
            return []
        below = f"{head}.processors.cores"
        return [_field(below, "Cores", told.cores, "integer", least=1, most=cores, unit="cores")]
    found = []
    policy = scenario.machine.hypervisor.policy
    if told.entitlement is not None:
        below = f"{head}.processors.entitlement"
        found.append(
            _field(
                below,
                "Entitlement",
                told.entitlement,
                "number",
                least=0.05,
                most=float(cores),
                step=0.05,
                unit="cores",
            )
        )
    below = f"{head}.processors.virtual"
    found.append(
        _field(below, "Virtual processors", told.virtual, "integer", least=1, most=_MOST_VIRTUAL)
    )
    if policy not in HOST_POLICIES:
        found.append(_field(f"{head}.processors.capped", "Capped", told.capped, "flag"))
    if told.weight is not None:
        below = f"{head}.processors.weight"
        found.append(_field(below, "Weight", told.weight, "integer", least=0, most=65535))
    return found


def _load(table: Any, head: str) -> list[dict[str, Any]]:
    """How much work it has, where one number says it."""
    work = table.get("workload")
    if not isinstance(work, dict):
        return []
    key = next((key for key in _LOADS if key in work), None)
    if key is None:
        return []
    kind = "text" if isinstance(work[key], str) else "integer"
    below = f"{head}.workload.{key}"
    return [_field(below, _LOADS[key], work[key], kind, least=None if kind == "text" else 1)]


def _field(
    path: str,
    label: str,
    value: object,
    kind: str,
    *,
    choices: list[int] | None = None,
    least: float | None = None,
    most: float | None = None,
    step: float | None = None,
    unit: str | None = None,
) -> dict[str, Any]:
    return {
        "path": path,
        "label": label,
        "value": value,
        "kind": kind,
        "choices": choices,
        "min": least,
        "max": most,
        "step": step or (1 if kind == "integer" else None),
        "unit": unit,
        "why_not": None,
    }


def moves(scenario: Scenario, one: PlacedPartition) -> dict[str, Any]:
    """Where it may go."""
    told = home_of(scenario, one)
    if told is None:
        why = _NO_HOME.get(scenario.machine.hypervisor.policy, _NO_HOME_ELSE)
        return {"path": "", "at": None, "to": [], "why_not": why}
    at, places = told
    path = f"partition.{spelt(one.name)}.home"
    return {"path": path, "at": at, "to": [*places], "why_not": None}
