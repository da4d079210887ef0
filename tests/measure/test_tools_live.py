"""Each tool once, for a second, where it is installed: that our command still is one, and that what
it prints today is read. What a loaded host gives is not looked at.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from homenode.hosts.adapters.registry import adapter
from homenode.hosts.live.packages import find, remedy
from homenode.hosts.result import load

SUITE = """\
schema = 1
name = "live"
title = "one case"

[defaults]
repeats = 1
seconds = 1.0

[[case]]
adapter = "{adapter}"
name = "live"
parameters = {{ {parameters} }}
"""

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
    one = adapter(name)
    absent = [
        need for need in one.requires(one.case("live", {})).needs if find(need.program) is None
    ]
    if absent:
        programs = ", ".join(need.program for need in absent)
        pytest.skip(f"not measured live: {programs} is not here; {remedy(absent)}")
    suite = tmp_path / "live.toml"
    suite.write_text(SUITE.format(adapter=name, parameters=parameters))
    kept = tmp_path / "live.json"
    done = command("measure", "run", suite, "--gate", "off", "-o", kept)
    assert done.returncode == 0, done.stderr
    (record,) = load(kept).records
    assert record.rejected is None, record.rejected
    assert record.work > 0.0
    assert record.seconds > 0.0
    assert record.score > 0.0
    assert json.loads(kept.read_text())["versions"][name]
