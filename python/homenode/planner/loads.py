"""Workloads of so many times as much: which of a workload's keys say how much comes, and what they
are then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from homenode.model.scenario import PlacedPartition
from homenode.model.scenario.file.cores import CoresTaken, Use
from homenode.model.scenario.file.mainframe import GuestCores, GuestTransactions, GuestUsers
from homenode.model.scenario.file.workload import (
    Barriers,
    Idle,
    Loops,
    Pairs,
    Transactions,
    Users,
    Warehouses,
)
from homenode.model.scenario.loads import load_names
from homenode.model.scenario.paths import spelt
from homenode.model.units import RATE

Grown = tuple[str, Callable[[float], object]]
"""The path of a key below its partition, and its value of so many times as much."""
_COUNTED = (Users, Loops, Warehouses, Pairs, Barriers)
_DIGITS = 6


def grown(one: PlacedPartition) -> Iterator[Grown]:
    """All keys of a partition that say how much is asked of it: rates, users, cores of demand,
    clients; nothing of work that has none of these, such as loops and recorded demand.
    """
    for place, load in _loads(one):
        found = _asked(load)
        if found is not None:
            yield f"{place}.{found[0]}", found[1]
    for machine in one.table.virtual_machine:
        place = f"virtual_machine.{spelt(machine.name)}"
        if machine.role == "client":
            yield f"{place}.count", _count(machine.count)
        told = None if machine.workload is None else _asked(machine.workload)
        if told is not None:
            yield f"{place}.workload.{told[0]}", told[1]


def divided(one: PlacedPartition, times: Fraction) -> dict[str, object] | None:
    """By path below the partition, its work so many times as much; None where it cannot be divided
    into equal parts, or there is none.
    """
    found: dict[str, object] = {}
    for place, load in _loads(one):
        rate = _rate(load)
        if rate is not None:
            found[f"{place}.rate"] = RATE.format(round(rate * float(times), _DIGITS))
        elif isinstance(load, _COUNTED) and (load.count * times).denominator == 1:
            found[f"{place}.count"] = int(load.count * times)
        elif not isinstance(load, Idle):
            return None
    return None if one.table.virtual_machine else found or None


def _loads(one: PlacedPartition) -> Iterator[tuple[str, object]]:
    """Each workload with its path."""
    loads = one.table.loads
    for name, load in zip(load_names(loads), loads, strict=True):
        yield f"workload.{spelt(name)}" if len(loads) > 1 else "workload", load


def _rate(load: object) -> float | None:
    return load.rate if isinstance(load, (Transactions, GuestTransactions, Pairs)) else None


def _asked(load: object) -> Grown | None:
    rate = _rate(load)
    if rate is not None:
        return "rate", lambda times: RATE.format(round(rate * times, 3))
    if isinstance(load, (Users, GuestUsers)):
        return "count", _count(load.count)
    if isinstance(load, (CoresTaken, GuestCores)):
        return _cores(load)
    return None


def _count(now: int) -> Callable[[float], object]:
    return lambda times: max(1, round(now * times))


def _cores(load: CoresTaken | GuestCores) -> Grown | None:
    """Of a schedule nothing where a file holds it."""
    use, busy, schedule = load.use, load.busy, load.schedule
    if use is not None:
        return "use", lambda times: _used(use, times)
    if busy is not None:
        return "busy", lambda times: _percent(busy * times)
    if schedule is None or any(part.file is not None for part in schedule):
        return None
    parts = [part.model_dump(by_alias=True, exclude_none=True) for part in schedule]

    def all_parts(times: float) -> list[dict[str, object]]:
        found = []
        for part, table in zip(schedule, parts, strict=True):
            more = {"use": _used(part.use, times)} if part.use is not None else {}
            if part.busy is not None:
                more = {"busy": _percent(part.busy * times)}
            found.append({**table, **more})
        return found

    return "schedule", all_parts


def _used(use: Use, times: float) -> str:
    if use.cores is not None:
        return f"{round(use.cores * times, _DIGITS):g}"
    return _percent((use.machine or 0.0) * times)


def _percent(share: float) -> str:
    return f"{100 * share:.8g} %"
