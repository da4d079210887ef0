"""Workloads that play recorded demand: the table beside the scenario, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from homenode.errors import ScenarioError
from homenode.model.scenario import Scenario
from homenode.model.scenario.kept import stand_alone

WORKLOAD = 'workload = { kind = "trace", file = "demand.csv"%s, profile = "oltp" }'
TRANSACTIONS = 'workload = { kind = "transactions", rate = "100/s", profile = "oltp" }'
ROWS = {
    "partition": ["web", "other", "web"],
    "seconds": [300.0, 300.0, 60.5],
    "instructions_per_s": [1e9, 5.0, 2.5e9],
}
Trace = Callable[..., Scenario]


@pytest.fixture
def trace(base: str, tmp_path: Path) -> Trace:
    """The scenario with a trace in place of the transactions, in a folder with its table."""

    def load(more: str = "", rows: dict[str, list[object]] | None = None) -> Scenario:
        pl.DataFrame(rows or ROWS, strict=False).write_csv(tmp_path / "demand.csv")
        text = base.replace(TRANSACTIONS, WORKLOAD % more)
        assert "trace" in text
        return Scenario.from_toml(text, "base.toml", tmp_path)

    return load


def workload(scenario: Scenario) -> dict[str, object]:
    found: dict[str, object] = scenario.spec()["partitions"][0]["workload"]
    return found


def test_each_row_is_a_step_of_its_recorded_length(trace: Trace) -> None:
    assert workload(trace()) == {
        "kind": "trace",
        "lengths_ns": [300_000_000_000, 60_500_000_000],
        "instructions_per_s": [1e9, 2.5e9],
    }


def test_a_step_is_played_for_as_long_as_is_said(trace: Trace) -> None:
    assert workload(trace(', step = "20 s"'))["lengths_ns"] == [20_000_000_000] * 2


def test_another_series_of_the_file(trace: Trace) -> None:
    found = workload(trace(', series = "other"'))
    assert found["instructions_per_s"] == [5.0]


def test_parquet_is_read_too(base: str, tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_parquet(tmp_path / "demand.parquet")
    text = base.replace(TRANSACTIONS, (WORKLOAD % "").replace("csv", "parquet"))
    assert workload(Scenario.from_toml(text, "base.toml", tmp_path))["kind"] == "trace"


def test_each_of_several_has_rows_of_its_own_or_shares_them(base: str, tmp_path: Path) -> None:
    rows = {**ROWS, "partition": ["web1", "web", "web1"]}
    pl.DataFrame(rows).write_csv(tmp_path / "demand.csv")
    text = base.replace(TRANSACTIONS, f"count = 2\n{WORKLOAD % ''}")
    spec = Scenario.from_toml(text, "base.toml", tmp_path).spec()
    played = [one["workload"]["instructions_per_s"] for one in spec["partitions"][:2]]
    assert played == [[1e9, 2.5e9], [5.0]]


def test_a_run_keeps_the_table(trace: Trace, tmp_path: Path) -> None:
    scenario = trace()
    text, files = stand_alone(scenario)
    assert files == {"files/demand.csv": (tmp_path / "demand.csv").read_bytes()}
    kept = tmp_path / "kept"
    (kept / "files").mkdir(parents=True)
    (kept / "files" / "demand.csv").write_bytes(files["files/demand.csv"])
    assert Scenario.from_toml(text, "scenario.toml", kept).spec() == scenario.spec()


def test_a_size_of_files_is_no_file(base: str) -> None:
    zvm = Path(__file__).with_name("zvm.toml").read_text(encoding="utf-8")
    assert 'file = "' in zvm
    assert stand_alone(Scenario.from_toml(zvm))[1] == {}


WRONG = [
    ("", {"partition": ["a"], "seconds": [1.0]}, "has no column instructions_per_s"),
    ("", {**ROWS, "seconds": [300.0, 300.0, 0.0]}, "row 3 of"),
    ("", {**ROWS, "instructions_per_s": [1e9, None, 2.0]}, "row 2 of"),
    ("", {**ROWS, "instructions_per_s": [-1.0, 1.0, 2.0]}, "row 1 of"),
    ("", {**ROWS, "instructions_per_s": ["x", "1", "2"]}, "holds no demand"),
    ("", {**ROWS, "partition": ["a", "b", "c"]}, 'has no partition "web"'),
    (', series = "othr"', ROWS, "did you mean other?"),
    (', step = "1 us"', ROWS, "at least 1 ms"),
]


@pytest.mark.parametrize(("more", "rows", "message"), WRONG)
def test_what_cannot_be_played_says_where(
    trace: Trace, more: str, rows: dict[str, list[object]], message: str
) -> None:
    with pytest.raises(ScenarioError, match="partition web: workload") as caught:
        trace(more, rows)
    assert message in str(caught.value)
    assert "base.toml:13:" in str(caught.value)


def test_a_table_that_is_not_there(base: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="there is no file"):
        Scenario.from_toml(base.replace(TRANSACTIONS, WORKLOAD % ""), "base.toml", tmp_path)


def test_bytes_that_are_no_parquet(base: str, tmp_path: Path) -> None:
    (tmp_path / "demand.parquet").write_bytes(b"\0" * 100)
    text = base.replace(TRANSACTIONS, (WORKLOAD % "").replace("csv", "parquet"))
    with pytest.raises(ScenarioError, match="cannot be read"):
        Scenario.from_toml(text, "base.toml", tmp_path)


def test_a_run_is_not_longer_than_what_is_played(trace: Trace) -> None:
    with pytest.raises(ScenarioError, match="the recorded demand ends after 4 ms") as caught:
        trace(', step = "2 ms"')
    assert 'write duration = "4 ms"' in str(caught.value)


def test_z_vm_runs_no_trace(tmp_path: Path) -> None:
    zvm = Path(__file__).with_name("zvm.toml").read_text(encoding="utf-8")
    start = zvm.index("workload = ")
    line = zvm[start : zvm.index("\n", start)]
    pl.DataFrame(ROWS).write_csv(tmp_path / "demand.csv")
    text = zvm.replace(line, WORKLOAD % ', series = "web"')
    with pytest.raises(ScenarioError, match="under z/VM the virtual machines work"):
        Scenario.from_toml(text, "zvm.toml", tmp_path)
