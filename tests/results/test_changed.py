"""Runs in which partitions changed: what tools, exports, summaries and the command line say."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode import Run, Scenario, run_scenario
from homenode.records import exporting
from homenode.records.importing.front import read_paths
from homenode.simulate.kept.changed import changed_lines
from homenode.tools import lparstat, mpstat, sar, vmstat
from homenode.tools.changed import NOTICE
from homenode.tools.view import KeptRunView

CHANGED = """\
name = "changed"

[machine]
model = "ibm-power-770"
active_cores = 16

[[partition]]
name = "lpar1"
processors = { mode = "shared", entitlement = 2.0, virtual = 2, capped = true }
smt = 4
memory = "16 GiB"
maximum = { virtual = 6 }
guest = { daemons = { rate = "0/s" } }
workload = { kind = "loops", count = 16, endless = true, profile = "compute" }

[[partition]]
name = "lpar2"
processors = { mode = "shared", entitlement = 1.0, virtual = 2, weight = -1 }
memory = "16 GiB"
guest = { os = "linux" }
workload = { kind = "loops", count = 2, endless = true, profile = "compute" }

[[change]]
at = "2 s"
partition = "lpar1"
entitlement = 3.0
virtual = 3

[[change]]
at = "3500 ms"
partition = "lpar1"
smt = 2

[run]
warmup = "1 s"
duration = "6 s"
replications = 1
record_dispatches = true
"""
Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_scenario(Scenario.from_toml(CHANGED), out=tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def view(run: Run) -> KeptRunView:
    return KeptRunView.of(run)


def configurations(text: str) -> list[str]:
    """What the configuration lines say of logical processors and entitlement."""
    lines = [line for line in text.splitlines() if line.startswith("System configuration: ")]
    words = [line.split() for line in lines]
    return [" ".join(w for w in one if w.startswith(("lcpu", "ent"))) for one in words]


@pytest.mark.parametrize("tool", [lparstat, mpstat, vmstat, sar])
def test_the_configuration_is_told_anew_when_it_changes(tool: Any, view: KeptRunView) -> None:
    text = tool.render(view, ["-p", "lpar1", "1", "6"])
    lines = text.splitlines()
    told = [line.replace("ent=2.0 ", "ent=2.00 ") for line in configurations(text)]
    digits = 1 if tool is mpstat else 2
    assert configurations(text) == [
        f"lcpu=8 ent={2:.{digits}f}", f"lcpu=12 ent={3:.{digits}f}", f"lcpu=6 ent={3:.{digits}f}",
    ], told  # fmt: skip
    notices = [at for at, line in enumerate(lines) if line == NOTICE]
    assert len(notices) == 2
    assert all(lines[at + 2].startswith("System configuration: ") for at in notices)
    # Without an interval the tool is asked at the end of the run.
    assert configurations(tool.render(view, ["-p", "lpar1"])) == [f"lcpu=6 ent={3:.{digits}f}"]


def test_percentages_are_of_what_it_was_entitled_to_then(view: KeptRunView) -> None:
    rows = lparstat.rows(view, ["-p", "lpar1", "1", "6"])
    assert [row["physc"] for row in rows] == pytest.approx([2, 2, 3, 3, 3, 3], abs=0.02)
    assert [row["%entc"] for row in rows] == pytest.approx([100.0] * 6, abs=0.5)
    assert [row["lbusy"] for row in rows] == pytest.approx([100.0] * 6, abs=0.1)
    (whole,) = lparstat.rows(view, ["-p", "lpar1"])
    assert whole["%entc"] == pytest.approx(100.0, abs=0.5)


def test_only_logical_processors_that_are_online_are_shown(view: KeptRunView) -> None:
    rows = mpstat.rows(view, ["-p", "lpar1", "1", "6"])

    def cpus(second: float) -> list[str]:
        every = [str(row["cpu"]) for row in rows if row["time_s"] == second]
        return [cpu for cpu in every if cpu.isdecimal()]

    assert cpus(1.0) == [str(n) for n in range(8)]
    assert cpus(3.0) == [str(n) for n in range(12)]
    # The second half of each core is off; numbers stay.
    assert cpus(4.0) == cpus(6.0) == ["0", "1", "4", "5", "8", "9"]
    text = mpstat.render(view, ["-s", "-p", "lpar1", "1", "6"])
    assert "cpu11" in text
    assert text.splitlines()[-1].count("%") == 6


def test_lparstat_i_tells_the_end_within_the_limits_of_the_run(view: KeptRunView) -> None:
    (told,) = lparstat.rows(view, ["-i", "-p", "lpar1"])
    wanted = {
        "Online Virtual CPUs": "3", "Minimum Virtual CPUs": "2", "Maximum Virtual CPUs": "6",
        "Entitled Capacity": "3.00", "Minimum Capacity": "2.00", "Maximum Capacity": "3.00",
        "Desired Capacity": "2.00", "Type": "Shared-SMT",
    }  # fmt: skip
    assert {name: told[name] for name in wanted} == wanted


def test_the_weight_of_a_soft_cap_is_minus_one(run: Run) -> None:
    aix = Scenario.from_toml(CHANGED.replace('guest = { os = "linux" }', ""))
    done = run_scenario(aix, out=run.path.parent)
    (told,) = lparstat.rows(KeptRunView.of(done), ["-i", "-p", "lpar2"])
    assert told["Variable Capacity Weight"] == "-1"


def test_what_is_printed_is_read_again(view: KeptRunView, tmp_path: Path) -> None:
    for tool in (lparstat, vmstat, sar):
        path = tmp_path / "printed.txt"
        path.write_text(tool.render(view, ["-p", "lpar1", "1", "6"]), encoding="utf-8")
        facts = read_paths([path])
        assert any("6 samples" in one.what for one in facts.took), facts.took
        assert "not sound" not in str(facts.took)


def test_a_run_says_that_it_changed(run: Run, command: Call) -> None:
    (line,) = changed_lines(run.spec)
    assert line == (
        "lpar1 changed during the run: at 2 s entitlement 3.0, virtual processors 3; at 3.5 s smt 2"
    )
    assert run.metrics["lpar1"]["entc_pct"].mean == pytest.approx(100.0, abs=0.5)
    (run.path.parent / "s.toml").write_text(CHANGED, encoding="utf-8")
    shown = command("run", run.path.parent / "s.toml")
    assert line in shown.stdout.replace("\n", " ")
    told = json.loads(command("run", run.path.parent / "s.toml", "--json").stdout)
    assert told["changes"] == [
        {"at_s": 2.0, "partition": "lpar1", "entitlement": 3.0, "virtual": 3},
        {"at_s": 3.5, "partition": "lpar1", "smt": 2},
    ]
    exported = command("export", "--as", "hmc")
    assert line in exported.stderr.replace("\n", " ")
    assert exported.returncode == 0


def test_what_stops_and_starts_is_told_so(tmp_path: Path) -> None:
    text = CHANGED.replace("smt = 2", "running = false")
    text = text.replace("entitlement = 3.0\nvirtual = 3", "running = true")
    done = run_scenario(Scenario.from_toml(text), out=tmp_path)
    assert changed_lines(done.spec) == [
        "lpar1 changed during the run: at 2 s started; at 3.5 s stopped"
    ]
    rows = lparstat.rows(KeptRunView.of(done), ["-p", "lpar1", "1", "6"])
    assert [row["physc"] for row in rows] == pytest.approx([0, 0, 2, 1, 0, 0], abs=0.02)


@pytest.mark.parametrize("form", ["nmon", "njmon", "openmetrics", "csv", "hmc", "perfetto"])
def test_every_form_takes_such_a_run(run: Run, form: str, tmp_path: Path) -> None:
    exporting.export(run, form, tmp_path / form, exporting.ExportOptions())


def test_nmon_and_linux_show_what_it_was_in_each_snapshot(run: Run, tmp_path: Path) -> None:
    only = exporting.ExportOptions(partition="lpar1")
    exporting.export(run, "nmon", tmp_path / "one.nmon", only)
    rows = [line.split(",") for line in (tmp_path / "one.nmon").read_text("utf-8").splitlines()]
    lpar = [row for row in rows if row[0] == "LPAR" and row[1].startswith("T0")]
    assert [(row[3], row[4], row[6]) for row in lpar] == [
        ("2", "8", "2.00"), ("2", "8", "2.00"), ("3", "12", "3.00"),
        ("3", "6", "3.00"), ("3", "6", "3.00"), ("3", "6", "3.00"),
    ]  # fmt: skip
    linux = exporting.ExportOptions(partition="lpar2")
    exporting.export(run, "linux-power", tmp_path / "tree", linux)
    assert (tmp_path / "tree/sys/devices/system/cpu/online").read_text("utf-8").strip() == "0-7"
