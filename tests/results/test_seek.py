"""Looking for users and scores with the compiled engine, on a small machine."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.cli import call
from homenode.errors import HomenodeError, RunError, ScenarioError
from homenode.evidence.study import load_study
from homenode.evidence.study.evaluate import run_cases
from homenode.simulate.kept.kept_run import KeptRun
from homenode.simulate.runner import InterruptedRun
from homenode.simulate.scenario import Scenario
from homenode.simulate.seek.users import UsersFound

pytestmark = pytest.mark.usefixtures("here")

SHOP = """\
name = "shop"

[machine]
model = "hp-rx7640"

[[npartition]]
name = "npar0"
cells = ["cell0"]
memory = "32 GiB"

[[partition]]
name = "sap"
processors = { mode = "dedicated", cores = 2 }
memory = [{ size = "8 GiB", on = "interleaved" }]
guest = { os = "hp-ux" }
workload = { kind = "users", count = 100, think = "1 s", profile = "sap-sd" }

[[partition]]
name = "jbb"
processors = { mode = "dedicated", cores = 2 }
memory = [{ size = "8 GiB", on = "interleaved" }]
guest = { os = "hp-ux" }
workload = { kind = "warehouses", count = 2, profile = "specjbb" }

[run]
warmup = "10 s"
duration = "60 s"
replications = 2
"""


@pytest.fixture
def shop(here: Path) -> Scenario:
    (here / "shop.toml").write_text(SHOP, encoding="utf-8")
    return Scenario.load(here / "shop.toml")


def with_users(shop: Scenario, count: int) -> float:
    run = shop.with_({"partition.sap.workload.count": count}).run()
    return (run.metrics["sap"]["response_ms_mean"].mean or 0.0) / 1e3


def test_the_most_users_are_found_from_wherever_it_starts(shop: Scenario) -> None:
    found = shop.find_users("1 s")
    assert isinstance(found, UsersFound)
    assert with_users(shop, found.users) < 1.0 <= with_users(shop, found.users + 1)
    for start in (1, 70, 2000):
        other = shop.with_({"partition.sap.workload.count": start}).find_users("1 s", "sap")
        assert other.users == found.users
        assert other.run.id == found.run.id
    # Every run is kept under the name of a plain run with as many users.
    again = shop.with_({"partition.sap.workload.count": found.users}).run()
    assert again.id == found.run.id
    assert all((Path("runs") / run.id).is_dir() for run in found.runs)
    # A full system's response rises by 1 / X with each user.
    best = found.best
    assert best.response_s.ci95 is not None
    law = best.response_s.ci95 * (best.rate_per_s.mean or 0.0)
    assert found.ci95 == pytest.approx(law, rel=0.2)


def test_a_scenario_says_what_it_looks_for(shop: Scenario) -> None:
    asking = shop.with_({"find": {"response": "1 s"}})
    assert asking.find().run.id == shop.find_users("1 s").run.id
    # What is kept is a scenario that only runs.
    kept = Scenario.load(asking.find().run.path / "scenario.toml")
    assert kept.looks_for is None
    with pytest.raises(ScenarioError, match="looks for nothing"):
        shop.find()


def test_the_score_is_a_mean_over_n_to_2n_warehouses(shop: Scenario) -> None:
    found = shop.find_score()
    assert [count for count, _ in found.trials] == [2, 3, 4]
    rates = [run.metrics["jbb"]["etr_per_s"].mean or 0.0 for run in found.runs]
    assert found.rate_per_s.mean == pytest.approx(sum(rates) / 3)


@pytest.mark.parametrize(
    ("find", "told"),
    [
        ({"of": "users"}, "say what its mean stays under"),
        ({"of": "users", "response": "2 s", "partition": "jbb"}, "the workload of jbb is none"),
        ({"of": "users", "response": "2 s", "partition": "spa"}, "sap"),
        ({"of": "score", "response": "2 s"}, "leave it out"),
        ({"of": "users", "response": "2"}, "a time is written with one of"),
    ],
)
def test_what_cannot_be_looked_for_is_refused(
    shop: Scenario, find: dict[str, str], told: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        shop.with_({"find": find})
    assert told in str(refused.value)


def test_a_limit_that_nobody_meets_is_said(shop: Scenario) -> None:
    with pytest.raises(RunError, match=r"not even one user .* under 0\.001 s: it takes 0\.0"):
        shop.find_users("1 ms")


def test_whoever_stops_it_is_told_what_was_complete(shop: Scenario) -> None:
    stop, runs = threading.Event(), 0

    def doing(_: str) -> None:
        nonlocal runs
        runs += 1
        if runs == 2:
            stop.set()

    with pytest.raises(InterruptedRun) as stopped:
        shop.find_users("1 s", doing=doing, stop=stop)
    assert len(stopped.value.earlier) == 1
    assert (Path("runs") / stopped.value.earlier[0]).is_dir()


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert call(list(words)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_the_command_line_finds_them(shop: Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("run", "shop.toml", "--find", "users", "--response", "1 s")
    out = answer(capsys, *words)
    users = shop.find_users("1 s").users
    assert f"sap: {users:,} users with a mean response under 1 s" in out
    assert "SAPS" in out
    told = json.loads(answer(capsys, *words, "--json"))
    assert told["find"]["users"] == users
    assert told["find"]["run"] == told["run"]
    assert {one["under"] for one in told["find"]["trials"]} == {True, False}
    assert told["scores"]["sap"]["unit"] == "SAPS"
    rate = told["partitions"]["sap"]["etr_per_s"]["mean"]
    # 6,000 dialog steps an hour are 100 SAPS.
    assert told["scores"]["sap"]["mean"] == pytest.approx(rate * 3600 / 6000 * 100)


def test_a_sweep_is_searched_point_by_point(
    shop: Scenario, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    swept = (
        SHOP + '\n[find]\nresponse = "1 s"\n[sweep]\n"partition.sap.processors.cores" = [1, 2]\n'
    )
    (here / "swept.toml").write_text(swept, encoding="utf-8")
    told = json.loads(answer(capsys, "run", "swept.toml", "--json"))["runs"]
    one, two = (point["find"]["users"] for point in told)
    assert two == pytest.approx(2 * one, rel=0.05)


def test_words_that_go_with_nothing(shop: Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["run", "shop.toml", "--response", "1 s"]) == 2
    assert "add --find users" in capsys.readouterr().err
    assert call(["run", "shop.toml", "--find", "users"]) == 2
    assert "homenode: --find: " in capsys.readouterr().err
    with pytest.raises(HomenodeError, match="none of warehouses"):
        shop.find_score("sap")


def test_a_case_of_a_study_is_the_run_that_was_found(here: Path) -> None:
    """The benchmark's rule holds in the run that its rows are told of, and one user more breaks it;
    values that a fit replaces stand in every run on the way.
    """
    study = load_study("hp-vpars")
    parameters = {"sap-1a.toml": {"partitions.sap.profile.miss_m0": 0.05}}
    found = run_cases(study, ["sap-1a"], parameters, 2, None, here / "runs")["sap-1a"]
    assert (found.metrics["sap"]["response_ms_mean"].mean or 0.0) < 2000.0
    runs = KeptRun.all(here / "runs")
    assert len(runs) >= 3
    assert {run.partition_spec("sap")["profile"]["miss_m0"] for run in runs} == {0.05}
    seconds = {
        run.partition_spec("sap")["workload"]["count"]: run.metrics["sap"]["response_ms_mean"].mean
        for run in runs
    }
    most = found.partition_spec("sap")["workload"]["count"]
    beyond = [told for users, told in seconds.items() if users > most]
    assert beyond
    assert min(told or 0.0 for told in beyond) >= 2000.0
