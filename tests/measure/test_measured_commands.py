"""Commands on results that are there, called as from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_records import noisy, result, runs

from homenode.cli import call
from homenode.measure.recorded import copy_to
from homenode.measure.result import load, save


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the recorded results."""
    monkeypatch.chdir(tmp_path)
    copy_to(".")
    return tmp_path


def test_recorded_results_can_be_read_and_name_no_host(here: Path) -> None:
    for path in copy_to(here):
        one = load(path)
        assert len(one.used()) == len(one.records) == 18
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
    """Three runs whose account was cut short, and one whose account was as long again as it."""
    assert call(["measure", "show", "old.json"]) == 0
    assert "loops/stage (1 of 6), loops/single (3 of 6)" in capsys.readouterr().out
    assert call(["measure", "compare", "old.json", "new.json"]) == 0
    found = " ".join(capsys.readouterr().out.split())
    assert "Not compared by processor time: loops/stage, loops/single" in found


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
