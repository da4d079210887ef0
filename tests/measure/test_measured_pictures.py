"""Pictures of measured results: what is drawn, of what, and where there is nothing to draw."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from homenode.hosts.comparison import compare
from homenode.hosts.record import RunRecord
from homenode.hosts.recorded import copy_to
from homenode.hosts.reduce import Plain
from homenode.hosts.result import load
from homenode.report.hosts import comparison_picture
from homenode.report.hosts.pictures import load_curves

pytestmark = pytest.mark.anywhere

Command = Callable[..., subprocess.CompletedProcess[str]]


def run(case: str, under: float, score: float, order: int, p99: float | None = None) -> RunRecord:
    told = {} if p99 is None else {"p99": p99}
    kind = (2, under, order, order, score, 1.0, score, "transactions/s")
    return RunRecord("host", case, "transactions", "higher", *kind, latency_ms=told)


def measured(*runs: RunRecord, **parameters: object) -> Plain:
    cases = {one.case: {"parameters": {"load": one.load, **parameters}} for one in runs}
    return Plain(list(runs), cases=cases)


def test_a_curve_has_the_cases_that_differ_in_their_load_alone() -> None:
    result = measured(
        run("request/small-8", 8, 300, 0, 2.0),
        run("request/small-1", 1, 100, 1, 1.0),
        run("request/small-1", 1, 200, 2, 3.0),
        run("fio/read", 4, 10, 3),
    )
    ((name, figures),) = load_curves(result).items()
    assert name == "request/small, 2 CPUs"
    assert list(figures) == ["result [transactions/s]", "response, p99 [ms]"]
    first, last = figures["result [transactions/s]"]
    assert (first["load"], first["low"], first["value"], first["high"]) == (1, 100, 150, 200)
    assert (last["load"], last["value"]) == (8, 300)
    assert [point["value"] for point in figures["response, p99 [ms]"]] == [2.0, 2.0]


def test_other_parameters_and_rejected_runs_make_no_curve() -> None:
    one, other = run("request/a-1", 1, 100, 0), run("request/b-8", 8, 100, 1)
    result = Plain(
        [one, other],
        cases={
            one.case: {"parameters": {"load": 1, "request": 1}},
            other.case: {"parameters": {"load": 8, "request": 200}},
        },
    )
    assert not load_curves(result)


def test_a_comparison_is_drawn_with_its_verdicts(tmp_path: Path) -> None:
    copy_to(tmp_path)
    found = compare(load(tmp_path / "old.json"), load(tmp_path / "new.json"))
    said = str(comparison_picture(found).to_dict()["description"])
    for pair in found.pairs:
        assert f"{pair.first.key.case} {pair.deviation_pct:+.1f}" in said
    assert said.count("undecided") == [pair.verdict for pair in found.pairs].count("undecided")


def test_pictures_by_the_command_line(command: Command, tmp_path: Path) -> None:
    copy_to(tmp_path)
    done = command("measure", "compare", "old.json", "new.json", "--picture", "c.svg")
    assert done.returncode == 0, done.stderr
    assert "<svg" in (tmp_path / "c.svg").read_text()
    curves = command("measure", "show", "new.json", "--picture", "l.png", "--dark")
    assert curves.returncode == 0, curves.stderr
    assert (tmp_path / "l.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "new.json", "--only", "sysbench/orders", "--picture", "l.svg"), "no curve"),
        (("show", "new.json", "--picture", "l.gif"), "a picture ends in"),
        (("compare", "old.json", "new.json", "--picture", "no/folder/c.svg"), "no folder"),
    ],
)
def test_what_cannot_be_drawn(
    words: tuple[str, ...], said: str, command: Command, tmp_path: Path
) -> None:
    copy_to(tmp_path)
    done = command("measure", *words)
    assert done.returncode == 2
    assert said in done.stderr
