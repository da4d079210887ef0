"""W1 and W2 as a loop that a Python user writes himself and lets Numba compile.

A 4-ary heap of packed (time, id) keys as in benches/src/bare, in arrays; Numba's own generator.
"""

from __future__ import annotations

from time import perf_counter

import measured
import numpy as np
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
from numba import njit

NEVER = np.iinfo(np.int64).max
# Index of the root: the children of i are 4i - 8 to 4i - 5, each four begin at a multiple of four.
ROOT = 3
ID_BITS = 8
ID_MASK = (1 << ID_BITS) - 1
RING = 1 << 12

WAKE, BURST_END, ENTITLEMENT_END, WINDOW_END = range(4)
# Counters of W2, by position.
BUSY, READY, DISPATCHES, WAKES, BURSTS, SLICES, ELAPSED = range(7)


@njit
def rise(keys, place, key):
    while place > ROOT:
        parent = place // 4 + 2
        if keys[parent] <= key:
            break
        keys[place] = keys[parent]
        place = parent
    keys[place] = key


@njit
def fill(keys, end, key):
    """Fills the root: the hole sinks along the least children to a leaf, then the key rises."""
    place = ROOT
    while True:
        first = 4 * place - 8
        if first >= end:
            break
        a = first if keys[first] <= keys[first + 1] else first + 1
        b = first + 2 if keys[first + 2] <= keys[first + 3] else first + 3
        least = a if keys[a] <= keys[b] else b
        keys[place] = keys[least]
        place = least
    rise(keys, place, key)


@njit
def pop(keys, end):
    """Removes the root; the new end."""
    end -= 1
    last = keys[end]
    keys[end] = NEVER
    if end > ROOT:
        fill(keys, end, last)
    return end


@njit
def draw(mean_ns):
    return np.int64(np.random.exponential() * mean_ns)


@njit
def queue(events, seed):
    np.random.seed(seed)
    keys = np.full(1024, NEVER, np.int64)
    arrived = np.zeros(RING, np.int64)
    free = np.arange(1, SERVERS + 1)
    idle = SERVERS
    head = tail = customers = wait_ns = 0
    end = ROOT + 1
    keys[ROOT] = draw(ARRIVAL_NS) << ID_BITS
    for _ in range(events):
        now = keys[ROOT] >> ID_BITS
        server = keys[ROOT] & ID_MASK
        if server == 0:
            fill(keys, end, (now + draw(ARRIVAL_NS)) << ID_BITS)
            if idle > 0:
                idle -= 1
                customers += 1
                rise(keys, end, (now + draw(SERVICE_NS)) << ID_BITS | free[idle])
                end += 1
            else:
                arrived[tail % RING] = now
                tail += 1
        elif head < tail:
            customers += 1
            wait_ns += now - arrived[head % RING]
            head += 1
            fill(keys, end, (now + draw(SERVICE_NS)) << ID_BITS | server)
        else:
            end = pop(keys, end)
            free[idle] = server
            idle += 1
    return customers, wait_ns


@njit
def dispatch(now, window_end, vp, burst, entitled, since, after, counts):
    """Puts a virtual processor on a core; the key of the end of its slice."""
    window = window_end - now
    length = min(burst[vp], entitled[vp], window)
    burst[vp] -= length
    entitled[vp] -= length
    counts[READY] += now - since[vp]
    counts[DISPATCHES] += 1
    counts[BUSY] += length
    if burst[vp] == 0:
        after[vp] = BURST_END
    elif length == window:
        after[vp] = WINDOW_END
    else:
        after[vp] = ENTITLEMENT_END
    return (now + length) << ID_BITS | vp


@njit
def host(events, seed):
    np.random.seed(seed)
    counts = np.zeros(7, np.int64)
    keys = np.full(1024, NEVER, np.int64)
    burst = np.zeros(VPS + 1, np.int64)
    entitled = np.full(VPS + 1, ENTITLED_NS)
    since = np.zeros(VPS + 1, np.int64)
    after = np.full(VPS + 1, WAKE)
    ready = np.zeros(128, np.int64)
    exhausted = np.zeros(VPS, np.int64)
    head = tail = spent = 0
    idle = SERVERS
    window_end = WINDOW_NS
    # Id 0 is the tick, before all slices that end with the window.
    keys[ROOT] = WINDOW_NS << ID_BITS
    end = ROOT + 1
    for vp in range(1, SLEEPERS + 1):
        rise(keys, end, (1 + draw(SLEEP_NS)) << ID_BITS | vp)
        end += 1
    for vp in range(SLEEPERS + 1, VPS + 1):
        burst[vp] = ENDLESS_NS
        idle -= 1
        rise(keys, end, dispatch(0, window_end, vp, burst, entitled, since, after, counts))
        end += 1
    done = 0
    while done < events:
        now = keys[ROOT] >> ID_BITS
        vp = keys[ROOT] & ID_MASK
        # Whether the root is still the event just served: the next key takes its place.
        is_open = False
        if vp == 0:
            window_end = now + WINDOW_NS
            fill(keys, end, window_end << ID_BITS)
            entitled[:] = ENTITLED_NS
            for i in range(spent):
                since[exhausted[i]] = now
                ready[tail % 128] = exhausted[i]
                tail += 1
            spent = 0
            freed = idle
            idle = 0
        else:
            done += 1
            kind = after[vp]
            freed = 1
            if kind == WAKE:
                counts[WAKES] += 1
                burst[vp] = 1 + draw(BURST_NS)
                freed = 1 if idle > 0 else 0
                idle -= freed
            elif kind == BURST_END:
                counts[BURSTS] += 1
                after[vp] = WAKE
                fill(keys, end, (now + 1 + draw(SLEEP_NS)) << ID_BITS | vp)
            else:
                counts[SLICES] += 1
            if kind != BURST_END:
                is_open = True
                if kind == ENTITLEMENT_END or entitled[vp] == 0:
                    exhausted[spent] = vp
                    spent += 1
                else:
                    since[vp] = now
                    ready[tail % 128] = vp
                    tail += 1
        while freed > 0 and head < tail:
            freed -= 1
            vp = ready[head % 128]
            head += 1
            key = dispatch(now, window_end, vp, burst, entitled, since, after, counts)
            if is_open:
                is_open = False
                fill(keys, end, key)
            else:
                rise(keys, end, key)
                end += 1
        if is_open:
            end = pop(keys, end)
        idle += freed
        counts[ELAPSED] = now
    return counts


def w1(events: int, seed: int) -> Counts:
    start = perf_counter()
    customers, wait_ns = queue(events, seed)
    wall_s = perf_counter() - start
    return {"events": events, "wall_s": wall_s, "customers": customers, "wait_ns": wait_ns}


def w2(events: int, seed: int) -> Counts:
    start = perf_counter()
    counts = [int(count) for count in host(events, seed)]
    wall_s = perf_counter() - start
    return {
        "events": events,
        "wall_s": wall_s,
        "elapsed_ns": counts[ELAPSED],
        "busy_ns": counts[BUSY],
        "ready_ns": counts[READY],
        "dispatches": counts[DISPATCHES],
        "wakes": counts[WAKES],
        "bursts": counts[BURSTS],
        "slices": counts[SLICES],
    }


if __name__ == "__main__":
    measured.main(w1, w2, warm_up_events=1_000)
