"""Who works points off, wherever he is."""

from __future__ import annotations

import json
import os
import socket
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from homenode.model.scenario import Scenario
from homenode.simulate.sweep.order import Done, Order, Reply, build
from homenode.simulate.sweep.point import simulated


class Worker:
    """Works off points of one order."""

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

    def work(self, numbers: Sequence[int], stop: threading.Event) -> tuple[Done, ...]:
        """These points, until someone stops it."""
        found: list[Done] = []
        for number in numbers:
            record = None if stop.is_set() else simulated(self.scenario, number, self.order, stop)
            if record is None:
                break
            line = json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
            found.append(Done(number, str(record["key"]), line.encode() + b"\n"))
        return tuple(found)


def reply_to(worker: Worker, batch: Sequence[int], stop: threading.Event) -> Reply:
    """A batch worked off."""
    began = time.monotonic()
    done = worker.work(batch, stop)
    return Reply(_here(), build(), done, time.monotonic() - began)


def refusal(engine: str) -> Reply | None:
    """What a worker answers that has another engine than the sweep."""
    own = build()
    if own == engine:
        return None
    return Reply(_here(), own, error=f"has engine {own}, the sweep is of {engine}")


def _here() -> str:
    return f"{socket.gethostname()}, process {os.getpid()}"
