"""W1 and W2 on cimba from Python: models compiled onto its C engine, written as events.

Events are its faster form: a process an actor costs it more than twice as much.
Times are in ns, as whole floating-point numbers, so that slices end with their window.
"""

from __future__ import annotations

from math import floor
from time import perf_counter

import cimba as cb
import measured
from cimba import inputs
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

RING = 4096


class Queue(cb.Model):
    """W1."""

    limit: cb.Param[int]
    interarrival: cb.Input[float] = inputs.dist.exponential(mean=ARRIVAL_NS)
    service: cb.Input[float] = inputs.dist.exponential(mean=SERVICE_NS)
    arrived: cb.Array[float] = cb.Array(RING)
    idle: int = SERVERS
    head: int = 0
    tail: int = 0
    events: int = 0
    served: int = 0
    waited: float = 0.0
    customers: cb.Output[int]
    wait_ns: cb.Output[float]

    @cb.on_start
    def start(self):
        cb.schedule(self.arrive, self.interarrival.next())

    @cb.event
    def arrive(self):
        cb.schedule(self.arrive, self.interarrival.next())
        if self.idle > 0:
            self.idle -= 1
            self.served += 1
            cb.schedule(self.done, self.service.next())
        else:
            self.arrived[self.tail % RING] = cb.now()
            self.tail += 1
        self.count()

    @cb.event
    def done(self):
        if self.head < self.tail:
            self.served += 1
            self.waited += cb.now() - self.arrived[self.head % RING]
            self.head += 1
            cb.schedule(self.done, self.service.next())
        else:
            self.idle += 1
        self.count()

    @cb.function
    def count(self) -> None:
        """Comes last in an event: what is scheduled after the end would still be run."""
        self.events += 1
        if self.events == self.limit:
            cb.end_trial()

    @cb.on_end
    def measure(self):
        self.customers = self.served
        self.wait_ns = self.waited


class Vp(cb.Model):
    """A virtual processor of W2: where its events arrive, for cimba's carry no argument."""

    host: cb.Ref[Host]
    index: cb.Param[int]
    rest: float = 0.0
    entitled: float = float(ENTITLED_NS)
    since: float = 0.0

    def attached(self, owner: cb.Model, field: str) -> None:
        self.host = owner

    @cb.event
    def wake(self):
        self.host.woken(self.index)

    @cb.event
    def burst_end(self):
        self.host.burst_over(self.index)

    @cb.event
    def slice_end(self):
        self.host.slice_over(self.index)


class Host(cb.Model):
    """W2. Slices run to their end, so they are charged when they begin."""

    limit: cb.Param[int]
    burst: cb.Input[float] = inputs.dist.exponential(mean=BURST_NS)
    sleep: cb.Input[float] = inputs.dist.exponential(mean=SLEEP_NS)
    vps: list[Vp]
    ready: cb.Array[int] = cb.Array(128)
    spent: cb.Array[int] = cb.Array(VPS)
    spent_count: int = 0
    idle: int = SERVERS
    head: int = 0
    tail: int = 0
    window_end: float = float(WINDOW_NS)
    events: int = 0
    busy: float = 0.0
    waited: float = 0.0
    elapsed_ns: cb.Output[float]
    busy_ns: cb.Output[float]
    ready_ns: cb.Output[float]
    dispatches: cb.Output[int]
    wakes: cb.Output[int]
    bursts: cb.Output[int]
    slices: cb.Output[int]

    @cb.on_start
    def start(self):
        cb.schedule(self.tick, float(WINDOW_NS), 1)
        for i in range(SLEEPERS):
            cb.schedule(self.vps[i].wake, 1.0 + floor(self.sleep.next()))
        for i in range(SLEEPERS, VPS):
            self.vps[i].rest = float(ENDLESS_NS)
            self.enqueue(i)
        self.fill_cores()

    @cb.event
    def tick(self):
        self.window_end = cb.now() + WINDOW_NS
        cb.schedule(self.tick, float(WINDOW_NS), 1)
        for i in range(VPS):
            self.vps[i].entitled = float(ENTITLED_NS)
        for i in range(self.spent_count):
            self.enqueue(self.spent[i])
        self.spent_count = 0
        self.fill_cores()

    @cb.function
    def woken(self, index: int) -> None:
        self.wakes += 1
        self.vps[index].rest = 1.0 + floor(self.burst.next())
        if self.vps[index].entitled > 0:
            self.enqueue(index)
            self.fill_cores()
        else:
            self.spent[self.spent_count] = index
            self.spent_count += 1
        self.count()

    @cb.function
    def burst_over(self, index: int) -> None:
        self.bursts += 1
        cb.schedule(self.vps[index].wake, 1.0 + floor(self.sleep.next()))
        self.idle += 1
        self.fill_cores()
        self.count()

    @cb.function
    def slice_over(self, index: int) -> None:
        self.slices += 1
        if self.vps[index].entitled > 0:
            self.enqueue(index)
        else:
            self.spent[self.spent_count] = index
            self.spent_count += 1
        self.idle += 1
        self.fill_cores()
        self.count()

    @cb.function
    def enqueue(self, index: int) -> None:
        self.vps[index].since = cb.now()
        self.ready[self.tail % 128] = index
        self.tail += 1

    @cb.function
    def fill_cores(self) -> None:
        while self.idle > 0 and self.head < self.tail:
            self.idle -= 1
            vp = self.vps[self.ready[self.head % 128]]
            self.head += 1
            length = min(vp.rest, vp.entitled, self.window_end - cb.now())
            vp.rest -= length
            vp.entitled -= length
            self.waited += cb.now() - vp.since
            self.busy += length
            self.dispatches += 1
            if vp.rest > 0:
                cb.schedule(vp.slice_end, length)
            else:
                cb.schedule(vp.burst_end, length)

    @cb.function
    def count(self) -> None:
        self.events += 1
        if self.events == self.limit:
            self.elapsed_ns = cb.now()
            self.busy_ns = self.busy
            self.ready_ns = self.waited
            cb.end_trial()


def run(model: cb.Model, seed: int, names: tuple[str, ...]) -> Counts:
    """Runs the model once on one thread; the clock includes cimba's own preparation of a run."""
    experiment = cb.Experiment(model, seed=seed)
    start = perf_counter()
    results = experiment.run(workers=1)
    wall_s = perf_counter() - start
    if results.failed.any():
        raise RuntimeError(str(results.failure_reasons))
    counts = {name: float(getattr(results[model], name)[0, 0]) for name in names}
    return {"events": float(model.limit), "wall_s": wall_s, **counts}


def w1(events: int, seed: int) -> Counts:
    model = Queue()
    model.limit = events
    return run(model, seed, ("customers", "wait_ns"))


def w2(events: int, seed: int) -> Counts:
    model = Host()
    model.limit = events
    vps = [Vp() for _ in range(VPS)]
    for index, vp in enumerate(vps):
        vp.index = index
    model.vps = vps
    counted = ("dispatches", "wakes", "bursts", "slices")
    return run(model, seed, ("elapsed_ns", "busy_ns", "ready_ns", *counted))


if __name__ == "__main__":
    measured.main(w1, w2, warm_up_events=1_000)
