"""Several workloads in one partition: what may stand there, what each gets, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from homenode.cli import call
from homenode.errors import ScenarioError
from homenode.model.scenario import Scenario
from homenode.simulate.kept.query import query
from homenode.simulate.run import Run
from homenode.simulate.runner import run_scenario

HEAD = """
[machine]
model = "ibm-power-770"

[run]
warmup = "1 s"
duration = "4 s"
replications = 1

[[partition]]
name = "db"
processors = { mode = "dedicated", cores = 2 }
memory = "8 GiB"
guest = { os = "linux", tick_cost = "0 us", daemons = { rate = "0/s" } }
"""
DATABASE = """
[[partition.workload]]
name = "orders"
kind = "transactions"
rate = "150/s"
profile = "oltp"
"""
BATCH = """
[[partition.workload]]
kind = "transactions"
rate = "2/s"
profile = { base = "compute", instructions = 3e8 }
"""
ONE = 'workload = { kind = "transactions", rate = "150/s", profile = "oltp" }\n'


def load(text: str) -> Scenario:
    return Scenario.from_toml(text, "mine.toml")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return run_scenario(load(HEAD + DATABASE + BATCH), out=tmp_path)


def test_one_in_a_list_is_the_only_one() -> None:
    listed = load(HEAD + DATABASE.replace('name = "orders"\n', "")).spec()
    assert listed == load(HEAD + ONE).spec()
    assert listed == load(HEAD + DATABASE).spec()


def test_each_reaches_the_engine_under_its_name() -> None:
    partition = load(HEAD + DATABASE + BATCH + BATCH).spec()["partitions"][0]
    assert partition["workload_name"] == "orders"
    assert [one["name"] for one in partition["beside"]] == ["transactions", "transactions2"]
    assert [one["profile"]["name"] for one in partition["beside"]] == ["compute"] * 2
    assert partition["profile"]["name"] == "oltp"


def test_each_has_its_share_of_the_results(run: Run) -> None:
    metrics = run.metrics["db"]
    orders, batch = metrics.workloads["orders"], metrics.workloads["transactions"]
    for name in ("etr_per_s", "physc"):
        both = (orders[name].mean or 0.0) + (batch[name].mean or 0.0)
        assert both == pytest.approx(metrics[name].mean, rel=1e-6)
    assert (batch["cpu_per_tx_us"].mean or 0.0) > (orders["cpu_per_tx_us"].mean or 0.0)
    assert orders["response_ms_p95"].mean is not None
    assert orders["etr_per_s"].ci95 is not None
    intervals = run.intervals("workload")
    assert intervals["workload"].unique().sort().to_list() == ["orders", "transactions"]
    whole = run.intervals("partition")["tx_done"].sum()
    assert intervals["tx_done"].sum() == whole
    with pytest.raises(KeyError, match="no workload order; did you mean orders"):
        metrics.workloads["order"]


def test_it_is_kept_asked_for_and_shown(
    run: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    answer = query(
        "SELECT workload, mean FROM workloads WHERE metric = 'etr_per_s' ORDER BY ALL", tmp_path
    )
    assert answer["workload"].to_list() == ["orders", "transactions"]
    rows = "SELECT workload, sum(tx_done) AS n FROM workload_intervals GROUP BY ALL"
    assert query(rows, tmp_path)["n"].sum() == run.intervals("workload")["tx_done"].sum()
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + DATABASE + BATCH, encoding="utf-8")
    assert call(["run", str(path), "--json", "--out", str(tmp_path)]) == 0
    told = json.loads(capsys.readouterr().out)["partitions"]["db"]["workloads"]
    assert told["orders"]["etr_per_s"]["mean"] == pytest.approx(
        run.metrics["db"].workloads["orders"]["etr_per_s"].mean
    )
    assert call(["run", str(path), "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "  orders" in shown
    assert "  transactions" in shown
    folder = tmp_path / "csv"
    words = ["export", run.id, "--as", "csv", "-o", str(folder), "--out", str(tmp_path)]
    assert call(words) == 0
    rows = (folder / "workload.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + run.intervals("workload").height
    again = Scenario.load(run.path / "scenario.toml")
    assert again.spec()["partitions"] == run.spec["partitions"]


def test_a_path_names_a_workload() -> None:
    scenario = load(HEAD + DATABASE + BATCH)
    faster = scenario.with_({"partition.db.workload.transactions.rate": "5/s"})
    beside = faster.spec()["partitions"][0]["beside"][0]["workload"]
    assert beside == {**beside, "rate_per_s": 5.0}
    slower = scenario.with_({"partition.db.workload.orders.profile.overlap": 0.1})
    assert slower.spec()["partitions"][0]["profile"]["overlap"] == 0.1
    with pytest.raises(ScenarioError, match=r"names no partition.db.workload; .* orders") as wrong:
        scenario.with_({"partition.db.workload.order.rate": "5/s"})
    assert "there is orders, transactions" in str(wrong.value)


def test_a_load_of_the_batch_is_felt_by_the_orders(tmp_path: Path) -> None:
    scenario = load(HEAD + DATABASE + BATCH)
    seen = []
    for rate in ("1/s", "10/s"):
        changed = scenario.with_({"partition.db.workload.transactions.rate": rate})
        orders = run_scenario(changed, out=tmp_path).metrics["db"].workloads["orders"]
        seen.append((orders["response_ms_mean"].mean or 0.0, orders["etr_per_s"].mean))
    assert seen[1][0] > seen[0][0]
    assert seen[0][1] == pytest.approx(seen[1][1], rel=0.02)


def test_a_run_of_one_workload_has_no_table_of_them(tmp_path: Path) -> None:
    alone = run_scenario(load(HEAD + ONE), out=tmp_path)
    assert "workloads" not in alone.summary
    assert not (alone.path / "intervals/workload.parquet").exists()
    with pytest.raises(KeyError, match="db has one workload"):
        alone.metrics["db"].workloads["orders"]


WRONG = [
    (
        DATABASE + BATCH.replace('kind = "tr', 'name = "orders"\nkind = "tr'),
        'mine.toml:23:8: partition db: workload orders.name = "orders": another workload',
    ),
    (DATABASE + BATCH.replace("2/s", "two"), "mine.toml:24:8: partition db: workload[1].rate ="),
    (
        DATABASE + BATCH.replace("rate", "rats"),
        "mine.toml:24:1: partition db: workload[1]: unknown",
    ),
    (DATABASE + BATCH.replace("compute", "compote"), "mine.toml:25:"),
    (
        DATABASE + '[[partition.workload]]\nkind = "cores"\nuse = 1\nprofile = "oltp"\n',
        'mine.toml:22:8: partition db: workload[1].kind = "cores": what one of several takes',
    ),
    (
        DATABASE + BATCH.replace("instructions = 3e8", "instructions = 0.1"),
        "mine.toml:22:3: partition db: workload[1]: 0.1 instructions in 1 bursts take",
    ),
    (
        DATABASE + BATCH.replace("rate =", 'wait = "5 ms"\nrate ='),
        'mine.toml:24:8: partition db: workload[1].wait = "5 ms": it waits between two',
    ),
    ("workload = []\n", "mine.toml:15:12: partition db: workload = []: at least one entry"),
]


@pytest.mark.parametrize(("workloads", "message"), WRONG)
def test_what_is_wrong_is_told_where_it_stands(workloads: str, message: str) -> None:
    with pytest.raises(ScenarioError) as wrong:
        load(HEAD + workloads).spec()
    assert message in str(wrong.value)
    assert str(wrong.value).startswith("mine.toml:")


def test_one_burst_that_is_asked_for_stands_beside_a_wait() -> None:
    """A sweep over bursts begins with one."""
    load(HEAD + DATABASE + BATCH.replace("rate =", 'bursts = 1\nwait = "5 ms"\nrate =')).spec()


def test_plain_processes_of_a_host_are_partitions_of_their_own() -> None:
    host = HEAD.replace("ibm-power-770", "amd-epyc-7742-2s").replace(
        'mode = "dedicated", cores = 2', 'mode = "shared", virtual = 2'
    )
    with pytest.raises(ScenarioError, match="without kvm they are plain processes of the host"):
        load(host + DATABASE + BATCH).spec()
    guest = host + "kvm = {}\n" + DATABASE + BATCH
    assert len(load(guest).spec()["partitions"][0]["beside"]) == 1


def test_the_second_one_may_stream() -> None:
    """How the machine gets data in order is told where any of them asks for it."""
    host = HEAD.replace("ibm-power-770", "intel-xeon-6240-2s").replace(
        '{ mode = "dedicated", cores = 2 }', '{ mode = "shared", virtual = 2 }'
    )
    stream = '[[partition.workload]]\nkind = "loops"\ncount = 1\nprofile = "stream"\n'
    assert "streams" in load(host + "kvm = {}\n" + DATABASE + stream).spec()["machine"]
    assert "streams" not in load(host + "kvm = {}\n" + DATABASE + BATCH).spec()["machine"]
