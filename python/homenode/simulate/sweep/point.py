"""One point of a sweep simulated: its metrics and what they are in each replication. Interval
tables are added up in memory; none is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from homenode.errors import HomenodeError
from homenode.model.scenario import Scenario
from homenode.simulate.answers import Answer
from homenode.simulate.engine import load_engine
from homenode.simulate.kept.guests import tables_beside, with_guests
from homenode.simulate.kept.points import comes_from_outside
from homenode.simulate.kept.summarize import known_figures, with_gauges
from homenode.simulate.kept.sums import Columns, Held
from homenode.simulate.runner.job import Job, freeze
from homenode.simulate.runner.simulate import Outcome, Writer, simulate_all, simulate_each
from homenode.simulate.sweep.leaves import Leaves
from homenode.simulate.sweep.order import Order, key_of, key_of_job

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
                whole = parts[0]
                if len(parts) > 1:
                    whole = {one: b"".join(part[one] for part in parts) for one in whole}
                self._tables[name].append((self._index, whole))

    def abandon(self) -> None:
        self._parts.clear()


@dataclass(frozen=True)
class Ready:
    """A point that can be simulated, or what is said of one that cannot."""

    record: dict[str, Any]
    job: Job | None = None


@dataclass(frozen=True)
class Played:
    """A point that was simulated."""

    ready: Ready
    job: Job
    raw: list[Answer]
    held: Held


def read(base: Scenario, number: int, order: Order, leaves: Leaves) -> Ready:
    """A point, from its number to the engine's input."""
    job = leaves.job(number)
    try:
        if job is None:
            point = base.nth(number) if base.axes else base
            job = freeze(point, order.replications, order.seed, order.version, kept=False)
    except HomenodeError as error:
        told = {"number": number, "key": key_of(base.text, number, order.build)}
        # Wherever the scenario lies, the bytes are the same.
        why = str(error).replace(f"{base.folder}/", "")
        return Ready({**told, "run": "", "refused": why, "partitions": {}})
    key = key_of_job(job, order)
    return Ready({"number": number, "key": key, "run": job.id}, job)


def played(ready: Ready, threads: int, stop: threading.Event) -> Ready | Played | None:
    """The point simulated; None if it was stopped. One that has no answer says why."""
    engine, job = load_engine(), ready.job
    if job is None:
        return ready
    held: dict[str, list[tuple[int, Columns]]] = {
        name: [] for name in (*_ALWAYS, *tables_beside(job.spec))
    }
    try:
        outcome = _outcome(job, lambda index: _InMemory(held, index), threads, stop)
    except (engine.SpecError, engine.Runaway) as error:
        return Ready({**ready.record, "refused": str(error), "partitions": {}})
    if outcome.interrupted:
        stop.set()
        return None
    tables = {name: sorted(parts, key=lambda one: one[0]) for name, parts in held.items()}
    raw = [outcome.summaries[index] for index in job.replications]
    return Played(ready, job, raw, Held(tables))


def record_of(one: Ready | Played) -> dict[str, Any]:
    """What is kept of a point."""
    if isinstance(one, Ready):
        return one.record
    found = _partitions(one.job, one.raw, one.held)
    return {**one.ready.record, "refused": "", "partitions": found}


def _outcome(
    job: Job, writer: Callable[[int], Writer], threads: int, stop: threading.Event
) -> Outcome:
    if threads == 1:
        return simulate_each(load_engine(), job, writer, stop)
    return simulate_all(load_engine(), job, writer, threads, None, stop)


def _partitions(job: Job, raw: Sequence[Answer], held: Held) -> dict[str, Any]:
    """Each with its metrics, all that have a mean, as rows of numbers: names, means, half of their
    intervals, values by replication.
    """
    whole = with_guests(with_gauges(raw, held), held, job.spec)
    figured = known_figures(job.spec, whole, held, job.machine)
    found = {}
    for partition, (name, one) in zip(job.spec["partitions"], figured.items(), strict=True):
        found[name] = {
            "unsteady": one.unsteady,
            "offered": comes_from_outside(partition),
            "metrics": one.names,
            "mean": one.mean,
            "ci95": one.ci95,
            "values": one.values,
        }
    return found
