"""SQL over kept runs: it answers, and it cannot write or look elsewhere."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

import frames
from homenode.cli import call
from homenode.errors import HomenodeError, NotFoundError
from homenode.simulate.kept import query as asking
from homenode.simulate.kept.query import query
from homenode.simulate.kept.store import fingerprint
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
        "EXPORT DATABASE 'x'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET memory_limit = '1 GB'",
        "PRAGMA enable_profiling",
        "CALL force_checkpoint()",
        "UPDATE EXTENSIONS",
        "WITH added AS (INSERT INTO runs VALUES ('x') RETURNING *) FROM added",
        "CREATE TABLE t AS PIVOT summary ON metric USING first(mean)",
        "COPY (PIVOT summary ON metric USING first(mean)) TO 'stolen.csv'",
        "EXPLAIN",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO 'stolen.csv'",
        "/* € */ EXPLAIN -- first\n (ANALYZE, FORMAT JSON) COPY (SELECT 1) TO 'stolen.csv'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{summary}'",
        "EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1",
        "EXPLAIN ANALYZE COPY (PIVOT summary ON metric USING first(mean)) TO 'stolen.csv'",
        "EXPLAIN PREPARE q AS COPY (SELECT 1) TO 'stolen.csv'",
        "SELECT * FROM query('COPY (SELECT 1) TO x')",
        "SELECT * FROM enable_logging(storage = 'file', storage_path = 'logs')",
        "SELECT * FROM read_text('{summary}')",
        "SELECT * FROM connection",
    ],
)
def test_nothing_but_questions(question: str, two_runs: tuple[str, str]) -> None:
    Path("secret.csv").write_text("a\n1\n")
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    with pytest.raises(HomenodeError):
        query(question.format(summary=Path("runs", two_runs[0], "summary.json").resolve()))
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == before


@pytest.mark.usefixtures("two_runs")
def test_what_gets_past_the_check_writes_nothing_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "refuse_writing", lambda connection, sql: None)
    before = sorted(Path().rglob("*"))
    with pytest.raises(HomenodeError, match="file system operations are disabled"):
        query("EXPLAIN ANALYZE COPY (SELECT 1) TO 'stolen.csv'")
    assert sorted(Path().rglob("*")) == before


@pytest.mark.usefixtures("two_runs")
@pytest.mark.parametrize(
    "question",
    [
        "PIVOT (SELECT partition, metric, mean FROM summary) ON metric USING first(mean)",
        "PIVOT summary ON metric IN ('physc') USING first(mean)",
        "EXPLAIN PIVOT summary ON metric USING first(mean)",
        "EXPLAIN ANALYZE SELECT * FROM runs",
        "EXPLAIN (FORMAT JSON) SELECT 1",
        "EXPLAIN (SELECT 1)",
        "DESCRIBE summary",
        "SUMMARIZE runs",
        "SHOW TABLES",
        "WITH r AS (FROM runs) FROM r;",
        "VALUES ('€')",
        "-- a remark\nSELECT 1",
    ],
)
def test_all_kinds_of_questions_are_answered(question: str) -> None:
    assert not query(question).is_empty()


@pytest.mark.usefixtures("two_runs")
@pytest.mark.parametrize(
    ("question", "limits", "told"),
    [
        (
            "SELECT count(*) FROM range(1000000000000000)",
            {"time_limit_ns": 10**8},
            "not answered in 100 ms: .* --time-limit",
        ),
        (
            "SELECT list(range) FROM range(1000000000)",
            {"memory_limit": 50 << 20},
            "needs more than 50 MiB: .* --memory-limit",
        ),
        (
            "SELECT * FROM range(1000000000000000)",
            {"memory_limit": 1 << 20},
            "the answer is larger than 1 MiB: .* --memory-limit",
        ),
    ],
)
def test_limits_end_a_query(question: str, limits: dict[str, int], told: str) -> None:
    with pytest.raises(HomenodeError, match=told):
        query(question, **limits)  # type: ignore[arg-type]
    for one in threading.enumerate():
        if one.name == "query":  # it was told to end, and may be told before it has
            one.join(120)
            assert not one.is_alive()


@pytest.mark.usefixtures("two_runs")
def test_ctrl_c_ends_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(self: object, timeout: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(asking.Future, "result", pressed)
    with pytest.raises(KeyboardInterrupt):
        query("SELECT count(*) FROM range(1000000000000000)")
    assert not [one for one in threading.enumerate() if one.name == "query"]


def test_a_column_that_a_run_lacks_is_empty_there(two_runs: tuple[str, str]) -> None:
    file = Path("runs", two_runs[0], "intervals", "partition.parquet")
    pl.read_parquet(file).drop("donated_ns").write_parquet(file)
    provenance = Path("runs", two_runs[0], "provenance.json")
    told = json.loads(provenance.read_text())
    told["files"]["intervals/partition.parquet"] = fingerprint(file)
    provenance.write_text(json.dumps(told))
    answer = query("SELECT run, count(donated_ns) AS n FROM partition_intervals GROUP BY 1")
    counted = dict(answer.iter_rows())
    assert counted[two_runs[0]] == 0
    assert counted[two_runs[1]] > 0


def test_no_runs() -> None:
    with pytest.raises(NotFoundError, match="holds no run"):
        query("SELECT 1")


@pytest.mark.usefixtures("two_runs")
def test_columns_of_one_name_are_told_apart() -> None:
    assert query("select 1 a, 2 a, 3 a").to_dicts() == [{"a": 1, "a:1": 2, "a:2": 3}]


@pytest.mark.usefixtures("two_runs")
def test_what_is_the_user_s_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    asked = "select '[/x]' as \"[b]\", '[red]y[/red]', chr(27) || ':smile:'"
    assert call(["sql", asked]) == 0
    shown = capsys.readouterr().out
    assert all(text in shown for text in ("[/x]", "[b]", "[red]y[/red]", "\\x1b:smile:"))
    assert "\x1b" not in shown
