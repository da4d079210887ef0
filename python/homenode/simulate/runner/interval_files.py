"""Batches of columns from the engine to Parquet files that are the same bytes whenever the rows are
the same.

The engine hands over rows whenever it is ready, which depends on the wall clock. Rows are therefore
gathered into row groups of a fixed size before they are written, one part file a replication; at
the end the parts are copied, group by group in the order of the replications, into one file, or
renamed if there is but one. Memory is bounded by the size of a group.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

REPLICATION = "replication"
ALWAYS_WRITTEN = ("partition", "cpu", "pool")
_GROUP_ROWS = {
    "partition": 8_192,
    "cpu": 32_768,
    "pool": 8_192,
    "workload": 8_192,
    "dispatches": 131_072,
    "virtual_machine": 32_768,
    "switch": 8_192,
    "volume": 32_768,
    "fabric": 32_768,
    "interrupt": 32_768,
    "home": 8_192,
}

_MOST_WAITING = 64
"""Tables that wait before they are made one: a table of a few rows weighs far more than they do."""


def schema_of(columns: Sequence[str]) -> pa.Schema:
    """All columns are 64-bit integers; the replication stands first."""
    return pa.schema(
        [pa.field(name, pa.int64(), nullable=False) for name in (REPLICATION, *columns)]
    )


def to_table(columns: Mapping[str, bytes], schema: pa.Schema, replication: int) -> pa.Table:
    """View packed little-endian int64 bytes as Arrow columns, without a copy."""
    rows = len(next(iter(columns.values()))) // 8
    # A scalar of Arrow's would load pandas, where that is installed.
    number = replication.to_bytes(8, "little")
    every = [number * rows, *(columns[name] for name in schema.names[1:])]
    arrays = [
        pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(packed)]) for packed in every
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def open_writer(path: Path, schema: pa.Schema, *, numbers: bool = True) -> pq.ParquetWriter:
    """A Parquet writer with every option that shapes the bytes fixed; `numbers` says that all
    columns are integers.
    """
    return pq.ParquetWriter(
        path,
        schema,
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        compression_level=3,
        use_dictionary=False,
        column_encoding=dict.fromkeys(schema.names, "DELTA_BINARY_PACKED") if numbers else None,
        write_statistics=True,
    )


class PartWriter:
    """Rows of one table of one replication."""

    def __init__(self, path: Path, schema: pa.Schema, replication: int, group_rows: int) -> None:
        self.path = path
        self._schema = schema
        self._replication = replication
        self._group_rows = group_rows
        self._waiting: list[pa.Table] = []
        self._rows = 0
        self._writer: pq.ParquetWriter | None = None

    def add(self, columns: Mapping[str, bytes]) -> None:
        """Take a batch; write as many full groups as there are."""
        table = to_table(columns, self._schema, self._replication)
        self._waiting.append(table)
        if len(self._waiting) == _MOST_WAITING:
            self._waiting = [pa.concat_tables(self._waiting).combine_chunks()]
        self._rows += table.num_rows
        while self._rows >= self._group_rows:
            self._write_group(self._group_rows)

    def close(self) -> None:
        """Write what is left and close the file."""
        if self._rows:
            self._write_group(self._rows)
        self.abandon()

    def abandon(self) -> None:
        """Close the file without writing what is left."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _write_group(self, rows: int) -> None:
        together = pa.concat_tables(self._waiting)
        if self._writer is None:
            self._writer = open_writer(self.path, self._schema)
        self._writer.write_table(together.slice(0, rows), row_group_size=rows)
        self._waiting = [together.slice(rows)] if together.num_rows > rows else []
        self._rows -= rows


class ReplicationWriter:
    """The tables of one replication, each in its part file."""

    def __init__(
        self, folder: Path, replication: int, columns: Mapping[str, Sequence[str]]
    ) -> None:
        self._parts = {
            name: PartWriter(
                part_path(folder, name, replication),
                schema_of(names),
                replication,
                _GROUP_ROWS[name],
            )
            for name, names in columns.items()
        }

    def add(self, tables: Mapping[str, Mapping[str, bytes]]) -> None:
        """Take one batch of the engine."""
        for name, columns in tables.items():
            self._parts[name].add(columns)

    def close(self) -> None:
        """Complete all files."""
        for part in self._parts.values():
            part.close()

    def abandon(self) -> None:
        """Drop a replication that did not finish."""
        for part in self._parts.values():
            with contextlib.suppress(
                OSError
            ):  # the disk may be full, which is why it did not finish
                part.abandon()
            part.path.unlink(missing_ok=True)


def part_path(folder: Path, table: str, replication: int) -> Path:
    """Where a replication's rows of a table wait for the others."""
    return folder / f".{table}-{replication:05d}.parquet"


def merge_parts(
    folder: Path, target: Path, table: str, replications: Iterable[int], columns: Sequence[str]
) -> None:
    """Copy the parts of a table into one file, in order of replication; parts are removed."""
    parts = [part_path(folder, table, index) for index in replications]
    there = [part for part in parts if part.exists()]
    if not there and table not in ALWAYS_WRITTEN:
        return
    if len(there) == 1:
        there[0].rename(target)
        return
    with open_writer(target, schema_of(columns)) as writer:
        for part in there:
            with pq.ParquetFile(part) as source:
                for group in range(source.num_row_groups):
                    rows = source.read_row_group(group)
                    writer.write_table(rows, row_group_size=max(rows.num_rows, 1))
            part.unlink()
