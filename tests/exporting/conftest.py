"""Runs to export, each simulated once: a mixed frame of Power, a server of cells, a mainframe."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from homenode import Run, load_scenario

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
EXAMPLES = HERE.parents[1] / "examples"

MIXED = """
title = "A small mixed frame"

[machine]
model = "ibm-power-770"
active_cores = 16

[[pool]]
name = "development"
maximum = 4

[[partition]]
name = "database"
processors = { mode = "dedicated", cores = 2, donating = true, donate_threshold = "80 %" }
memory = "32 GiB"
workload = { kind = "transactions", rate = "60/s", bursts = 20, wait = "3 ms", profile = "oltp" }

[[partition]]
name = "shop"
processors = { mode = "shared", entitlement = 1.3, virtual = 4, weight = 200 }
smt = 4
memory = "16 GiB"
guest = { hostname = "shop.example" }
workload = { kind = "transactions", rate = "250/s", bursts = 20, wait = "3 ms", profile = "oltp" }

[[partition]]
name = "night"
processors = { mode = "shared", entitlement = 0.5, virtual = 1, capped = true, weight = 0, \
pool = "development" }
smt = 2
memory = "4 GiB"
workload = { kind = "loops", count = 1, endless = true, profile = "compute" }

[[partition]]
name = "web"
processors = { mode = "shared", entitlement = 1.0, virtual = 2 }
smt = 4
memory = "8 GiB"
guest = { os = "linux" }
workload = { kind = "transactions", rate = "40/s", bursts = 20, wait = "3 ms", profile = "oltp" }

[run]
warmup = "1 s"
duration = "4 s"
interval = "500 ms"
replications = 2
record_dispatches = true
"""

Simulated = Callable[[str], Run]


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Simulated:
    """Simulate a scenario given as text."""

    def run(text: str) -> Run:
        folder = tmp_path_factory.mktemp("run")
        file = folder / "mixed.toml"
        file.write_text(text, encoding="utf-8")
        return load_scenario(file).run(out=folder / "runs")

    return run


@pytest.fixture(scope="session")
def kept(simulated: Simulated) -> Run:
    """Four partitions of a Power 770: dedicated and donating, shared, capped in a pool, Linux; two
    replications, dispatches recorded.
    """
    return simulated(MIXED)


@pytest.fixture(scope="session")
def kept_hp(simulated: Simulated) -> Run:
    """Two virtual partitions of an rx7640."""
    return simulated(_shortened("rx7640-two-vpars"))


@pytest.fixture(scope="session")
def kept_z(simulated: Simulated) -> Run:
    """Three partitions of a mainframe, z/VM with virtual machines in one of them."""
    return simulated(_shortened("prsm-three-partitions"))


def _shortened(example: str) -> str:
    """An example, simulated for three seconds only."""
    text = (EXAMPLES / f"{example}.toml").read_text(encoding="utf-8")
    head = text.split("\n[run]", 1)[0]
    return f'{head}\n[run]\nwarmup = "1 s"\nduration = "3 s"\nreplications = 1\n'
