"""The two pieces of work in numbers, as in benches/src/load.rs, and what must come out of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

SERVERS = 64
SERVICE_NS = 1_000_000
ARRIVAL_NS = SERVICE_NS * 10 // (8 * SERVERS)
SLEEPERS = 90
VPS = 120
BURST_NS = 2_000_000
SLEEP_NS = 3_000_000
WINDOW_NS = 10_000_000
ENTITLED_NS = 4_000_000
ENDLESS_NS = 1 << 52

Counts = dict[str, float]


@dataclass(frozen=True)
class Answer:
    """One number of a program and what it must be."""

    name: str
    value: float
    expected: float
    tolerance: float

    @property
    def is_right(self) -> bool:
        """Whether it came out, but for chance."""
        return abs(self.value - self.expected) <= self.tolerance


def answers(work: str, counts: Counts) -> list[Answer]:
    """The figures of a piece of work, from the counts of all its runs together."""
    return _waits(counts) if work == "w1" else _dispatches(counts)


def _waits(counts: Counts) -> list[Answer]:
    """Erlang C; the error of the mean, as benches/src/load.rs has it, four times."""
    customers = counts["customers"]
    tolerance = 4 * 0.28 / sqrt(customers)
    return [Answer("mean wait [ms]", counts["wait_ns"] / customers / 1e6, 0.004379, tolerance)]


def _dispatches(counts: Counts) -> list[Answer]:
    """Bands as they hold from 60 simulated seconds on, wider for less."""
    elapsed_ns = counts["elapsed_ns"]
    wider = max(1.0, sqrt(60e9 / elapsed_ns))
    utilisation = counts["busy_ns"] / (SERVERS * elapsed_ns)
    ready_us = counts["ready_ns"] / counts["dispatches"] / 1e3
    return [
        Answer("utilisation", utilisation, 0.6266, 0.0005 * wider),
        Answer("ready time [us]", ready_us, 266.0, 2.0 * wider),
        Answer("wakes per slice", counts["wakes"] / counts["slices"], 1.609, 0.008 * wider),
        Answer("bursts per slice", counts["bursts"] / counts["slices"], 1.609, 0.008 * wider),
    ]
