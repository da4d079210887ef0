"""SQL over kept runs: it answers, and it cannot write or look elsewhere."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

import frames
from homenode.errors import HomenodeError, NotFoundError
from homenode.simulate.kept.query import query
from homenode.simulate.runner import run_scenario

pytestmark = pytest.mark.usefixtures("fake", "here")


@pytest.fixture
def two_runs(fake: ModuleType, here: Path) -> tuple[str, str]:
    apart, together = frames.near_and_far(2)
    return run_scenario(apart).id, run_scenario(together).id


def test_summary_and_rows_agree(two_runs: tuple[str, str]) -> None:
    answer = query(
        "SELECT s.run, s.partition, s.mean, i.physc FROM summary s JOIN ("
        "  SELECT run, partition, sum(busy_ns) / 2 / 20e9 AS physc FROM partition_intervals"
        "  GROUP BY ALL) i USING (run, partition) WHERE s.metric = 'physc' ORDER BY ALL"
    )
    assert answer["run"].unique().sort().to_list() == sorted(two_runs)
    assert answer["partition"].to_list() == ["one", "two", "four", "three"]
    assert answer["mean"].to_list() == pytest.approx(answer["physc"].to_list())


def test_one_run_only(two_runs: tuple[str, str]) -> None:
    assert query("SELECT run FROM runs", run="apart")["run"].to_list() == [two_runs[0]]


@pytest.mark.usefixtures("two_runs")
@pytest.mark.parametrize("view", ["cpu_intervals", "pool_intervals", "dispatches"])
def test_all_views_are_there(view: str) -> None:
    count = query(f"SELECT count(*) AS n FROM {view}")["n"][0]
    assert (count == 0) == (view == "dispatches")


@pytest.mark.usefixtures("two_runs")
@pytest.mark.parametrize(
    "question",
    [
        "COPY (SELECT 1) TO 'stolen.csv'",
        "CREATE TABLE t AS SELECT 1",
        "DROP VIEW summary",
        "SELECT 1; SELECT 2",
        "",
        "SELECT * FROM read_csv('secret.csv')",
        "SELECT * FROM nowhere",
        "SELEC 1",
        "ATTACH 'x.db'",
    ],
)
def test_nothing_but_questions(question: str) -> None:
    Path("secret.csv").write_text("a\n1\n")
    before = sorted(Path().rglob("*"))
    with pytest.raises(HomenodeError):
        query(question)
    assert sorted(Path().rglob("*")) == before


def test_no_runs() -> None:
    with pytest.raises(NotFoundError, match="holds no run"):
        query("SELECT 1")
