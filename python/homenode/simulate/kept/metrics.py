"""The metrics of a partition, in the field's names, each a pure function of its counters.

Percentages named after lparstat's columns refer to the entitled capacity, or to the consumed one
where that is more, as the tool's do; `idle_pct` is therefore the rest up to 100 and holds the
entitlement that was not used. A metric that only makes sense in a steady state is marked; where
there is none it has no value.
"""

from __future__ import annotations

import functools
import math

from homenode.simulate.kept import host_metrics, nest_metrics, zvm_metrics
from homenode.simulate.kept.books import CAUSES, FINITE_CACHE
from homenode.simulate.kept.metric import Formula, Metric
from homenode.simulate.kept.totals import NS_PER_S, Totals, ratio


def _cores(counter: str) -> Formula:
    return lambda t: ratio(t[counter], t.seconds * NS_PER_S)


def _rate(counter: str) -> Formula:
    return lambda t: ratio(t[counter], t.seconds)


def _percent(counter: str) -> Formula:
    return lambda t: ratio(t[counter], t.denominator_ns, 100.0)


_FROM_MEMORY = ("memory_local", "memory_near", "memory_far")
_INFINITE_CACHE = tuple(cause.name for cause in CAUSES if cause.name not in FINITE_CACHE)
_FROM_ELSEWHERE = ("cache_near", "cache_far", "memory_near", "memory_far")


def _traffic(sources: tuple[str, ...]) -> Formula:
    lines = tuple(f"lines_{source}" for source in sources)
    return lambda t: ratio(t.sum(*lines) * t.shape.line_bytes, t.seconds * NS_PER_S)


def _memory_wait(t: Totals) -> float | None:
    books, lines = ([f"{kind}_{s}" for s in _FROM_MEMORY] for kind in ("book", "lines"))
    return ratio(t.sum(*books), t.sum(*lines))


def _gauge(name: str) -> Formula:
    return lambda t: t.gauges.get(name)


def _distance_share(counter: str) -> Formula:
    return lambda t: ratio(t[counter], t.sum("home_ns", "near_ns", "far_ns"))


def _response(quantile: str) -> Formula:
    return lambda t: _kept(t.response_ns, quantile, 1e6)


def _wait(quantile: str) -> Formula:
    return lambda t: _kept(t.dispatch_wait_ns, quantile, 1e3)


def _kept(distribution: object, name: str, unit_ns: float) -> float | None:
    if not isinstance(distribution, dict) or not distribution.get("count"):
        return None
    value = distribution.get(name)
    return None if value is None else float(value) / unit_ns


def _idle(t: Totals) -> float | None:
    used = ratio(t.sum("user_ns", "sys_ns", "wait_ns"), t.denominator_ns, 100.0)
    return None if used is None else max(100.0 - used, 0.0)


def _logical_busy(t: Totals) -> float | None:
    busy = t.sum("ticks_user", "ticks_sys")
    return ratio(busy, busy + t.sum("ticks_wait", "ticks_idle"), 100.0)


def _throughput(t: Totals) -> float | None:
    """Of partitions that have transactions at all."""
    return ratio(t["tx_done"], t.seconds) if t.sum("tx_arrived", "tx_done") else None


def _internal_rate(t: Totals) -> float | None:
    if t.shape.runs_guests:
        return zvm_metrics.internal_rate(t)
    if not t["tx_done"]:
        return None
    return ratio(t["tx_done"] * t.shape.processors * NS_PER_S, t["busy_ns"])


def _efcpi(t: Totals) -> float | None:
    cycles = t.cycles
    return None if cycles is None else math.fsum([cycles[cause] for cause in FINITE_CACHE])


def _eicpi(t: Totals) -> float | None:
    """All that waits for no line: as IBM's formulas have it, the rest."""
    cycles = t.cycles
    return None if cycles is None else math.fsum([cycles[cause] for cause in _INFINITE_CACHE])


def _nest_share(name: str) -> Formula:
    return lambda t: nest_metrics.share(t, name)


def _elapsed(t: Totals) -> float | None:
    ended = t.finished_ns
    return ratio(ended["sum"], ended["count"] * NS_PER_S) if ended else None


def _elapsed_shortest(t: Totals) -> float | None:
    return t.finished_ns["min"] / NS_PER_S if t.finished_ns else None


def _elapsed_longest(t: Totals) -> float | None:
    return t.finished_ns["max"] / NS_PER_S if t.finished_ns else None


_TOOL = [
    Metric("physc", "cores", "physical processors consumed", _cores("busy_ns")),
    Metric(
        "entc_pct",
        "%",
        "consumed of the entitled capacity",
        lambda t: ratio(t["busy_ns"], t.entitled_ns, 100.0),
    ),
    Metric("user_pct", "%", "in user mode", _percent("user_ns")),
    Metric("sys_pct", "%", "in the kernel", _percent("sys_ns")),
    Metric("wait_pct", "%", "idle with I/O outstanding", _percent("wait_ns")),
    Metric("idle_pct", "%", "idle, or entitlement not used", _idle),
    Metric("lbusy_pct", "%", "logical CPUs busy", _logical_busy),
    Metric("vcsw_per_s", "1/s", "virtual processor switches", _rate("vcsw")),
    Metric("phint_per_s", "1/s", "phantom interrupts", _rate("phint")),
    Metric("ilcs_per_s", "1/s", "involuntary logical CPU switches", _rate("ilcs")),
    Metric("vlcs_per_s", "1/s", "voluntary logical CPU switches", _rate("vlcs")),
    Metric(
        "hypervisor_pct",
        "%",
        "of the consumed time in the hypervisor",
        lambda t: ratio(t["hypervisor_ns"], t["busy_ns"], 100.0),
    ),
    Metric(
        "runnable_threads",
        "threads",
        "running or waiting for a logical CPU",
        lambda t: ratio(t["runq_ns"], t.seconds * NS_PER_S),
    ),
    Metric(
        "blocked_threads",
        "threads",
        "waiting for something other than a processor",
        lambda t: ratio(t["blocked_ns"], t.seconds * NS_PER_S),
    ),
    Metric("context_switches_per_s", "1/s", "thread switches", _rate("context_switches")),
    Metric("interrupts_per_s", "1/s", "device interrupts", _rate("interrupts")),
]

_DISPATCH = [
    Metric(
        "excess_share",
        "",
        "of the core time beyond the entitlement",
        lambda t: ratio(t["excess_ns"], t["busy_ns"]),
    ),
    Metric("memory_gb_per_s", "GB/s", "lines brought in from memory", _traffic(_FROM_MEMORY)),
    Metric(
        "remote_gb_per_s",
        "GB/s",
        "lines brought in from other chips' memory and caches",
        _traffic(_FROM_ELSEWHERE),
    ),
    Metric(
        "memory_wait_ns",
        "ns",
        "core time in which a line from memory is waited for: its latency, where nothing overlaps",
        _memory_wait,
    ),
    Metric("donated_cores", "cores", "dedicated cores lent to the pool", _cores("donated_ns")),
    Metric("vps_unfolded", "", "virtual processors not folded", _gauge("vps_unfolded")),
    Metric("dispatches_per_s", "1/s", "virtual processors put on a core", _rate("dispatches")),
    Metric("evictions_per_s", "1/s", "virtual processors thrown out by others", _rate("evictions")),
    Metric("home_share", "", "of the core time on the home chip", _distance_share("home_ns")),
    Metric(
        "near_share",
        "",
        "of the core time on another chip of the home node",
        _distance_share("near_ns"),
    ),
    Metric("far_share", "", "of the core time on another node", _distance_share("far_ns")),
    Metric(
        "dispatch_wait_us", "us", "ready virtual processor waiting for a core, mean", _wait("mean")
    ),
    Metric("dispatch_wait_us_p95", "us", "the same, 95th percentile", _wait("p95")),
    Metric("dispatch_wait_us_p99", "us", "the same, 99th percentile", _wait("p99")),
]

_WORK = [
    Metric(
        "etr_per_s",
        "1/s",
        "external throughput: transactions done",
        _throughput,
        needs_steady=True,
    ),
    Metric(
        "itr_per_s",
        "1/s",
        "internal throughput: transactions if every processor were always busy",
        _internal_rate,
        needs_steady=True,
    ),
    Metric(
        "cpu_per_tx_us",
        "us",
        "core time of a transaction",
        lambda t: ratio(t["busy_ns"], t["tx_done"] * 1e3),
        needs_steady=True,
    ),
    Metric("response_ms_mean", "ms", "response time, mean", _response("mean"), needs_steady=True),
    Metric("response_ms_p50", "ms", "response time, median", _response("p50"), needs_steady=True),
    Metric(
        "response_ms_p95",
        "ms",
        "response time, 95th percentile",
        _response("p95"),
        needs_steady=True,
    ),
    Metric(
        "response_ms_p99",
        "ms",
        "response time, 99th percentile",
        _response("p99"),
        needs_steady=True,
    ),
    Metric(
        "response_ms_p999",
        "ms",
        "response time, 99.9th percentile; of less than a thousand responses the longest",
        _response("p999"),
        needs_steady=True,
    ),
    Metric("response_ms_max", "ms", "response time, longest", _response("max"), needs_steady=True),
    Metric("elapsed_s", "s", "elapsed time of a loop, mean over those that ended", _elapsed),
    Metric("elapsed_s_min", "s", "elapsed time of the fastest loop", _elapsed_shortest),
    Metric("elapsed_s_max", "s", "elapsed time of the slowest loop", _elapsed_longest),
    Metric(
        "cpi", "cycles", "cycles per instruction", lambda t: ratio(t["cycles"], t["instructions"])
    ),
    Metric("eicpi", "cycles", "its part with an infinite cache, waiting for locks in it", _eicpi),
    Metric("efcpi", "cycles", "its part lost to finite caches and memory", _efcpi),
    Metric(
        "instructions_per_tx",
        "",
        "instructions of a transaction, those spent spinning on locks in them",
        lambda t: ratio(t["instructions"], t["tx_done"]),
        needs_steady=True,
    ),
    Metric(
        "spin_instructions_per_tx",
        "",
        "of these, spent spinning on locks",
        lambda t: ratio(t["spin_instructions"], t["tx_done"]) if t.shape.runs_guests else None,
        needs_steady=True,
    ),
]

_NEST = [
    Metric("l1mp", "%", "lines written into L1 for 100 instructions", nest_metrics.l1mp),
    Metric("l2p", "%", "of these from L2", _nest_share("l2p")),
    Metric("l3p", "%", "of these from the L3 of the chip", _nest_share("l3p")),
    Metric("l4lp", "%", "of these from the L4 or a cache of the node", _nest_share("l4lp")),
    Metric("l4rp", "%", "of these from a cache of another node", _nest_share("l4rp")),
    Metric("memp", "%", "of these from memory", _nest_share("memp")),
    Metric("rni", "", "relative nest intensity", nest_metrics.rni),
]
"""Of machines that have weights for it."""

_BOOKS = [
    Metric(f"cores_{cause.name}", "cores", cause.label, _cores(f"book_{cause.name}"))
    for cause in CAUSES
]

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        *_TOOL,
        *_DISPATCH,
        *host_metrics.METRICS,
        *_WORK,
        *zvm_metrics.METRICS,
        *_NEST,
        *_BOOKS,
    )
}
"""All metrics of a partition by name, in the order they are shown."""


@functools.cache
def metrics_of(*, on_host: bool, runs_guests: bool, weighed: bool) -> tuple[Metric, ...]:
    """Those that a kind of partition can have: on a Linux or Xen host, under z/VM, on a machine
    that has weights for its nest. All others have no value there.
    """
    never = [
        *(() if on_host else host_metrics.ONLY_THERE),
        *(() if runs_guests else zvm_metrics.METRICS),
        *(() if weighed else _NEST),
    ]
    without = {metric.name for metric in never}
    return tuple(metric for metric in METRICS.values() if metric.name not in without)


BATCHED = frozenset(
    name
    for name in METRICS
    if not name.startswith(
        ("response_ms_p", "response_ms_max", "dispatch_wait_us_p", "run_delay_ms_p", "elapsed_s")
    )
)
"""Metrics that can be computed for a part of a replication, from its intervals alone."""
