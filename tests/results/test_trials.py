"""Fewer virtual processors and more entitlement, tried by `homenode explain --try`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode import Run, Scenario, run_scenario
from homenode.errors import HomenodeError
from homenode.simulate.trials import AS_IT_IS, tried

CROWDED = """\
name = "crowded"

[machine]
model = "ibm-power-770"
active_cores = 16

[[partition]]
name = "one"
processors = { mode = "shared", entitlement = 2.0, virtual = 12 }
smt = 2
memory = "16 GiB"
guest = { throughput_mode = 2 }
workload = { kind = "transactions", rate = "500/s", bursts = 10, wait = "2 ms", profile = "oltp" }

[[partition]]
name = "two"
processors = { mode = "dedicated", cores = 4 }
memory = "16 GiB"
workload = { kind = "loops", count = 4, endless = true, profile = "oltp" }

[run]
warmup = "1 s"
duration = "2 s"
replications = 1
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_scenario(Scenario.from_toml(CROWDED), out=tmp_path_factory.mktemp("runs"))


def test_what_may_be_changed_is_tried_beside_the_run_as_it_is(run: Run) -> None:
    told: list[tuple[float, str]] = []
    trials = tried(run, "one", each=lambda done, doing: told.append((done, doing)))
    assert [one.change for one in trials] == [
        AS_IT_IS,
        "10 virtual processors",
        "8 virtual processors",
        "6 virtual processors",
        "entitlement 4",
        "entitlement 8",
    ]
    assert [done for done, _ in told] == pytest.approx([index / 6 for index in range(6)])
    assert trials[0].physc == pytest.approx(run.metric("one", "physc").mean, rel=1e-9)
    few = trials[3]
    assert few.physc is not None
    assert few.physc <= 6.0


def test_no_more_is_entitled_than_there_is(tmp_path: Path) -> None:
    full = CROWDED.replace("entitlement = 2.0", "entitlement = 7.0")
    trials = tried(run_scenario(Scenario.from_toml(full), out=tmp_path), "one")
    assert [one.change for one in trials[1:]] == ["10 virtual processors", "8 virtual processors"]


def test_a_trial_changes_nothing_that_is_kept(run: Run) -> None:
    before = sorted(path.name for path in run.path.parent.iterdir())
    tried(run, "one")
    assert sorted(path.name for path in run.path.parent.iterdir()) == before


def test_what_has_cores_of_its_own_has_nothing_to_try(run: Run) -> None:
    with pytest.raises(HomenodeError, match="there is nothing to try for two"):
        tried(run, "two")


def test_from_the_command_line(
    run: Run, command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    place = ("--out", str(run.path.parent))
    done = command("explain", "crowded:one", "--try", "--json", *place)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trials"][0]["change"] == AS_IT_IS
    shown = command("explain", "crowded:one", "--try", *place)
    assert "8 virtual processors" in shown.stdout
    many = command("explain", "crowded", "--try", *place)
    assert many.returncode != 0
    assert "write crowded:one --try" in many.stderr
