"""`homenode run --until`, and figures that are marked as wide."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from homenode.cli import call
from systems import SHORT


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    path = tmp_path / "web.toml"
    path.write_text(SHORT, encoding="utf-8")
    return path


Asked = Callable[..., tuple[int, str, str]]


@pytest.fixture
def asked(scenario: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    """Exit code, output and messages of `homenode run` on the scenario."""

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = call(["run", str(scenario), *words])
        return (code, *capsys.readouterr())

    return run


def test_wide_intervals_are_marked_with_what_would_narrow_them(asked: Asked) -> None:
    code, shown, _ = asked()
    assert code == 0
    assert " ?" in shown
    assert "? an interval of more than 20 % of its mean (web): " in shown
    assert "replications would narrow it, these are 2" in shown


def test_until_runs_as_many_as_it_takes(asked: Asked) -> None:
    code, shown, _ = asked("--until", "10 %", "--json")
    assert code == 0
    told = json.loads(shown)["partitions"]["web"]
    for metric in ("physc", "etr_per_s", "response_ms_mean"):
        assert told[metric]["ci95"] <= 0.1 * told[metric]["mean"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("5", "has no unit"),
        ("500%", "no interval can be that narrow"),
        ("narrow", "--until narrow"),
    ],
)
def test_a_share_that_is_none(asked: Asked, said: str, expected: str) -> None:
    code, _, told = asked("--until", said)
    assert code == 2
    assert expected in told


def test_it_does_not_go_with_what_is_looked_for(asked: Asked) -> None:
    code, _, told = asked("--until", "5%", "--find", "users", "--response", "2 s")
    assert code == 2
    assert "--until" in told
