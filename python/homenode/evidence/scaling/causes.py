"""What a transaction costs in each size, cause by cause, and which cause grows.

Processor time by the engine's books, gathered in a few kinds that a person can act on; they add up
to the processor time of a transaction. Beside it what a transaction waits for, which takes no
processor: pages and the dispatcher.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from homenode.model.spec import zvm_of
from homenode.simulate.kept.books import CAUSES
from homenode.simulate.run import Run

KINDS: Mapping[str, tuple[str, ...]] = {
    "instructions": ("useful", "tick"),
    "caches": ("l2", "l3", "l4", "reload", "translation", "store"),
    "shared lines": ("cache_chip", "cache_near", "cache_far"),
    "memory": ("memory_local", "memory_near", "memory_far"),
    "switch list": ("list",),
    "spin": ("spin",),
    "hypervisor": ("hypervisor",),
    "threads": ("smt", "guest_idle"),
}
"""Books of the engine by the kind they are told as."""
CLASSES = ("guest", "chargeable", "system")
"""Who the time is charged to: the guest itself, CP for a guest, CP for nobody."""


@dataclass(frozen=True)
class Costs:
    """Of one size, all for a transaction."""

    kinds: Mapping[str, float]
    """Processor time by kind [us]."""
    classes: Mapping[str, float]
    """The same by whom it is charged to [us]."""
    instructions: float | None
    response_ms: float | None
    """Request to answer, think time apart."""
    page_wait_ms: float | None
    """Its page reads by the time that one takes; None where nothing is paged."""
    servers_waiting: float | None
    """Share of the time that a server's virtual processor waits for a page read; None where nothing
    is paged."""
    dispatch_wait_us: Mapping[str, float]
    """Mean wait of a ready virtual processor, by role."""

    @property
    def total_us(self) -> float:
        """Processor time of a transaction [us]."""
        return math.fsum(self.kinds.values())


def costs_of(run: Run, partition: str) -> Costs | None:
    """What a transaction costs in a run; None if none was done."""
    metrics = {name: found.mean for name, found in run.metrics[partition].items()}
    rate = metrics.get("etr_per_s")
    if not rate:
        return None
    books = {cause.name: metrics.get(f"cores_{cause.name}") or 0.0 for cause in CAUSES}
    reading = _reading(run, partition, metrics)
    waits = {role: metrics.get(f"{role}_wait_us") for role in ("client", "server")}
    return Costs(
        kinds={
            kind: 1e6 * math.fsum(books[book] for book in books_of) / rate
            for kind, books_of in KINDS.items()
        },
        # A percent of a processor and a second of it are 10 ms, hence 1e4 us.
        classes={name: 1e4 * (metrics.get(f"{name}_busy_per_tx") or 0.0) for name in CLASSES},
        instructions=metrics.get("instructions_per_tx"),
        response_ms=metrics.get("response_ms_mean"),
        page_wait_ms=None if reading is None else 1e3 * reading / rate,
        servers_waiting=None if reading is None else reading / _servers(run, partition),
        dispatch_wait_us={role: wait for role, wait in waits.items() if wait is not None},
    )


def _reading(run: Run, partition: str, metrics: Mapping[str, float | None]) -> float | None:
    """Page reads on their way, on average: volumes x reads a second x response of one."""
    zvm = zvm_of(run.partition_spec(partition))
    paging = None if zvm is None else zvm.get("paging")
    rate, response = (metrics.get(name) for name in ("volume_io_per_s", "volume_resp_ms"))
    reads = metrics.get("volume_read_pct")
    if paging is None or not rate or response is None or reads is None:
        return None
    return float(paging["volumes"]) * rate * reads / 100.0 * response / 1e3


def _servers(run: Run, partition: str) -> int:
    """Virtual processors of servers, at least 1."""
    zvm = zvm_of(run.partition_spec(partition))
    machines = [] if zvm is None else zvm.get("machines", [])
    return sum(one["cpus"] for one in machines if one["role"] == "server") or 1


@dataclass(frozen=True)
class Growth:
    """One kind of time from one size to another."""

    kind: str
    before_us: float
    after_us: float
    share: float
    """Of all that grew between the two [0..1]; 0 for what fell."""

    @property
    def more_us(self) -> float:
        """What it costs more."""
        return self.after_us - self.before_us


def growth(before: Costs, after: Costs) -> list[Growth]:
    """Kinds of time from one size to another, what grew most first."""
    more = {kind: after.kinds[kind] - before.kinds[kind] for kind in KINDS}
    grown = math.fsum(value for value in more.values() if value > 0.0)
    found = [
        Growth(
            kind,
            before.kinds[kind],
            after.kinds[kind],
            max(more[kind], 0.0) / grown if grown > 0.0 else 0.0,
        )
        for kind in KINDS
    ]
    return sorted(found, key=lambda one: -one.more_us)
