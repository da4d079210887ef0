"""What counts as moved, and how it is told, by way of a recorded file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from digests import of_document, of_tables
from ledger import Difference, Ledger, Print

ITEM = "examples/one/summary"
DOCUMENT: dict[str, Any] = {
    "run": "one-0123abcd",
    "physc": {"mean": 3.673, "ci95": 0.25},
    "cpi": {"mean": None, "ci95": None},
    "backlog": [1.0, 2.0],
    "reason": "it has no steady state",
}


def printed(document: Any) -> dict[str, Print]:
    return {ITEM: Print("summary", of_document(document))}


def held(new: Any, tmp_path: Path, old: Any = DOCUMENT) -> list[Difference]:
    """What differs from a recorded document, by way of the file."""
    ledger = Ledger()
    ledger.record("examples/one", printed(old))
    ledger.write(tmp_path / "prints.json")
    return Ledger.read(tmp_path / "prints.json").compare("examples/one", printed(new))


def changed(**values: Any) -> dict[str, Any]:
    return {**DOCUMENT, **values}


def test_what_is_the_same_is_no_difference(tmp_path: Path) -> None:
    assert held(json.loads(json.dumps(DOCUMENT)), tmp_path) == []


@pytest.mark.parametrize(
    ("moved", "names"),
    [
        (changed(physc={"mean": math.nextafter(3.673, 4.0), "ci95": 0.25}), ("physc.mean",)),
        (changed(physc={"mean": 3.673, "ci95": None}), ("physc.ci95",)),
        (changed(cpi={"mean": 0.0, "ci95": None}), ("cpi.mean",)),
        (changed(backlog=[2.0, 1.0]), ("backlog",)),
        (changed(backlog=[1.0]), ("backlog",)),
        (changed(reason="another word"), ("reason",)),
        (changed(cpi={"ci95": None}), ("cpi.mean (gone)",)),
        (changed(physc={"mean": -0.0, "ci95": 0.25}), ("physc.mean",)),
    ],
)
def test_what_moves_is_named(moved: Any, names: tuple[str, ...], tmp_path: Path) -> None:
    (found,) = held(moved, tmp_path)
    assert (found.item, found.names) == (ITEM, names)
    assert found.old != found.new


def test_zero_has_a_sign(tmp_path: Path) -> None:
    assert held(changed(backlog=[-0.0]), tmp_path, changed(backlog=[0.0]))


@pytest.mark.parametrize(
    "other",
    [
        changed(run="one-fedc9876"),  # the program's version is in it
        dict(reversed(DOCUMENT.items())),
        changed(role="consequence"),
        changed(backlog_reason=None, tolerance={"percent": 5.0}),
    ],
)
def test_what_moves_no_number_is_no_difference(other: Any, tmp_path: Path) -> None:
    assert held(other, tmp_path) == []


def test_an_item_that_is_gone_is_told() -> None:
    ledger = Ledger()
    ledger.record("examples/one", printed(DOCUMENT))
    assert [one.names for one in ledger.compare("examples/one", {})] == [("gone",)]


def test_what_was_not_recorded_is_told() -> None:
    ledger = Ledger()
    ledger.record("examples/one", printed(DOCUMENT))
    now = printed(changed(role="consequence", tolerance=5.0))
    now["examples/one/tables"] = Print("tables", {})
    told = ledger.gained("examples/one", now)
    assert told == ["examples/one/tables", "summary: role", "summary: tolerance"]


def test_recording_one_leaves_the_lines_of_others_readable(tmp_path: Path) -> None:
    path = tmp_path / "prints.json"
    ledger = Ledger()
    ledger.record("examples/one", printed(DOCUMENT))
    two = {"examples/two/summary": Print("summary", of_document(changed(aaa=1)))}
    ledger.record("examples/two", two)
    ledger.write(path)
    again = Ledger.read(path)
    assert again.compare("examples/one", printed(DOCUMENT)) == []
    assert again.compare("examples/two", two) == []
    (moved,) = again.compare("examples/one", printed(changed(backlog=[7.0])))
    assert moved.names == ("backlog",)


def test_the_file_has_a_line_an_item_and_is_sorted(tmp_path: Path) -> None:
    ledger = Ledger()
    for name in ("two", "one"):
        item = f"examples/{name}/summary"
        ledger.record(f"examples/{name}", {item: Print("summary", of_document(DOCUMENT))})
    ledger.write(tmp_path / "prints.json")
    lines = (tmp_path / "prints.json").read_text(encoding="utf-8").splitlines()
    items = [line.split('"')[1] for line in lines if "examples/" in line]
    assert items == ["examples/one/summary", "examples/two/summary"]
    assert [path.name for path in tmp_path.iterdir()] == ["prints.json"]


def tables(folder: Path, columns: dict[str, pa.Array], **options: Any) -> dict[str, bytes]:
    folder.mkdir()
    pq.write_table(pa.table(columns), folder / "cpu.parquet", **options)
    return of_tables([folder / "cpu.parquet"])


TIMES, SHARES = pa.array([1, 2, 3], pa.int64()), pa.array([0.5, 0.25, 0.125])


def test_a_table_is_its_values_not_its_file(tmp_path: Path) -> None:
    columns = {"time_ns": TIMES, "share": SHARES}
    plain = tables(tmp_path / "plain", columns, compression="none")
    other = tables(tmp_path / "other", columns, compression="zstd", row_group_size=1)
    assert plain == other
    assert set(plain) == {"cpu.time_ns", "cpu.share"}


@pytest.mark.parametrize(
    "times",
    [
        pa.array([1, 2, 4], pa.int64()),
        pa.array([1, 2, 3], pa.int32()),
        pa.array([1, 2, None], pa.int64()),
        pa.array([1, 3, 2], pa.int64()),
        pa.array(["1", "2", "3"]),
    ],
)
def test_a_column_that_moves_is_named(times: pa.Array, tmp_path: Path) -> None:
    old = tables(tmp_path / "old", {"time_ns": TIMES, "share": SHARES})
    new = tables(tmp_path / "new", {"time_ns": times, "share": SHARES})
    assert [name for name in old if old[name] != new[name]] == ["cpu.time_ns"]


def test_an_empty_table_is_more_than_none(tmp_path: Path) -> None:
    empty = tables(tmp_path / "empty", {"time_ns": pa.array([], pa.int64())})
    assert set(empty) == {"cpu.time_ns"}
