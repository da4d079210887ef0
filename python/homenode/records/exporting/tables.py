"""A run as Parquet or CSV: a folder with a file a table.

Numbers are not rounded: CSV holds the shortest decimal that reads back as the same number, and
times as `2000-01-01 00:00:01.000000`. Dispatches, where they were recorded, are copied in pieces of
bounded size.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.records.exporting.dispatches import TABLE as DISPATCHES
from homenode.records.exporting.dispatches import named
from homenode.records.exporting.figures import tables
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import Exporter, Kind

if TYPE_CHECKING:
    from homenode.simulate.run import Run

_TIME = "%Y-%m-%d %H:%M:%S%.6f"
TAKES = ("partition", "replication", "interval_ns", "start")


@dataclass(frozen=True)
class ParquetTables:
    """A Parquet file a table."""

    name: str = "parquet"
    title: str = "figures of every sample as Parquet, a file a table"
    kind: Kind = "folder"
    suffix: str = ""
    takes: Collection[str] = TAKES

    def write(self, run: Run, target: Path, options: ExportOptions) -> list[Path]:
        """See `Exporter.write`."""
        import pyarrow.parquet as pq

        target.mkdir()
        files = []
        for name, table in tables(run, options):
            path = target / f"{name}.parquet"
            pq.write_table(table.to_arrow(), path, **_SHAPE)
            files.append(path)
        path = target / f"{DISPATCHES}.parquet"
        writer = None
        for piece in named(run, options):
            rows = piece.to_arrow()
            writer = writer or pq.ParquetWriter(path, rows.schema, **_SHAPE)
            writer.write_table(rows, row_group_size=max(rows.num_rows, 1))
        if writer is not None:
            writer.close()
            files.append(path)
        return sorted(files)


_SHAPE: dict[str, object] = {"version": "2.6", "compression": "zstd", "compression_level": 3}
"""What shapes the bytes; the rest does not depend on the machine."""


@dataclass(frozen=True)
class CsvTables:
    """A CSV file a table, comma between, point within, UTF-8."""

    name: str = "csv"
    title: str = "figures of every sample as CSV, a file a table"
    kind: Kind = "folder"
    suffix: str = ""
    takes: Collection[str] = TAKES

    def write(self, run: Run, target: Path, options: ExportOptions) -> list[Path]:
        """See `Exporter.write`."""
        target.mkdir()
        files = []
        for name, table in tables(run, options):
            path = target / f"{name}.csv"
            table.write_csv(path, datetime_format=_TIME)
            files.append(path)
        path = target / f"{DISPATCHES}.csv"
        for number, piece in enumerate(named(run, options)):
            with path.open("ab") as file:
                piece.write_csv(file, include_header=number == 0)
            if number == 0:
                files.append(path)
        return sorted(files)


PARQUET: Exporter = ParquetTables()
CSV: Exporter = CsvTables()
