"""One point of a sweep simulated: its metrics and what they are in each replication. Interval
tables are added up in memory; none is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from homenode.errors import HomenodeError
from homenode.model.scenario import Scenario
from homenode.simulate.answers import Answer
from homenode.simulate.engine import load_engine
from homenode.simulate.kept.guests import tables_beside, with_guests
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.kept.points import comes_from_outside
from homenode.simulate.kept.summarize import replication_totals, summarize, with_gauges
from homenode.simulate.kept.sums import Columns, Held
from homenode.simulate.runner.job import Job, freeze
from homenode.simulate.runner.simulate import simulate_all
from homenode.simulate.sweep.order import Order, key_of

_ALWAYS = ("partition", "pool")


class _InMemory:
    """The interval tables of one replication that sums are asked of."""

    def __init__(self, tables: Mapping[str, list[tuple[int, Columns]]], index: int) -> None:
        self._tables = tables
        self._index = index
        self._parts: dict[str, list[Mapping[str, bytes]]] = {name: [] for name in tables}

    def add(self, tables: Mapping[str, Mapping[str, bytes]]) -> None:
        for name, columns in tables.items():
            if name in self._parts:
                self._parts[name].append(columns)

    def close(self) -> None:
        for name, parts in self._parts.items():
            if parts:
                whole = {one: b"".join(part[one] for part in parts) for one in parts[0]}
                self._tables[name].append((self._index, whole))

    def abandon(self) -> None:
        self._parts.clear()


def simulated(
    base: Scenario, number: int, order: Order, stop: threading.Event
) -> dict[str, Any] | None:
    """The record of a point; None if it was stopped. One that has no answer says why."""
    engine = load_engine()
    try:
        point = base.nth(number) if base.axes else base
        job = freeze(point, order.replications, order.seed, order.version, kept=False)
    except HomenodeError as error:
        told = {"number": number, "key": key_of(base.text, number, order.build)}
        # Wherever the scenario lies, the bytes are the same.
        why = str(error).replace(f"{base.folder}/", "")
        return {**told, "run": "", "refused": why, "partitions": {}}
    record = {
        "number": number,
        "key": key_of(job.spec_text, order.replications, order.build),
        "run": job.id,
    }
    held: dict[str, list[tuple[int, Columns]]] = {
        name: [] for name in (*_ALWAYS, *tables_beside(job.spec))
    }
    try:
        outcome = simulate_all(
            engine, job, lambda index: _InMemory(held, index), order.threads, None, stop
        )
    except (engine.SpecError, engine.Runaway) as error:
        return {**record, "refused": str(error), "partitions": {}}
    if outcome.interrupted:
        stop.set()
        return None
    tables = {name: sorted(parts, key=lambda one: one[0]) for name, parts in held.items()}
    raw = [outcome.summaries[index] for index in job.replications]
    return {**record, "refused": "", "partitions": _partitions(job, raw, Held(tables))}


def _partitions(job: Job, raw: Sequence[Answer], held: Held) -> dict[str, Any]:
    """Each with its metrics, all that have a value or a reason for none."""
    whole = with_guests(with_gauges(raw, held), held, job.spec)
    summary = summarize(job.id, job.spec, whole, held, job.machine)
    found = {}
    for index, (name, told) in enumerate(summary["partitions"].items()):
        known = [one for one in METRICS if told[one]["mean"] is not None]
        found[name] = {
            "unsteady": summary["steady"][name]["reason"],
            "offered": comes_from_outside(job.spec["partitions"][index]),
            "told": {one: told[one] for one in known},
            "values": _values(job, whole, index, known),
        }
    return found


def _values(
    job: Job, raw: Sequence[Answer], index: int, names: Sequence[str]
) -> dict[str, list[float | None]]:
    """Metrics of a partition by replication."""
    totals = replication_totals(job.spec, raw, index, job.machine)
    return {name: [METRICS[name].of(one) for one in totals] for name in names}
