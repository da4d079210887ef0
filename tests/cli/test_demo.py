"""`homenode demo` and `homenode study`, on a tiny study in place of the shipped one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import standins
from homenode.cli import call
from homenode.evidence.study import definition, listing
from homenode.serve import layouts

Capture = pytest.CaptureFixture[str]

STUDY = """\
title = "two frames"
source = "nobody"
claim = "sharing a node costs cores"
assumptions = ["nothing else runs in the frames"]
case = [
    { name = "a", scenario = "apart.toml", partition = "one" },
    { name = "b", scenario = "together.toml", partition = "three" },
]
explain = [{ case = "b", base = "a" }]

[[calibrate]]
name = "work"
parameter = "partitions.*.profile.instructions_per_unit"
rows = ["a:physc"]
bounds = [1e6, 1e9]
"""
PUBLISHED = """\
case,metric,value,unit,role,reading,tolerance,why
a,physc,9,cores,calibration,text,2%,
b,physc,10..12,cores,validation,text,0%,
b,ilcs_per_s,10000,1/s,validation,text,10%,the stand-in knows no better
"""


def on_the_page(_: str, edits: Mapping[str, str]) -> dict[str, Any]:
    """Of two who share a node, or of whom one was moved."""
    used = {"three": 9.5 if edits else 11.25, "four": 9.0 if edits else 10.0}
    of = {name: {"cores": cores} for name, cores in used.items()}
    move = {"path": "partition.four.home", "at": "node0", "to": ["node0", "node1"]}
    solved = {"cores": sum(used.values()), "partitions": of}
    return {"moves": {"three": {}, "four": move}, "solved": solved}


@pytest.fixture(autouse=True)
def tiny(
    fake: ModuleType, here: Path, files: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "studies/p795-lpar-affinity"
    files(f"{name}/study.toml", STUDY)
    files(f"{name}/published.csv", PUBLISHED)
    files(f"{name}/scenarios/apart.toml", standins.APART)
    files(f"{name}/scenarios/together.toml", standins.TOGETHER)
    monkeypatch.setattr(layouts, "answer", on_the_page)
    for module in (definition, listing):
        monkeypatch.setattr(module, "studies_folder", lambda: here / "studies")
    monkeypatch.setattr(listing, "indexed", lambda _: None)


def test_demo_prints_the_answer_and_draws_it(capsys: Capture) -> None:
    assert call(["demo"]) == 0
    out, err = capsys.readouterr()
    assert "with four in node1 the page shows 2.8 cores fewer, three 1.8 and four 1.0:" in err
    assert "calibration: 1 of 1 rows within tolerance" in out
    assert "b ilcs_per_s: 7,680 ± 0 for 10000 (-23.2 %, tolerance ±10 %); the stand-in knows" in out
    assert "no better" in out
    assert "nothing else runs in the frames" in out
    assert "Move one: four" in out.replace("\n", " ")
    assert Path("out/p795.svg").exists()
    assert Path("out/p795.png").exists()


def test_demo_json(capsys: Capture) -> None:
    assert call(["demo", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["pictures"] == ["out/p795.png", "out/p795.svg"]
    assert told["explanation"]["total"]["difference"] == 1.94


def test_study_list_all_and_one(capsys: Capture) -> None:
    assert call(["study", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["study"] == "p795-lpar-affinity"
    assert call(["study", "--list"]) == 0
    assert "two frames" in capsys.readouterr().out
    assert call(["study", "--all", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["studies"]) == 1
    assert call(["study", "p795-lpar-affinity", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert list(told) == ["study", "rows", "counts", "not_fitted", "mape"]


def test_all_studies_end_with_a_line_each(capsys: Capture) -> None:
    assert call(["study", "--all"]) == 0
    last = capsys.readouterr().out.split("Rows within tolerance, and those the null model passes")[
        1
    ]
    line = next(line for line in last.splitlines() if line.startswith("p795-lpar-affinity"))
    assert line.split()[1:] == ["1/2", "0", "-", "-", "-", "1/1"]


def test_study_calibrate(capsys: Capture) -> None:
    assert call(["study", "p795-lpar-affinity", "--calibrate"]) == 0
    out, err = capsys.readouterr()
    assert "work" in out
    assert "the files were not changed" in err
    assert call(["study", "p795-lpar-affinity", "--calibrate", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["parameters"][0]
    assert found["found"] == pytest.approx(2e7, rel=0.01)
