"""What is told of work in cores before and after a run."""

from __future__ import annotations

from pathlib import Path

from homenode.report.told_work import asked_lines, found_lines
from homenode.simulate.scenario import Scenario

LAYOUT = """
[machine]
model = "ibm-power-770"
active_cores = 16

[[partition]]
name = "db"
count = 2
processors = { mode = "shared", entitlement = 1.0, virtual = 4 }
memory = "8 GiB"
workload = { kind = "cores", profile = "oltp", use = "1.5"%s }

[run]
warmup = "1 s"
duration = "4 s"
replications = 2
"""


def test_before_it_is_run(tmp_path: Path) -> None:
    lines = asked_lines(Scenario.from_toml(LAYOUT % "", "f.toml"))
    assert lines == ["work told in cores: db1 1.5, db2 1.5; `run` finds what it is"]
    elsewhere = LAYOUT % ', reference = "old.toml"'
    assert "db1 1.5 on old.toml" in asked_lines(Scenario.from_toml(elsewhere, "f.toml"))[0]


def test_what_was_found(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(LAYOUT % "", "f.toml")
    run = scenario.run(out=tmp_path)
    rate = run.spec["partitions"][0]["workload"]
    assert rate["kind"] == "trace"
    (line,) = found_lines(run)
    assert f"db1 {rate['instructions_per_s'][0] / 1e9:.3g} for 1.5 cores" in line


def test_other_work_is_not_told_so(tmp_path: Path) -> None:
    text = (LAYOUT % "").replace('kind = "cores"', 'kind = "transactions"')
    other = Scenario.from_toml(text.replace('use = "1.5"', 'rate = "50/s"'), "f.toml")
    assert asked_lines(other) == []
    assert found_lines(other.run(out=tmp_path)) == []
