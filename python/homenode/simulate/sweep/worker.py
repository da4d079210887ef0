"""Who works points off, wherever he is."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from homenode.errors import HomenodeError
from homenode.model.scenario import Scenario
from homenode.simulate.engine import build
from homenode.simulate.sweep.leaves import Leaves
from homenode.simulate.sweep.order import AnyOrder, Done, Order, Reply, RunsOrder, key_of, line_of
from homenode.simulate.sweep.point import Played, Ready, played, read, record_of
from homenode.simulate.sweep.replicated import replicated

_AT_ONCE = 16
"""Points that are read before the first of them is simulated."""


class Worker(Protocol):
    """Works off numbers of one order."""

    def work(self, numbers: Sequence[int], stop: threading.Event) -> tuple[Done, ...]:
        """These, until someone stops it."""
        ...


def worker_of(order: AnyOrder) -> Worker:
    """The worker of an order, of points or of whole runs."""
    return RunsWorker(order) if isinstance(order, RunsOrder) else PointsWorker(order)


class PointsWorker:
    """Works off points of one sweep."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self._files = tempfile.TemporaryDirectory() if not order.folder else None
        folder = Path(order.folder or self._files.name)  # type: ignore[union-attr]
        if self._files is not None:
            for name, content in order.files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
        # By its place, beside which work that was found is kept.
        self.scenario = Scenario.from_toml(order.text, str(folder / order.source), folder)
        self._leaves = Leaves(self.scenario, order)

    def work(self, numbers: Sequence[int], stop: threading.Event) -> tuple[Done, ...]:
        """These points, until someone stops it."""
        found: list[Done] = []
        for at in range(0, len(numbers), _AT_ONCE):
            some = numbers[at : at + _AT_ONCE]
            done = list(self._done(some, stop))
            found += done
            if len(done) < len(some):
                break
        return tuple(found)

    def _done(self, numbers: Sequence[int], stop: threading.Event) -> Iterator[Done]:
        """A few points at once: all are read, simulated, put into figures, since each of the three
        takes half as long beside its like as right after the others.
        """
        ready = [read(self.scenario, number, self.order, self._leaves) for number in numbers]
        ended: list[Ready | Played] = []
        for one in ready:
            done = None if stop.is_set() else played(one, self.order.threads, stop)
            if done is None:
                break
            ended.append(done)
        yield from map(_done, map(record_of, ended))


class RunsWorker:
    """Works off replications of whole runs."""

    def __init__(self, order: RunsOrder) -> None:
        self.order = order

    def work(self, numbers: Sequence[int], stop: threading.Event) -> tuple[Done, ...]:
        """These replications, until someone stops it."""
        found: list[Done] = []
        for number in numbers:
            at, index = self.order.replication(number)
            record = None if stop.is_set() else replicated(self.order.specs[at], index, stop)
            if record is None:
                break
            key = key_of(self.order.specs[at], index, self.order.build)
            found.append(replace(_done({"number": index, "key": key, **record}), number=number))
        return tuple(found)


def _done(record: Mapping[str, Any]) -> Done:
    """A record in its one spelling."""
    return Done(int(record["number"]), str(record["key"]), line_of(record))


def reply_to(worker: Worker, batch: Sequence[int], stop: threading.Event) -> Reply:
    """A batch worked off."""
    began = time.monotonic()
    try:
        done = worker.work(batch, stop)
    except HomenodeError as error:
        step = error.next_step or "mend that"
        return Reply(_here(), build(), error=f"ends: {error.problem}", next_step=step)
    return Reply(_here(), build(), done, time.monotonic() - began)


def refusal(engine: str) -> Reply | None:
    """What a worker answers that has another engine than the sweep."""
    own = build()
    if own == engine:
        return None
    return Reply(_here(), own, error=f"has engine {own}, the sweep is of {engine}")


def _here() -> str:
    return f"{socket.gethostname()}, process {os.getpid()}"
