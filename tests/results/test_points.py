"""Points beside each other: differences of common random numbers, what is best, how it is told."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from homenode.cli import call
from homenode.errors import NotFoundError
from homenode.model.estimate import Estimate, estimate, student_t
from homenode.report.points import as_csv, markdown
from homenode.simulate.kept.kept_run import KeptRun
from homenode.simulate.kept.points import (
    BEST,
    LIKE_BEST,
    Point,
    changes_in_words,
    chosen_metrics,
    compared,
    difference,
    point_in_words,
    short_names,
)
from homenode.simulate.scenario import Scenario

SWEEP = """\
name = "shop"

[machine]
model = "ibm-p5-570"

[[partition]]
name = "web"
processors = { mode = "shared", entitlement = 1.0, virtual = 2 }
memory = "2 GiB"
guest = { level = "5.3" }
workload = { kind = "transactions", rate = "300/s", profile = "oltp" }

[run]
warmup = "100 ms"
duration = "1 s"
replications = 3

[sweep]
"partition.web.processors.virtual" = [2, 4]
"partition.web.processors.entitlement" = [0.5, 1.0]
"""
Ask = Callable[..., str]


def point(
    run: str, values: list[float], metric: str = "response_ms_p95", seed: int = 1, **axes: object
) -> Point:
    return Point(
        run=run,
        axes=axes,
        chance=("shop", seed),
        partitions=("web",),
        offered=frozenset({"web"}),
        told={("web", metric): estimate(values)},
        values={("web", metric): dict(enumerate(values))},
    )


def test_differences_are_taken_pair_by_pair() -> None:
    first, second = point("a", [10.0, 20.0, 33.0]), point("b", [9.0, 19.0, 31.0])
    found = difference(first, second, "web", "response_ms_p95")
    # -1, -1, -2: mean -4/3, deviation sqrt(1/3).
    assert found.mean == pytest.approx(-4 / 3)
    assert found.ci95 == pytest.approx(student_t(2) * math.sqrt(1 / 3) / math.sqrt(3))
    other = difference(first, point("c", [9.0, 19.0, 31.0], seed=2), "web", "response_ms_p95")
    assert other.mean == pytest.approx(-4 / 3)
    assert other.ci95 is not None
    assert found.ci95 is not None
    assert other.ci95 > 5 * found.ci95  # what both share does not drop out of it


def test_only_replications_of_both_are_paired() -> None:
    first, second = point("a", [1.0, 2.0, 3.0]), point("b", [1.5, 2.5])
    assert difference(first, second, "web", "response_ms_p95") == Estimate(0.5, 0.0)
    nothing = point("c", [])
    assert difference(first, nothing, "web", "response_ms_p95").mean is None


def test_the_best_is_marked_and_those_like_it() -> None:
    points = [point("a", [10.0, 11.0]), point("b", [9.0, 9.9]), point("c", [8.0, 11.0])]
    told = compared(points, ["response_ms_p95"])
    assert [row.cells["response_ms_p95"].mark for row in told.rows] == ["", BEST, LIKE_BEST]
    more = [point("a", [10.0, 11.0], "etr_per_s"), point("b", [9.0, 10.0], "etr_per_s")]
    assert compared(more, ["etr_per_s"]).rows[0].cells["etr_per_s"].mark == BEST
    # More busy logical processors are neither better nor worse.
    neither = [point("a", [10.0], "lbusy_pct"), point("b", [9.0], "lbusy_pct")]
    assert {row.cells["lbusy_pct"].mark for row in compared(neither, ["lbusy_pct"]).rows} == {""}


def test_names_of_axes_are_as_short_as_they_can_be() -> None:
    axes = ("partition.a.processors.virtual", "partition.b.processors.virtual", "machine.clock")
    assert list(short_names(axes).values()) == [
        "a.processors.virtual",
        "b.processors.virtual",
        "clock",
    ]
    assert point_in_words({"partition.a.smt": 4}) == "smt = 4"


def test_a_metric_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(NotFoundError, match=r"no metric physcc; did you mean physc\? the metrics"):
        chosen_metrics("etr_per_s,physcc")
    with pytest.raises(NotFoundError, match="names no metric"):
        chosen_metrics(" , ")


def test_a_table_can_be_read_by_others() -> None:
    told = compared([point("a", [1.0, 2.0], x=1), point("b", [1.0, 2.5], x="2|3")], USED)
    [head, *rows] = csv.reader(io.StringIO(as_csv(told)))
    assert head[:4] == ["run", "x", "partition", "response_ms_p95"]
    assert [row[1] for row in rows] == ["1", "2|3"]
    assert float(rows[1][head.index("response_ms_p95_change")]) == 0.25
    lines = markdown(told).splitlines()
    assert lines[1] == "| --- | ---: | ---: |"
    assert lines[3].startswith("| 2\\|3 | ")


USED = ["response_ms_p95"]


@pytest.fixture(scope="module")
def _swept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")
    folder = tmp_path_factory.mktemp("sweep")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (folder / "shop.toml").write_text(SWEEP)
        assert call(["run", "shop.toml"]) == 0
        yield folder


@pytest.fixture
def ask(_swept: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.chdir(_swept)
    monkeypatch.setenv("COLUMNS", "160")

    def asked(*words: str) -> str:
        capsys.readouterr()
        assert call(list(words)) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return asked


def test_a_sweep_ends_with_one_table(ask: Ask) -> None:
    shown = ask("run", "shop.toml", "--show", "physc,response_ms_p95")
    last = shown[shown.index("All 4 points") :].splitlines()
    assert last[1].split() == [
        "virtual", "entitlement", "physc", "change", "response_ms_p95", "change",
    ]  # fmt: skip
    assert [line.split()[:2] for line in last[2:6]] == [
        ["2", "0.5"], ["2", "1.0"], ["4", "0.5"], ["4", "1.0"],
    ]  # fmt: skip
    assert shown.count(" of 12 cores used") == 4  # the frame, once a point


def test_forms_show_the_table_alone(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(ask("run", "shop.toml", "--csv"))))
    assert [row["partition.web.processors.virtual"] for row in rows] == ["2", "2", "4", "4"]
    assert ask("run", "shop.toml", "--markdown", "--show", "physc").startswith("| virtual |")
    assert call(["run", "shop.toml", "--markdown", "--csv"]) == 2
    assert "exclude each other" in capsys.readouterr().err
    told = json.loads(ask("run", "shop.toml", "--json"))
    assert len(told["runs"]) == len(told["table"]) == 4
    assert told["runs"][0]["frame"]["capacity"] == 12


def test_kept_runs_know_their_point(ask: Ask) -> None:
    told = json.loads(ask("runs", "--json"))
    assert {one["point"]["partition.web.processors.virtual"] for one in told} == {2, 4}
    assert "virtual = 4, entitlement = 1.0" in ask("runs")
    question = "SELECT count(*) AS n FROM points WHERE axis LIKE '%virtual' AND value = '4'"
    assert json.loads(ask("sql", question, "--json")) == [{"n": 2}]


def test_runs_of_one_name_are_told_apart_by_what_was_changed(ask: Ask) -> None:
    layout = Scenario.load("shop.toml").nth(0)
    changes = {"partition.web.memory": "4 GiB", "partition.web.processors.virtual": 3}
    for one in (layout, layout.with_(changes)):
        one.run(replications=1, out="apart")
    words = "web.processors.virtual = 3, web.memory = 4 GiB"
    assert ask("runs", "--out", "apart").count(words) == 1
    told = [one["changes"] for one in json.loads(ask("runs", "--out", "apart", "--json"))]
    assert sorted(told, key=str) == sorted([changes, None], key=str)
    assert KeptRun.load("shop", "apart").changes == {}, "the layout itself, if it is not the newest"
    many = {f"partition.p{at}.demand": [0.5] * 99 for at in range(9)}
    assert changes_in_words(many).endswith("p3.demand = another, 5 more")


def test_any_runs_can_be_compared(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [one["run"] for one in json.loads(ask("runs", "--json"))]
    told = json.loads(ask("compare", *runs[:2], "--show", "physc", "--json"))
    assert told["paired"] is True
    assert [row["run"] for row in told["table"]] == runs[:2]
    assert told["table"][0]["metrics"]["physc"]["change"]["mean"] is None
    assert told["table"][1]["metrics"]["physc"]["change"]["ci95"] is not None
    ask("run", "shop.toml", "--seed", "2")
    other = json.loads(ask("runs", "--json"))[0]["run"]
    assert json.loads(ask("compare", runs[0], other, "--json"))["paired"] is False
    assert other in ask("compare", runs[0], other)
    assert call(["compare", runs[0], "-p", "wob"]) == 2
    assert "no partition wob; did you mean web?" in capsys.readouterr().err


def test_an_axis_that_is_wrong_is_told_at_its_line(
    ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    for wrong, told in (
        ("wob.processors.virtual", "names no partition; did you mean web?"),
        ("web.processors.virtuall", 'unknown key "virtuall": did you mean virtual?'),
    ):
        Path("wrong.toml").write_text(SWEEP.replace("web.processors.virtual", wrong))
        assert call(["run", "wrong.toml"]) == 2
        error = capsys.readouterr().err
        assert error.startswith("homenode: wrong.toml:19:"), error
        assert told in error
