"""Partitions of another file: where they go, by whose rules, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import layouts
import pytest

from homenode.errors import ScenarioError
from homenode.planner.advice import Named
from homenode.planner.front import Asked
from homenode.planner.questions import add

APART = """
[advise]
apart = [["lpar1", "web"]]
"""
PRODUCT = """
[[advise.licence]]
product = "db"
partitions = ["web"]
cost = 100.0
currency = "EUR"
owned = 1
"""


def _file(folder: Path, rules: str, home: str | None = "drawer0") -> Path:
    path = folder / "new.toml"
    path.write_text(layouts.partition("web", home) + rules, encoding="utf-8")
    return path


def _places(named: Sequence[Named]) -> list[tuple[str, str, int | None]]:
    return [(one.rule, Path(one.where.file).name, one.where.line) for one in named if one.where]


def test_its_rules_are_kept_beside_those_of_the_scenario(tmp_path: Path) -> None:
    told = layouts.scenario(
        layouts.partition("lpar1", "drawer0", rate=100),
        layouts.partition("lpar2", "drawer1", rate=100),
        advise='apart = [["lpar1", "lpar2"]]',
    )
    how = Asked(best=1)
    found = add(told, _file(tmp_path, APART), how)
    assert found.best[0].changes[0].path == "partition.web.home"
    assert not str(found.best[0].changes[0].after).startswith("drawer0")
    stays = add(told, _file(tmp_path, APART), how, free=["virtual"])
    assert not stays.best
    assert _places(stays.conflict) == [("lpar1, web apart", "new.toml", 10)]


def test_who_is_new_may_need_licences(tmp_path: Path) -> None:
    told = layouts.scenario(layouts.partition("lpar1", rate=100))
    found = add(told, _file(tmp_path, PRODUCT), Asked(best=1), free=["capped"])
    assert found.conflict
    assert {file for _, file, _ in _places(found.conflict)} == {"new.toml"}


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ('[advise]\napart = [["lpar1", "lpar9"]]', r"lpar9.*the partitions are web, lpar1"),
        ("[advise]\napart = 3", r"advise\.apart = 3: a list"),
        ('[advise]\ngoal = "cores"', r"advise\.goal cannot be added"),
        ("[run]\nseed = 3", r"run cannot be added"),
    ],
)
def test_rules_that_mean_nothing_are_told_with_their_line(
    rules: str, words: str, tmp_path: Path
) -> None:
    path = _file(tmp_path, rules)
    with pytest.raises(ScenarioError, match=words) as caught:
        add(layouts.scenario(layouts.partition("lpar1")), path)
    where = caught.value.where
    assert where is not None
    assert where.file == str(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[(where.line or 0) - 1] in rules


def test_what_is_wrong_with_an_added_file_is_told_with_its_own_line(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    path.write_text(layouts.partition("web").replace("drawer0", "drawer9"), encoding="utf-8")
    with pytest.raises(ScenarioError, match="drawer9") as caught:
        add(layouts.crowded(), path)
    assert caught.value.where is not None
    assert caught.value.where.file == str(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert "drawer9" in lines[(caught.value.where.line or 0) - 1]
    path.write_text(layouts.partition("lpar1"), encoding="utf-8")
    with pytest.raises(ScenarioError, match="lpar1") as caught:
        add(layouts.crowded(), path)
    assert str(path) in str(caught.value)
    assert "give each partition a name of its own" in str(caught.value)
