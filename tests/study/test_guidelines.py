"""Advice held against guidelines: what follows one, what is saved, in which order layouts come."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

from homenode.cli.study import show_study
from homenode.errors import StudyError
from homenode.evidence.study import StudyResult, load_study, run_study
from homenode.evidence.study.advice import Asked, Ranking
from homenode.model.estimate import Estimate
from homenode.planner import Advice, Answer, Change

HOME, VIRTUAL = "partition.a.home", "partition.a.processors.virtual"
STUDY = """\
title = "two on a drawer"
source = "nobody"
claim = "apart they use less"

[run]
replications = 3

[[case]]
name = "one"
scenario = "pair.toml"
partition = "a"

[[case]]
name = "few"
scenario = "pair.toml"
partition = "a"
set = { "partition.a.workload.rate" = "100/s" }

[[ranking]]
of = ["one", "few"]
by = "physc"
least = true

[[advice]]
name = "together"
scenario = "other/pair.toml"
guideline = { "partition.a.home" = "other" }

[advice.set]
"advise.free" = ["home"]
"advise.pinned" = ["b"]
"advise.values" = { "partition.a.home" = ["drawer1"] }

[[advice]]
name = "apart"
scenario = "other/pair.toml"

[advice.set]
"partition.a.home" = "drawer1"
"advise.free" = ["home"]
"advise.pinned" = ["b"]
"advise.values" = { "partition.a.home" = ["drawer0"] }
"""
PAIR = """\
[machine]
model = "ibm-power-770"
active_cores = 32

[[partition]]
name = "a"
processors = { mode = "shared", entitlement = 4.0, virtual = 14 }
memory = "64 GiB"
home = "drawer0"
workload = { kind = "transactions", rate = "1300/s", bursts = 4, profile = "oltp" }

[[partition]]
name = "b"
processors = { mode = "shared", entitlement = 4.0, virtual = 14 }
memory = "64 GiB"
home = "drawer0"
workload = { kind = "transactions", rate = "1300/s", bursts = 4, profile = "oltp" }

[run]
warmup = "300 ms"
duration = "1 s"
"""
PUBLISHED = """\
case,metric,value,unit,role,reading,tolerance,why
one,rank,2,,validation,text,0,
few,rank,1,,validation,text,0,
together,follows,1,,validation,text,0,
together,saves_cores,1,cores,validation,text,0.1..20,
together,saves_pct,5,%,validation,text,0.5..90,
apart,follows,1,,validation,text,0,
"""


def advice(*changes: tuple[str, object, object], saved: float = 2.0) -> Advice:
    """What is advised to somebody who uses eight cores."""
    made = tuple(Change("a", "home", path, old, new, "") for path, old, new in changes)
    now = Answer((), Estimate(8.0, 0.1), None, Estimate(None), 0.0)
    best = Answer(made, Estimate(6.0), None, Estimate(None), 0.0, saving_cores=Estimate(saved, 0.4))
    return Advice("s", "cores", None, "m", "node", now, (best,) if made else (), "", "")


def asked(**guideline: object) -> Asked:
    paths = {"home": HOME, "virtual": VIRTUAL}
    told = {paths[key]: one if isinstance(one, tuple) else (one,) for key, one in guideline.items()}
    return Asked("s", "s.toml", {}, told)


@pytest.mark.parametrize(
    ("guideline", "changes", "follows"),
    [
        ({}, [], True),
        ({}, [(HOME, "book5", "book7")], False),
        ({"home": "book7"}, [], False),
        ({"home": "book7"}, [(HOME, "book5", "book7")], True),
        ({"home": ("book6", "book7")}, [(HOME, "book5", "book7")], True),
        ({"home": "book6"}, [(HOME, "book5", "book7")], False),
        ({"home": "other"}, [(HOME, "book5", "book7")], True),
        ({"virtual": "less"}, [(VIRTUAL, 30, 20)], True),
        ({"virtual": "less"}, [(VIRTUAL, 30, 40)], False),
        ({"virtual": "more"}, [(VIRTUAL, 30, 40)], True),
        ({"virtual": "less", "home": "other"}, [(VIRTUAL, 30, 20)], False),
    ],
)
def test_what_follows_a_guideline(
    guideline: Mapping[str, object], changes: list[tuple[str, object, object]], follows: bool
) -> None:
    told = asked(**guideline).value(advice(*changes), "follows")
    assert told == Estimate(float(follows))


def test_what_advice_saves_is_told_of_the_cores_used_now() -> None:
    told = advice((HOME, "book5", "book7"))
    assert asked().value(told, "saves_cores") == Estimate(2.0, 0.4)
    assert asked().value(told, "saves_pct") == Estimate(25.0, pytest.approx(5.0))
    assert asked().value(advice(), "saves_pct") == Estimate(0.0)


def test_layouts_in_their_order() -> None:
    figures = {"a": Estimate(3.0), "b": Estimate(9.0), "c": Estimate(5.0), "d": Estimate(5.0)}

    def ranks(*, least: bool) -> dict[str, float | None]:
        ranking = Ranking(tuple(figures), "m", least)
        return {name: ranking.rank(name, lambda one, _: figures[one]).mean for name in figures}

    assert ranks(least=True) == {"a": 1, "b": 4, "c": 2, "d": 2}
    assert ranks(least=False) == {"a": 4, "b": 1, "c": 2, "d": 2}
    figures["b"] = Estimate(None, None, "no steady state")
    told = Ranking(tuple(figures), "m", least=True).rank("a", lambda one, _: figures[one])
    assert told == Estimate(None, None, "no steady state")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("small", "other"):
        (tmp_path / name / "scenarios").mkdir(parents=True)
        (tmp_path / name / "scenarios" / "pair.toml").write_text(PAIR, encoding="utf-8")
    (tmp_path / "small" / "study.toml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "small" / "published.csv").write_text(PUBLISHED, encoding="utf-8")
    return tmp_path


@pytest.fixture
def result(root: Path, tmp_path: Path) -> StudyResult:
    return run_study(load_study("small", root), out=tmp_path / "runs")


def test_a_study_asks_for_advice(result: StudyResult, capsys: pytest.CaptureFixture[str]) -> None:
    assert not result.misses
    show_study(result)
    told = " ".join(capsys.readouterr().out.split())
    assert "Advised: together: 1 change saves" in told
    assert "partition.a.home: drawer0 -> drawer1" in told
    assert "apart: No beneficial move" in told


def test_the_null_model_moves_nothing(result: StudyResult) -> None:
    null = {one.published.key: result.null_answer(one) for one in result.comparisons}
    assert (null["together:follows"], null["apart:follows"]) == (0.0, 1.0)
    assert null["together:saves_cores"] == 0.0


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("study.toml", "other/pair", "other/pear", "no file scenarios/other/pear.toml"),
        ("study.toml", '"few"]', '"fewer"]', "no such case or ratio; did you mean few"),
        ("study.toml", '"one", "few"]', '"one", "one"]', "one stands there twice"),
        ("study.toml", 'name = "apart"', 'name = "one"', "one stands there twice"),
        ("published.csv", "one,rank", "one,follows", "told of an [[advice]], and nothing else"),
        ("published.csv", "apart,follows", "apart,physc", "told of an [[advice]], and nothing"),
        ("study.toml", '[[ranking]]\nof = ["one", "few"]\nby = "physc"\nleast = true', "",
         "row one:rank is in no [[ranking]]"),
    ],
)  # fmt: skip
def test_a_wrong_study_is_refused(file: str, old: str, new: str, told: str, root: Path) -> None:
    path = root / "small" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(StudyError) as refused:
        load_study("small", root)
    assert told in str(refused.value)


def test_each_guideline_is_computed_by_what_is_named() -> None:
    """The guide's table: rows of studies, and files of tests, that there are."""
    root = Path(__file__).resolve().parents[2]
    guide = (root / "docs" / "guides" / "advise.md").read_text(encoding="utf-8")
    table = guide[guide.index("| guideline |") :].partition("\n\n")[0].splitlines()[2:]
    assert len(table) >= 10
    tests = {path.name for path in (root / "tests").rglob("test_*.py")}
    for line in table:
        told = re.findall(r"`([^`]+)`", line.split(" | ")[-1])
        rows = [one.split(":") for one in told if ":" in one]
        files = [one for one in told if one.endswith(".py")]
        assert rows or files, line
        for study, case in rows:
            assert case in {one.case for one in load_study(study).published}, (study, case)
        assert tests.issuperset(files), line
