"""Users and warehouses that have no answer in all of the time: no response tells of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from homenode import Run, Scenario
from homenode.cli.ran import run_json
from homenode.report.runs import unanswered_lines

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

Z = """
[machine]
model = "ibm-z15"
characterized = { ifl = 4 }
[[partition]]
name = "capped"
processors = { mode = "shared", virtual = 4, weight = 50, polarization = "vertical", cap = 0.5 }
memory = "4 GiB"
guest = { os = "linux" }
workload = { kind = "warehouses", count = 12, profile = PROFILE }
[[partition]]
name = "loops"
processors = { mode = "shared", virtual = 4, weight = 50 }
memory = "4 GiB"
guest = { os = "linux" }
workload = { kind = "loops", count = 4, endless = true, profile = "query" }
"""
POWER = """
[machine]
model = "ibm-power-770"
active_cores = 2
[[partition]]
name = "one"
processors = { mode = "dedicated", cores = 1 }
memory = "4 GiB"
guest = { os = "linux" }
workload = WORK
"""
HOST = """
[machine]
model = "amd-epyc-7742-2s"
policy = "POLICY"
sockets = 1
cores_per_socket = 4
threads = 2
[[partition]]
name = "one"
processors = { mode = "shared", virtual = 2, weight = 256 }
memory = "4 GiB"
workload = WORK
"""
PROFILE = '{ base = "xorshift-loop", instructions = 2e7 }'
SLOW = '{ base = "xorshift-loop", instructions = 2e10 }'
WAREHOUSES = f'{{ kind = "warehouses", count = 3, profile = {SLOW} }}'
USERS = f'{{ kind = "users", count = 3, think = "10 ms", profile = {SLOW} }}'
QUICK = f'{{ kind = "users", count = 3, think = "10 s", profile = {PROFILE} }}'
RUN = '[run]\nwarmup = "500 ms"\nduration = "1 s"\nreplications = 1\n'


def done(text: str, folder: Path) -> Run:
    return Scenario.from_toml(text + RUN).run(out=folder)


def test_logical_processors_that_never_run_keep_their_threads(tmp_path: Path) -> None:
    """Vertical-low ones of a capped partition: four of twelve, and X R = 8."""
    run = done(Z.replace("PROFILE", PROFILE), tmp_path)
    assert run.unanswered == {"capped": 4.0}
    (line,) = unanswered_lines(run)
    assert "capped 4 of 12 warehouses" in line
    assert run_json(run)["unanswered"] == {"capped": 4.0}
    metrics = run.metrics["capped"]
    inside = metrics["etr_per_s"].mean * metrics["response_ms_mean"].mean / 1e3
    assert inside == pytest.approx(8.0, rel=0.03)


@pytest.mark.parametrize("work", [WAREHOUSES, USERS])
@pytest.mark.parametrize(
    "machine", [POWER, HOST.replace("POLICY", "linux"), HOST.replace("POLICY", "credit2")]
)
def test_who_takes_longer_than_the_run_has_no_answer_in_it(
    machine: str, work: str, tmp_path: Path
) -> None:
    run = done(machine.replace("WORK", work), tmp_path)
    assert run.unanswered == {"one": 3.0}


def test_who_thinks_waits_for_no_answer(tmp_path: Path) -> None:
    run = done(POWER.replace("WORK", QUICK), tmp_path)
    assert run.unanswered == {}
    assert unanswered_lines(run) == []
    assert "unanswered" not in run_json(run)
