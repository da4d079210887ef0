"""Small frozen machines of cells for tests: two cells of four chips with two cores each, memory
beside the cells, and partitions with cores of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import frames

GIB = 1 << 30


def part(gib: float, *domains: int) -> dict[str, Any]:
    """Memory in one cell, or interleaved over several."""
    return {"domains": list(domains), "bytes": int(gib * GIB)}


def partition(
    name: str,
    cores: Sequence[int],
    memory: Sequence[dict[str, Any]],
    *,
    io_domain: int | None = None,
    count: int = 16,
) -> dict[str, Any]:
    """A dedicated partition whose threads never pause."""
    made = frames.partition(name, 0)
    guest = {key: made["guest"][key] for key in ("tick_ns", "tick_cost_ns", "timeslice_ns",
             "rebalance_ns", "daemon_rate_per_s", "daemon_ns")}  # fmt: skip
    return {
        **made,
        "processors": {
            "mode": "dedicated",
            "cores": list(cores),
            "donating": False,
            "donate_threshold_pct": 80.0,
        },
        "smt": 1,
        "memory": list(memory),
        "memory_policy": "local-first",
        "data_bytes": int(0.9 * sum(one["bytes"] for one in memory)),
        "io_domain": io_domain,
        "home": list(dict.fromkeys(core // 2 for core in cores)),
        "guest": {"os": "hpux", **guest},
        "workload": {"kind": "warehouses", "count": count},
    }


def frame(*partitions: dict[str, Any], name: str = "cells", **machine: Any) -> dict[str, Any]:
    """Two cells; `machine` replaces numbers of the machine."""
    made = frames.frame(*partitions, name=name, seconds=2)
    made["machine"] |= {
        "name": "test-cells",
        "generation": "Itanium 2",
        "nodes": 2,
        "chips_per_node": 4,
        "cores_per_chip": 2,
        "threads_per_core": 1,
        "active_cores": 16,
        "memory_beside": "node",
        "memory_ns": {"local": 200.0, "near": 200.0, "far": 300.0},
        "caches": [
            {"name": "L1", "bytes": 16384, "scope": "core", "latency_ns": 0.6, "victim": False},
            {"name": "L2", "bytes": 262144, "scope": "core", "latency_ns": 3.0, "victim": False},
            {"name": "L3", "bytes": 12582912, "scope": "core", "latency_ns": 9.0, "victim": False},
        ],
        "smt": {"gain": [1.0], "reference": frames.WORK, "parts": 1},
        "accounting": "elapsed",
        **machine,
    }
    made["machine"]["hypervisor"]["policy"] = "dedicated"
    return made
