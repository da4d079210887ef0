"""The real programs as fixtures. A test whose program is not here is skipped with the reason."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from homenode import Run, load_scenario

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from programs import CannotRunError, PowerProgram, Program, power_program, program

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

BUSY = """
title = "Two partitions that want more than their chip, and two with cores of their own"

[machine]
model = "ibm-power-770"
active_cores = 16

[[partition]]
name = "front"
processors = { mode = "shared", entitlement = 2.35, virtual = 6, weight = 200 }
smt = 2
memory = "12 GiB"
home = "drawer0.chip0"
guest = { os = "linux", hostname = "front.example" }
workload = { kind = "transactions", rate = "400/s", bursts = 20, wait = "3 ms", profile = "oltp" }

[[partition]]
name = "back"
processors = { mode = "shared", entitlement = 1.5, virtual = 8 }
smt = 4
memory = [{ size = "6 GiB" }, { size = "2 GiB", on = "drawer0.chip1" }]
home = "drawer0.chip0"
workload = { kind = "transactions", rate = "500/s", bursts = 20, wait = "3 ms", profile = "oltp" }

[[partition]]
name = "lender"
processors = { mode = "dedicated", cores = 2, donating = true }
memory = "8 GiB"
workload = { kind = "transactions", rate = "60/s", bursts = 20, wait = "3 ms", profile = "oltp" }

[[partition]]
name = "keeper"
processors = { mode = "dedicated", cores = 1 }
memory = "8 GiB"
workload = { kind = "transactions", rate = "30/s", bursts = 20, wait = "3 ms", profile = "oltp" }

[run]
warmup = "1 s"
duration = "7 s"
replications = 1
record_dispatches = true
"""


def _simulated(text: str, folder: Path) -> Run:
    file = folder / "scenario.toml"
    file.write_text(text, encoding="utf-8")
    return load_scenario(file).run(out=folder / "runs")


@pytest.fixture(scope="session")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Four partitions of a Power 770, every dispatch recorded."""
    return _simulated(BUSY, tmp_path_factory.mktemp("busy"))


@pytest.fixture(scope="session")
def mainframe(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Four partitions of a z14."""
    text = (EXAMPLES / "prsm-three-partitions.toml").read_text(encoding="utf-8")
    head = text.split("\n[run]", 1)[0]
    tail = '\n[run]\nwarmup = "1 s"\nduration = "2 s"\nreplications = 1\n'
    return _simulated(head + tail, tmp_path_factory.mktemp("mainframe"))


@pytest.fixture(scope="session")
def client() -> Callable[[str], Program]:
    """`client("lscpu")`: a program of this system."""

    def find(name: str) -> Program:
        try:
            return program(name)
        except CannotRunError as error:
            pytest.skip(str(error))

    return find


@pytest.fixture(scope="session")
def power_client() -> Callable[[str], PowerProgram]:
    """`power_client("lparstat")`: a program of Linux on Power."""

    def find(name: str) -> PowerProgram:
        try:
            return power_program(name)
        except CannotRunError as error:
            pytest.skip(str(error))

    return find
