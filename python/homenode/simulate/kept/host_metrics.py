"""Metrics of threads on a Linux or Xen host, named as the kernel's counters are: what `/proc` and
`cpu.stat` tell of a group of processes or of a guest's virtual processors.

A host's cores are its processors as Linux counts them, threads of a core each by themselves.
Elsewhere these metrics have no value.
"""

from __future__ import annotations

from homenode.simulate.kept.metric import Formula, Metric
from homenode.simulate.kept.totals import NS_PER_S, Totals, ratio


def _of_host(formula: Formula) -> Formula:
    return lambda t: formula(t) if t.shape.on_host else None


def _rate(counter: str) -> Formula:
    return _of_host(lambda t: ratio(t[counter], t.seconds))


def _cores(counter: str) -> Formula:
    return _of_host(lambda t: ratio(t[counter], t.seconds * NS_PER_S))


def _of_processors(counter: str) -> Formula:
    """Per cent of the time of all its virtual processors."""
    return lambda t: ratio(t[counter], t.seconds * NS_PER_S * t.shape.processors, 100.0)


def _delay(quantile: str) -> Formula:
    return _of_host(lambda t: _ms(t, quantile))


def _ms(t: Totals, quantile: str) -> float | None:
    value = t.dispatch_wait_ns.get(quantile)
    return None if value is None or not t.dispatch_wait_ns.get("count") else float(value) / 1e6


def _throttled_periods(t: Totals) -> float | None:
    return ratio(t["throttled_periods"], t["quota_periods"], 100.0)


def _only_limited(formula: Formula) -> Formula:
    """Of groups with a quota, or domains with a cap."""
    return _of_host(lambda t: formula(t) if t["quota_periods"] else None)


def _if_stopped(formula: Formula) -> Formula:
    """Of virtual machines of ESXi that lead their siblings at times."""
    return _of_host(lambda t: formula(t) if t["costop_ns"] else None)


def _only_guests(formula: Formula) -> Formula:
    return _of_host(lambda t: formula(t) if t.shape.is_kvm else None)


def _steal(t: Totals) -> float | None:
    """A guest of a host is told by that; where a hypervisor shares out cores by windows, all wait
    for a core counts, as in Linux on Power.
    """
    if t.shape.on_host:
        return _of_processors("steal_ns")(t) if t.shape.is_kvm else None
    return _of_processors("ready_ns")(t) if t.shape.is_shared else None


METRICS = [
    Metric(
        "cpu_share_pct",
        "%",
        "of the core time of all partitions together",
        _of_host(lambda t: ratio(t["busy_ns"], t.all_busy_ns, 100.0)),
    ),
    Metric("nvcsw_per_s", "1/s", "voluntary switches of its threads", _rate("nvcsw")),
    Metric("nivcsw_per_s", "1/s", "involuntary switches of its threads", _rate("nivcsw")),
    Metric(
        "nivcsw_per_cpu_s",
        "1/s",
        "involuntary switches in a second of core time",
        _of_host(lambda t: ratio(t["nivcsw"] * NS_PER_S, t["busy_ns"])),
    ),
    Metric(
        "migrations_per_s",
        "1/s",
        "threads moved to another processor of the host",
        _rate("host_migrations"),
    ),
    Metric(
        "run_delay_cores",
        "threads",
        "runnable and waiting for a processor, throttled ones too (run delay of schedstat)",
        _cores("ready_ns"),
    ),
    Metric("run_delay_ms", "ms", "wait of a runnable thread, mean", _delay("mean")),
    Metric("run_delay_ms_p99", "ms", "the same, 99th percentile", _delay("p99")),
    Metric("run_delay_ms_p999", "ms", "the same, 99.9th percentile", _delay("p999")),
    Metric(
        "steal_pct",
        "%",
        "of its virtual processors' time ready but not running, at a cap too, as guests see it",
        _steal,
    ),
    Metric(
        "halt_poll_pct",
        "%",
        "of the consumed time polling on behalf of halted virtual processors",
        _only_guests(lambda t: ratio(t["halt_poll_ns"], t["busy_ns"], 100.0)),
    ),
    Metric(
        "throttled_periods_pct",
        "%",
        "of the quota's periods in which it was stopped",
        _only_limited(_throttled_periods),
    ),
    Metric(
        "throttled_cores",
        "",
        "processors on which it was stopped (throttled_usec of cpu.stat, ESXi's %MLMTD)",
        _only_limited(_cores("throttled_ns")),
    ),
    Metric(
        "throttled_pct",
        "%",
        "the same, of its virtual processors' time",
        _only_limited(_of_processors("throttled_ns")),
    ),
    Metric(
        "costop_pct",
        "%",
        "of its virtual processors' time stopped because they led a sibling (ESXi's %CSTP)",
        _if_stopped(_of_processors("costop_ns")),
    ),
]
"""In the order they are shown."""
ONLY_THERE = tuple(metric for metric in METRICS if metric.name != "steal_pct")
"""Those that have no value elsewhere."""
