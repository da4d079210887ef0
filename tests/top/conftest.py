"""A small frame that is simulated once: two partitions that share, one with cores of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode.simulate.kept.kept_run import KeptRun
from homenode.simulate.runner import run_scenario
from homenode.simulate.scenario import Scenario

SHARED = """
[[partition]]
name = "{name}"
processors = {{ mode = "shared", entitlement = {ent}, virtual = 4, capped = {capped} }}
smt = 2
memory = "8 GiB"
home = "node0"
guest = {{ os = "aix" }}
workload = {{ kind = "transactions", rate = "{rate}", profile = "oltp" }}
"""
SMALL = f"""
name = "small"
[machine]
model = "ibm-power-770"
{SHARED.format(name="web", ent="0.4", capped="false", rate="300/s")}
{SHARED.format(name="db", ent="2.0", capped="true", rate="150/s")}
[[partition]]
name = "own"
processors = {{ mode = "dedicated", cores = 2 }}
memory = "8 GiB"
home = "node1"
guest = {{ os = "linux" }}
workload = {{ kind = "transactions", rate = "50/s", profile = "oltp" }}

[run]
warmup = "200 ms"
duration = "1 s"
interval = "200 ms"
replications = 1
seed = 3
record_dispatches = true
"""


@pytest.fixture(scope="session")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its file."""
    path = tmp_path_factory.mktemp("top") / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def run(scenario: Path) -> KeptRun:
    """Its run, kept beside it."""
    return run_scenario(Scenario.load(scenario), out=scenario.parent / "runs")
