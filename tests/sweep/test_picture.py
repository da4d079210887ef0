"""`homenode sweep --picture`: two axes as a map of heat, one as a line, more refused beforehand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from homenode.cli import call


def test_two_axes_are_a_map_of_heat(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small.parent)
    command = ["sweep", small.name, "--jobs", "1", "--show", "physc"]
    assert call([*command, "--picture", "heat.json"]) == 0
    drawn = json.loads(Path("heat.json").read_text())
    (panel,) = drawn["concat"]
    assert panel["title"] == "db: physc [cores]"
    assert sum(len(rows) for rows in drawn["datasets"].values()) == 12

    alone = small.read_text().replace('"partition.db.processors.virtual" = [2, 4, 8]\n', "")
    Path("line.toml").write_text(alone)
    assert call(["sweep", "line.toml", "-j", "1", "--show", "physc", "-i", "line.json"]) == 0
    (panel,) = json.loads(Path("line.json").read_text())["vconcat"]
    assert panel["layer"][0]["encoding"]["y"]["title"] == "physc [cores]"


def test_three_axes_are_refused_before_anything_runs(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    third = '"partition.db.smt" = [2, 4]\n'
    small.write_text(small.read_text() + third)
    assert call(["sweep", str(small), "--picture", str(small.with_name("heat.svg"))]) == 2
    assert "a picture of a sweep has one axis or two, this one has 3" in capsys.readouterr().err
    assert not (small.parent / "sweeps").exists()
