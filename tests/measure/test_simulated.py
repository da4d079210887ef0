"""A simulated run in the form of measured ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_records import runs

from homenode import Run, load_scenario
from homenode.hosts.comparison import beside
from homenode.hosts.errors import MeasureError
from homenode.hosts.reduce import cells_of, identities, summarize
from homenode.judge.replications import records_of, result_of

SCENARIO = """
[machine]
model = "ibm-power-795"

[[partition]]
name = "db"
processors = {{ mode = "shared", entitlement = 1.5, virtual = 2 }}
memory = "8 GiB"
workload = {workload}

[[partition]]
name = "quiet"
processors = {{ mode = "shared", entitlement = 0.5, virtual = 1 }}
memory = "4 GiB"
workload = {{ kind = "idle" }}

[run]
warmup = "200 ms"
duration = "400 ms"
interval = "100 ms"
replications = 2
seed = 1
"""
USERS = '{ kind = "users", count = 20, think = "20 ms", profile = "oltp" }'


def simulate(folder: Path, workload: str) -> Run:
    path = folder / "small.toml"
    path.write_text(SCENARIO.format(workload=workload), encoding="utf-8")
    return load_scenario(path).run(out=folder / "runs")


def test_a_replication_is_a_run_with_the_same_figures(tmp_path: Path) -> None:
    run = simulate(tmp_path, USERS)
    records = records_of(run, "db", case="sysbench/read", system="model")
    assert [record.replicate for record in records] == [0, 1]
    for name, figure in (("etr_per_s", identities.etr), ("itr_per_s", identities.itr)):
        assert [figure(r) for r in records] == pytest.approx(run.values("db", name))
    times = [1e6 * (identities.cpu_per_unit(r) or 0.0) for r in records]
    assert times == pytest.approx(run.values("db", "cpu_per_tx_us"))
    assert [r.latency_ms["p95"] for r in records] == run.values("db", "response_ms_p95")
    (cell,) = cells_of(records)
    assert (cell.key.system, cell.key.case, cell.key.load) == ("model", "sysbench/read", 20.0)
    assert cell.metric == "transactions"


def test_it_lies_beside_what_was_measured(tmp_path: Path) -> None:
    run = simulate(tmp_path, USERS)
    rate = run.metric("db", "etr_per_s").mean
    assert rate is not None
    found = beside(runs([rate, 1.01 * rate, 0.99 * rate]), records_of(run, "db"))
    assert found.rows[0].name == "ETR"
    assert found.rows[0].deviation_pct == pytest.approx(0.0, abs=0.1)
    assert summarize(result_of(run, "db")).cells[0].key.case == "db"


def test_loops_are_counted_by_what_they_did(tmp_path: Path) -> None:
    """Two that never end: each replication still does some loops' worth of instructions."""
    run = simulate(tmp_path, '{ kind = "loops", count = 2, profile = "perl-loop" }')
    found = records_of(run, "db")
    assert {record.metric for record in found} == {"loops"}
    assert all(record.work > 0 for record in found)


def test_what_does_nothing_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(MeasureError, match="idle"):
        records_of(simulate(tmp_path, USERS), "quiet")
