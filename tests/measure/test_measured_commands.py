"""Commands on results that are there, called as from the command line."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from made_records import noisy, result, runs

from homenode.cli import call
from homenode.hosts.recorded import copy_to
from homenode.hosts.result import load, save
from homenode.hosts.statistics import fewest_runs

pytestmark = pytest.mark.anywhere


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the recorded results."""
    monkeypatch.chdir(tmp_path)
    copy_to(".")
    return tmp_path


def test_recorded_results_can_be_read_and_name_no_host(here: Path) -> None:
    for path in copy_to(here):
        one = load(path)
        runs_that_count = Counter(run.case for run in one.used())
        assert runs_that_count.keys() == one.cases.keys()
        assert min(runs_that_count.values()) >= fewest_runs(paired=False)
        assert one.environment["anonymous"] is True
        assert "host" not in one.environment


def test_what_is_known_of_the_recorded_hosts_comes_out(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """1.3 processors' time against 1: two loops gain 30 %, a single one nothing."""
    words = ["measure", "compare", "old.json", "new.json", "--claim", "30 %", "--json"]
    assert call(words) == 0
    found = json.loads(capsys.readouterr().out)
    cases = {case["case"]: case for case in found["cases"]}
    stage, single = cases["loops/stage"], cases["loops/single"]
    assert stage["speed"]["low"] < 1.3 < stage["speed"]["high"]
    assert stage["verdict"] == "better"
    assert single["verdict"] == "undecided"
    assert single["claim"] == "does not hold"


def test_processor_time_that_is_not_known_is_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of one run on the first host, of three on the second."""
    for name, lost in (("one", 1), ("two", 3)):
        made = runs(noisy(lost, 500.0, 0.01, 6), system=name)
        made[:lost] = [replace(run, cpu=None) for run in made[:lost]]
        save(result(made), here / f"{name}.json")
    assert call(["measure", "show", "two.json"]) == 0
    assert "fio/read (3 of 6)" in capsys.readouterr().out
    assert call(["measure", "compare", "one.json", "two.json"]) == 0
    found = " ".join(capsys.readouterr().out.split())
    assert "Not compared by processor time: fio/read" in found


@pytest.mark.parametrize(
    "damage", [{"score": 0.0}, {"processors": 0}, {"score": 1e308}, {"seconds": 1e-320}]
)
def test_senseless_records_end_with_two(
    here: Path, capsys: pytest.CaptureFixture[str], damage: dict[str, float]
) -> None:
    data = json.loads((here / "old.json").read_text(encoding="utf-8"))
    for one in data["records"][1::3]:
        one.update(damage)
    (here / "bad.json").write_text(json.dumps(data), encoding="utf-8")
    assert call(["measure", "compare", "bad.json", "new.json"]) == 2
    assert "internal" not in capsys.readouterr().err
    assert call(["measure", "show", "bad.json"]) == (0 if damage == {"score": 0.0} else 2)


def test_names_may_stand_with_commas_or_one_by_one(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = []
    for only in (
        ["--only", "sysbench,loops/stage"],
        ["--only", "sysbench", "--only", "loops/stage"],
    ):
        assert call(["measure", "compare", "old.json", "new.json", *only, "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]
    assert [case["case"] for case in answers[0]["cases"]] == ["sysbench/orders", "loops/stage"]


def test_json_is_held_against_the_machine_that_was_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [
        run
        for n, rate in {1: 100.0, 2: 190.0}.items()
        for run in runs([rate, 1.002 * rate], processors=n)
    ]
    save(result(records), here / "set.json")
    found = []
    for machine in ([], ["--machine", "ibm-power-795"]):
        assert call(["measure", "show", "set.json", *machine, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["scaling"][0])
    assert found[0]["reference"] == "linear scaling"
    assert found[1]["reference"] != found[0]["reference"]
    ratios = [one["sizes"][1]["capability_ratio"] for one in found]
    assert ratios[0] == 2.0
    assert ratios[1] < 2.0


def test_a_result_tells_when_and_where_it_was_measured(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = result(
        runs([500.0] * 4),
        started="2026-01-05T23:50:01+01:00",
        finished="2026-01-06T00:10:59+01:00",
        environment={
            "processors": {"model": "Made 9000", "online": [0, 1]},
            "kernel": {"release": "6.1"},
            "virtualisation": {"guest": True, "hypervisor": "KVM"},
        },
    )
    save(one, here / "one.json")
    assert call(["measure", "show", "one.json"]) == 0
    line = "Measured 2026-01-05 23:50 to 2026-01-06 00:10 on Made 9000, 2 processors, kernel 6.1, "
    assert f"{line}a guest of KVM." in " ".join(capsys.readouterr().out.split())


def test_files_that_were_not_measured_alike_end_with_two(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(result(runs(noisy(1, 500, 0.01, 4))), here / "a.json")
    save(result(runs([500.0] * 4), versions={"fio": "3.36"}), here / "b.json")
    assert call(["measure", "compare", "a.json", "b.json"]) == 2
    assert "version of fio: 3.33 and 3.36" in capsys.readouterr().err
    assert call(["measure", "compare", "a.json", "old.json"]) == 2
    assert "no case in common" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "old.json", "no.json"], "no.json cannot be read"),
        (["compare", "old.json", "new.json", "--claim", "much"], "no number of per cent"),
        (["compare", "old.json", "new.json", "--claim", "-100"], "claim of -100 % cannot be"),
        (["needed", "--noise", "2 %", "--claim", "0"], "0 % cannot be claimed"),
        (["beside", "old.json", "nothing"], "no run nothing"),
    ],
)
def test_wrong_words_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert call(["measure", *words]) == 2
    assert message in capsys.readouterr().err


def test_runs_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["measure", "needed", "--noise", "2 %", "--claim", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"noise_pct": 2.0, "claim_pct": 2.0, "runs": 18, "pairs": 19}


def test_a_damaged_file_is_refused_without_a_traceback(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = (here / "old.json").read_text(encoding="utf-8")
    for text in (
        "",
        "{}",
        whole[: len(whole) // 2],
        whole.replace('"work": ', '"work": "x", "y": ', 1),
    ):
        (here / "bad.json").write_text(text, encoding="utf-8")
        assert call(["measure", "compare", "bad.json", "new.json"]) == 2
        assert "bad.json" in capsys.readouterr().err


def test_response_times_stand_in_every_table_or_are_said_not_to_be_told(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert call(["measure", "show", "old.json"]) == 0
    shown = capsys.readouterr().out
    head, stage = (
        next(line for line in shown.splitlines() if line.startswith(name))
        for name in ("case", "loops/stage")
    )
    assert head.index("mean ms") < head.index("tail ms")
    assert stage.count("not told") == 2
    orders = shown.split("Response times on old")[1].splitlines()[2].split()
    assert orders[0] == "sysbench/orders"
    assert " ".join(orders).count("not told") == 3  # p50, p99, p99.9: this sysbench told one place
    assert call(["measure", "compare", "old.json", "new.json"]) == 0
    summary, *_ = capsys.readouterr().out.split("Throughput, case by case")
    loops = next(line for line in summary.splitlines() if line.startswith("loops"))
    assert "response %" in summary
    assert "not told" in loops
