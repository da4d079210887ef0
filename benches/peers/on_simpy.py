"""W1 and W2 on SimPy, in its own manner: a process a customer, a process a virtual processor."""

from __future__ import annotations

from collections.abc import Generator
from random import Random
from time import perf_counter
from typing import Any

import measured
import simpy
from load import (
    ARRIVAL_NS,
    BURST_NS,
    ENDLESS_NS,
    ENTITLED_NS,
    SERVERS,
    SERVICE_NS,
    SLEEP_NS,
    SLEEPERS,
    VPS,
    WINDOW_NS,
    Counts,
)

Steps = Generator[simpy.Event, Any, None]


class Queue:
    """W1: customers arrive, wait for a server, are served."""

    def __init__(self, events: int, seed: int) -> None:
        self.env = simpy.Environment()
        self.random = Random(seed)
        self.servers = simpy.Resource(self.env, SERVERS)
        self.end = self.env.event()
        self.left = events
        self.customers = 0
        self.wait_ns = 0
        self.env.process(self.arrivals())

    def draw(self, mean_ns: int) -> int:
        return int(self.random.expovariate(1.0) * mean_ns)

    def count(self) -> None:
        self.left -= 1
        if self.left == 0:
            self.end.succeed()

    def arrivals(self) -> Steps:
        while True:
            yield self.env.timeout(self.draw(ARRIVAL_NS))
            self.count()
            self.env.process(self.customer())

    def customer(self) -> Steps:
        arrived = self.env.now
        with self.servers.request() as server:
            yield server
            self.customers += 1
            self.wait_ns += self.env.now - arrived
            yield self.env.timeout(self.draw(SERVICE_NS))
        self.count()


class Host:
    """W2: virtual processors ask for a core, slice by slice."""

    def __init__(self, events: int, seed: int) -> None:
        self.env = simpy.Environment()
        self.random = Random(seed)
        self.cores = simpy.Resource(self.env, SERVERS)
        self.end = self.env.event()
        self.window = self.env.event()
        self.window_end = WINDOW_NS
        self.entitled = [ENTITLED_NS] * VPS
        self.left = events
        self.counts = dict.fromkeys(
            ("busy_ns", "ready_ns", "dispatches", "wakes", "bursts", "slices"), 0
        )
        # Made first, so that its time-outs come before the slices that end with the window.
        self.env.process(self.ticks())
        for vp in range(VPS):
            self.env.process(self.sleeper(vp) if vp < SLEEPERS else self.burst(vp, ENDLESS_NS))

    def draw(self, mean_ns: int) -> int:
        return 1 + int(self.random.expovariate(1.0) * mean_ns)

    def count(self, what: str) -> None:
        self.counts[what] += 1
        self.left -= 1
        if self.left == 0:
            self.end.succeed()

    def ticks(self) -> Steps:
        while True:
            yield self.env.timeout(WINDOW_NS)
            self.window_end = self.env.now + WINDOW_NS
            self.entitled = [ENTITLED_NS] * VPS
            over, self.window = self.window, self.env.event()
            over.succeed()

    def sleeper(self, vp: int) -> Steps:
        while True:
            yield self.env.timeout(self.draw(SLEEP_NS))
            self.count("wakes")
            yield from self.burst(vp, self.draw(BURST_NS))
            self.count("bursts")

    def burst(self, vp: int, rest: int) -> Steps:
        while True:
            while self.entitled[vp] == 0:
                yield self.window
            rest = yield from self.slice(vp, rest)
            if rest == 0:
                return
            self.count("slices")

    def slice(self, vp: int, rest: int) -> Generator[simpy.Event, Any, int]:
        since = self.env.now
        with self.cores.request() as core:
            yield core
            length = min(rest, self.entitled[vp], self.window_end - self.env.now)
            self.counts["ready_ns"] += self.env.now - since
            self.counts["dispatches"] += 1
            self.counts["busy_ns"] += length
            self.entitled[vp] -= length
            yield self.env.timeout(length)
        return rest - length


def w1(events: int, seed: int) -> Counts:
    queue = Queue(events, seed)
    start = perf_counter()
    queue.env.run(queue.end)
    wall_s = perf_counter() - start
    counts = {"customers": queue.customers, "wait_ns": queue.wait_ns}
    return {"events": events, "wall_s": wall_s, **counts}


def w2(events: int, seed: int) -> Counts:
    host = Host(events, seed)
    start = perf_counter()
    host.env.run(host.end)
    wall_s = perf_counter() - start
    return {"events": events, "wall_s": wall_s, "elapsed_ns": host.env.now, **host.counts}


if __name__ == "__main__":
    measured.main(w1, w2)
