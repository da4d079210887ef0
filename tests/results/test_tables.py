"""Parquet files are the same bytes however the rows arrive, over several row groups."""

from __future__ import annotations

import struct
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from homenode.simulate.runner import interval_files as tables

COLUMNS = ["time_ns", "partition"]


def write(folder: Path, batch_rows: int, rows: int = 25) -> Path:
    """Two replications, handed over in batches of some size, groups of ten rows."""
    folder.mkdir()
    for replication in (0, 1):
        writer = tables.ReplicationWriter(folder, replication, {"partition": COLUMNS})
        for start in range(0, rows, batch_rows):
            values = range(start, min(start + batch_rows, rows))
            packed = struct.pack(f"<{len(values)}q", *values)
            writer.add({"partition": {"time_ns": packed, "partition": packed}})
        writer.close()
    target = folder / "partition.parquet"
    tables.merge_parts(folder, target, "partition", [0, 1], COLUMNS)
    return target


def test_bytes_do_not_depend_on_the_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(tables._GROUP_ROWS, "partition", 10)
    files = [write(tmp_path / str(batch), batch) for batch in (1, 7, 10, 25)]
    assert len({path.read_bytes() for path in files}) == 1
    read = pq.read_table(files[0]).to_pydict()
    assert read["replication"] == [0] * 25 + [1] * 25
    assert read["time_ns"] == [*range(25)] * 2
    assert pq.ParquetFile(files[0]).num_row_groups == 6
    assert [path.name for path in (tmp_path / "1").iterdir()] == ["partition.parquet"]


def test_a_table_without_rows_is_still_a_table(tmp_path: Path) -> None:
    tables.merge_parts(tmp_path, tmp_path / "pool.parquet", "pool", [0], COLUMNS)
    assert pq.read_table(tmp_path / "pool.parquet").num_rows == 0
    tables.merge_parts(tmp_path, tmp_path / "dispatches.parquet", "dispatches", [0], COLUMNS)
    assert not (tmp_path / "dispatches.parquet").exists()
