"""Each tool once, for a second, where it is installed: that our command still is one, and that what
it prints today is read. What a loaded host gives is not looked at.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from live import measured

CASES = [
    ("fio", 'mode = "randrw", load = 2, size_mib = 16'),
    ("iperf3", 'direction = "read", load = 2'),
    ("sockperf", "load = 2"),
    ("request", "load = 10, request = 200, response = 1000"),
    ("sysbench", 'mode = "read-write", hits = "low", load = 2, rows = 2000'),
    ("duckdb", 'scale = 0.01, state = "cold"'),
    ("duckdb", 'scale = 0.01, state = "warm"'),
    ("apache", "tiles = 1, load = 4"),
    ("apache", "tiles = 2, load = 4"),
    ("apache", "tiles = 2, load = 4, files = 2500, page = 100"),
    ("pgbench", 'mode = "tpcb-like", scale = 1'),
    ("netperf", "request = 200, response = 1000"),
    ("lmbench", 'test = "call"'),
]


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_live(
    name: str,
    parameters: str,
    command: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
) -> None:
    kept = measured(command, tmp_path, name, "live", parameters, seconds=1.0)
    (record,) = kept.records
    assert record.rejected is None, record.rejected
    assert record.work > 0.0
    assert record.seconds > 0.0
    assert record.score > 0.0
    assert kept.versions[name]
