"""Metrics of threads on a host, from counters by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from homenode.simulate.kept import METRICS
from homenode.simulate.kept.host_metrics import METRICS as OF_HOST
from homenode.simulate.kept.totals import Shape, Totals

SHAPE = Shape("a", 1.0, 2, 1, is_shared=True, on_host=True, is_kvm=True)
COUNTERS: dict[str, float] = {
    "busy_ns": 2_000_000_000,
    "nvcsw": 400,
    "nivcsw": 100,
    "host_migrations": 8,
    "ready_ns": 1_000_000_000,
    "steal_ns": 800_000_000,
    "halt_poll_ns": 200_000_000,
    "quota_periods": 40,
    "throttled_periods": 30,
    "throttled_ns": 6_000_000_000,
    "costop_ns": 400_000_000,
}
WAITS = {"count": 500, "mean": 2_000_000.0, "p99": 4_000_000, "p999": 9_000_000}
TOTALS = Totals(SHAPE, 4.0, COUNTERS, dispatch_wait_ns=WAITS, all_busy_ns=8_000_000_000)
BY_HAND = {
    "cpu_share_pct": 25.0,
    "nvcsw_per_s": 100.0,
    "nivcsw_per_s": 25.0,
    "nivcsw_per_cpu_s": 50.0,
    "migrations_per_s": 2.0,
    "run_delay_cores": 0.25,
    "run_delay_ms": 2.0,
    "run_delay_ms_p99": 4.0,
    "run_delay_ms_p999": 9.0,
    "steal_pct": 10.0,
    "halt_poll_pct": 10.0,
    "throttled_periods_pct": 75.0,
    "throttled_cores": 1.5,
    "throttled_pct": 75.0,
    "costop_pct": 5.0,
}


def values(totals: Totals) -> dict[str, Any]:
    """All of them."""
    return {metric.name: METRICS[metric.name].formula(totals) for metric in OF_HOST}


def test_by_hand() -> None:
    """Four seconds of two threads."""
    assert values(TOTALS) == pytest.approx(BY_HAND)


def test_only_where_they_mean_something() -> None:
    """Nothing of a host elsewhere but steal where cores are shared, no steal of processes, nothing
    throttled without a quota, nor co-stopped but where somebody was.
    """
    windows = values(replace(TOTALS, shape=replace(SHAPE, on_host=False, is_shared=True)))
    assert {name for name, value in windows.items() if value is not None} == {"steal_pct"}
    owned = values(replace(TOTALS, shape=replace(SHAPE, on_host=False, is_shared=False)))
    assert set(owned.values()) == {None}
    processes = values(replace(TOTALS, shape=replace(SHAPE, is_kvm=False)))
    assert {name for name, value in processes.items() if value is None} == {
        "steal_pct",
        "halt_poll_pct",
    }
    free = values(replace(TOTALS, counters={**COUNTERS, "quota_periods": 0}))
    assert {name for name, value in free.items() if value is None} == {
        "throttled_periods_pct",
        "throttled_cores",
        "throttled_pct",
    }
    level = values(replace(TOTALS, counters={**COUNTERS, "costop_ns": 0}))
    assert {name for name, value in level.items() if value is None} == {"costop_pct"}
