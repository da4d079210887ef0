"""Runs that a claim takes, from runs that were made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_records import noisy, result, runs

from homenode.cli import call
from homenode.hosts.errors import MeasureError
from homenode.hosts.reduce import cells_of
from homenode.hosts.reduce.plan import plan_of, plans
from homenode.hosts.result import save
from homenode.hosts.statistics import runs_needed

pytestmark = pytest.mark.anywhere


def test_a_case_is_planned_by_its_own_noise() -> None:
    records = [
        *runs(noisy(1, 500.0, 0.01, 8)),
        *runs(noisy(2, 500.0, 0.20, 8), case="fio/write"),
        *runs([500.0], case="fio/once"),
    ]
    quiet, loud = plans(cells_of(records), 0.05)
    assert (quiet.cell.key.case, loud.cell.key.case) == ("fio/read", "fio/write")
    assert quiet.runs == runs_needed(quiet.cv, 0.05) == 4
    assert loud.runs == runs_needed(loud.cv, 0.05)
    assert loud.runs is not None
    assert loud.runs > 50
    assert quiet.shows is not None
    assert quiet.shows < 0.05


def test_pairs_vary_by_both_of_their_runs() -> None:
    assert plan_of(0.03, 0.02) == (
        runs_needed(0.03, 0.02),
        runs_needed(0.03 * 2**0.5, 0.02, paired=True),
    )


def test_what_no_number_shows_has_none() -> None:
    assert plan_of(0.9, 0.0001) == (None, None)
    with pytest.raises(MeasureError, match="cannot be claimed"):
        plan_of(0.9, 0.0)


@pytest.fixture
def pilot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    records = [*runs(noisy(1, 500.0, 0.02, 4)), *runs(noisy(2, 9.0, 0.10, 4), case="jmh/w")]
    return save(result(records), tmp_path / "pilot.json")


def test_a_pilot_tells_how_often_to_measure(
    pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["measure", "needed", "pilot.json", "--claim", "5 %", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    by_case = {one["case"]: one for one in found["cases"]}
    most = max(one["runs"] for one in by_case.values())
    assert call(["measure", "needed", "pilot.json", "--claim", "5 %"]) == 0
    out = capsys.readouterr().out
    assert f"All cases: --repeats {most} (jmh/w takes the most)" in out
    assert "The noise of 4 runs is known badly itself" in out
    assert call(["measure", "needed", "pilot.json", "--claim", "5", "--only", "fio"]) == 0
    assert "jmh/w" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--claim", "5"], "asks for either --noise or a result"),
        (["pilot.json", "--noise", "3", "--claim", "5"], "asks for either --noise or a result"),
        (["pilot.json"], "asks for --claim"),
        (["pilot.json", "--claim", "0"], "cannot be claimed"),
        (["pilot.json", "--claim", "5", "--only", "nothing"], "no case nothing"),
        (["none.json", "--claim", "5"], "cannot be read"),
    ],
)
def test_what_is_lacking_is_asked_for(
    pilot: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert call(["measure", "needed", *words]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""


def test_a_result_of_single_runs_has_no_noise(
    pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(result(runs([500.0])), pilot.with_name("one.json"))
    assert call(["measure", "needed", "one.json", "--claim", "5"]) == 2
    assert "and so no noise" in capsys.readouterr().err
