"""Small frozen scenarios for tests: a frame of four nodes with partitions that need about 9 cores
each.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

WORK: dict[str, Any] = {
    "name": "reference",
    "instructions_per_unit": 1e6,
    "system_share": 0.0,
    "eicpi": 1.0,
    "issue_share": 0.5,
    "miss_m0": 0.0,
    "miss_c0_bytes": 32768,
    "miss_exponent": 0.5,
    "sharing": 0.0,
    "footprint_bytes": 0,
    "footprint_common": 0.0,
    "overlap": 0.0,
    "lock_share": 0.0,
    "lock_hold_instructions": 1000.0,
    "private_data": 0.0,
    "io_data": 0.0,
    "store_share": 0.0,
    "store_run": 1.0,
}
"""Work that a gain from threads is told for: it issues in half of its time and misses nothing."""


@dataclass(frozen=True)
class Frozen:
    """A scenario as the runner sees it, without a file behind it."""

    spec: dict[str, Any]
    replications: int = 1
    text: str = 'name = "made in a test"\n'

    def spec_json(self) -> str:
        """The engine's input."""
        return json.dumps(self.spec)


def partition(name: str, node: int, *, rate: float = 900.0, virtual: int = 16) -> dict[str, Any]:
    """A shared partition homed on all chips of a node; a transaction needs 10 core-ms there."""
    chips = [4 * node + chip for chip in range(4)]
    return {
        "name": name,
        "processors": {
            "mode": "shared",
            "entitlement": 2.0,
            "virtual": virtual,
            "capped": False,
            "weight": 128,
            "pool": 0,
        },
        "smt": 2,
        "memory": [{"domains": [chip], "bytes": 10 << 30} for chip in chips],
        "memory_policy": "proportional",
        "data_bytes": 40 << 30,
        "io_domain": None,
        "page_bytes": 65_536,
        "hypervisor_share": 0.0,
        "home": chips,
        "guest": {
            "os": "aix",
            "throughput_mode": 2,
            "xvcpus": 0,
            "fold_threshold_pct": 49.0,
            "snooze_delay_ns": 0,
            "tick_ns": 10_000_000,
            "tick_cost_ns": 1_000,
            "timeslice_ns": 10_000_000,
            "rebalance_ns": None,
            "daemon_rate_per_s": 10.0,
            "daemon_ns": 10_000,
        },
        "workload": {
            "kind": "transactions",
            "rate_per_s": rate,
            "bursts": 10.0,
            "wait_ns": 1_000_000,
            "burst_work": "exponential",
        },
        "profile": {
            "name": "oltp",
            "instructions_per_unit": 2e7,
            "system_share": 0.1,
            "eicpi": 2.0,
            "issue_share": 0.5,
            "miss_m0": 0.02,
            "miss_c0_bytes": 65536.0,
            "miss_exponent": 0.5,
            "sharing": 0.1,
            "footprint_bytes": 1048576,
            "footprint_common": 0.0,
            "overlap": 0.3,
            "lock_share": 0.0,
            "lock_hold_instructions": 1000.0,
            "private_data": 0.5,
            "io_data": 0.0,
            "store_share": 0.0,
            "store_run": 1.0,
        },
    }


def frame(*partitions: dict[str, Any], name: str = "frame", seconds: int = 20) -> dict[str, Any]:
    """A machine of 4 nodes x 4 chips x 4 cores."""
    return {
        "name": name,
        "seed": 1,
        "warmup_ns": 1_000_000_000,
        "duration_ns": seconds * 1_000_000_000,
        "interval_ns": 1_000_000_000,
        "record_dispatches": False,
        "machine": {
            "name": "test-frame",
            "generation": "POWER7",
            "clock_hz": 4e9,
            "core_rate": 1.0,
            "nodes": 4,
            "chips_per_node": 4,
            "cores_per_chip": 4,
            "threads_per_core": 4,
            "active_cores": 64,
            "line_bytes": 128,
            "caches": [],
            "cache_to_cache_ns": {"local": 20.0, "near": 60.0, "far": 200.0},
            "coherence": "owner",
            "memory_beside": "chip",
            "memory_ns": {"local": 100.0, "near": 150.0, "far": 270.0},
            "node_distance": [],
            "memory_bytes_per_s": 1e11,
            "chip_link_bytes_per_s": 1e11,
            "node_link_bytes_per_s": 1e11,
            "translation": None,
            "stores": None,
            "smt": {"gain": [1.0, 1.4, 1.5, 1.6], "reference": WORK, "parts": 1},
            "accounting": "calibrated",
            "hypervisor": {
                "policy": "phyp",
                "window_ns": 10_000_000,
                "min_entitlement_per_vp": 0.1,
                "dispatch_ns": 2_000,
                "cede_ns": 1_000,
                "prod_ns": 1_000,
                "confer_ns": 1_000,
                "phantom_ns": 1_000,
                "excess_quantum_ns": 10_000_000,
                "counts_redispatch": True,
                "eviction": "home-elsewhere",
            },
        },
        "pools": [{"name": "DefaultPool", "maximum": None, "reserved": 0.0}],
        "partitions": list(partitions) or [partition("alone", 0)],
    }


def near_and_far(replications: int = 3) -> tuple[Frozen, Frozen]:
    """Two partitions apart on two nodes, and the same two on one."""
    apart = frame(partition("one", 0), partition("two", 1), name="apart")
    together = frame(partition("three", 0), partition("four", 0), name="together")
    return Frozen(apart, replications), Frozen(together, replications)
