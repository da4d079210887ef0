"""The ten questions: asked of small generated tables, with one thread and with two."""

from __future__ import annotations

import subprocess
from pathlib import Path

import duckdb
import pytest

from homenode.hosts.adapters import duckdb_worker
from homenode.hosts.live.packages import find

QUESTIONS = Path(duckdb_worker.__file__).with_name("questions.sql")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    generator = find("tpchgen-cli")
    if generator is None:
        pytest.skip("tpchgen-cli is not here: pip install homenode[measure]")
    folder = tmp_path_factory.mktemp("tables")
    argv = [generator, "parquet", "-s", "0.01", "--output-dir", str(folder)]
    subprocess.run(argv, check=True, capture_output=True, timeout=120)
    duckdb_worker.load(folder, folder / "database")
    return folder / "database"


def asked(database: Path, threads: int) -> list[list[tuple[object, ...]]]:
    pairs = duckdb_worker.questions(QUESTIONS.read_text())
    with duckdb.connect(str(database), read_only=True, config={"threads": threads}) as connection:
        return [connection.execute(statement).fetchall() for _, statement in pairs]


def test_there_are_ten() -> None:
    pairs = duckdb_worker.questions(QUESTIONS.read_text())
    assert [title.split()[0] for title, _ in pairs] == [str(n) for n in range(1, 11)]
    assert all(statement.startswith("select") for _, statement in pairs)
    assert all(statement.count(";") == 1 and statement.endswith(";") for _, statement in pairs)


def test_every_question_has_an_answer_and_the_same_with_any_threads(database: Path) -> None:
    one, two = asked(database, 1), asked(database, 2)
    assert all(rows for rows in one)
    assert one == two


def test_answers_agree_with_plain_counts(database: Path) -> None:
    rows = asked(database, 2)
    with duckdb.connect(str(database), read_only=True) as connection:
        lines, late = connection.execute(
            "select count(*), count(*) filter (where l_receiptdate > l_commitdate) from lineitem"
        ).fetchall()[0]
        orders, worth = connection.execute(
            "select count(*), sum(o_totalprice) from orders"
        ).fetchall()[0]
    assert sum(row[4] for row in rows[0]) == lines
    assert sum(row[1] for row in rows[2]) == lines
    assert sum(row[2] for row in rows[2]) == late
    assert sum(row[2] for row in rows[5]) == orders
    assert sum(row[3] for row in rows[5]) == worth
    # The last month of each nation's running revenue is all of its revenue.
    assert sum(row[2] for row in rows[6]) == worth
    last = {row[0]: row[3] for row in rows[6]}
    assert sum(last.values()) == worth


def test_the_worker_needs_nothing_of_homenode() -> None:
    source = Path(duckdb_worker.__file__).read_text()
    assert "import homenode" not in source
    assert "from homenode" not in source
