"""All sections of a recording of nmon or njmon as Parquet files, for questions beyond import."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError
from homenode.records.importing.shared.recorded import CLOCK, Batch, Form, frame, stream

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_MOST_FILES = 1_000


def write_tables(source: Input, form: Form, folder: Path) -> list[Path]:
    """Write a Parquet file for each section of a recording into `folder`, which is empty.

    A row has the number of the recording in the file, its snapshot with its time (null where the
    recording tells the time later than the row, as a sorted file does), its line and, in tables of
    several processors, the processor. A section whose columns change has a file for each set of
    columns: `DISKBUSY.parquet`, `DISKBUSY-2.parquet`. Memory does not grow with the recording.
    `ListingError` if it is no recording or holds no row.
    """
    with _Files(folder) as files:
        for piece in stream(source, form, None):
            if isinstance(piece, str):
                files.check(json.loads(piece), source)
            else:
                files.add(piece)
        return [folder / name for name in files.names()]


class _Files:
    """The files that are open, by section and columns."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.writers: dict[tuple[str, tuple[str, ...]], tuple[Path, pq.ParquetWriter]] = {}
        self.many: dict[str, int] = {}
        self.times: dict[tuple[int, int], float] = {}
        self.stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self.stack.close()

    def names(self) -> list[str]:
        """Names of all files, which are complete after this."""
        self.stack.close()
        return sorted(path.name for path, _ in self.writers.values())

    def check(self, summary: dict[str, Any], source: Input) -> None:
        """Refuse what told of a system but held no row."""
        if not self.writers:
            lines = summary["found"]["lines"]
            problem = f"its {lines} lines hold no sample"
            raise ListingError(problem, where=source.at(), next_step="give the whole recording")

    def add(self, batch: Batch) -> None:
        """Write the rows of a batch."""
        table = self._table(batch)
        key = (batch["table"], tuple(f"{one.name} {one.type}" for one in table.schema))
        if key not in self.writers:
            self.writers[key] = self._open(batch["table"], table.schema)
        self.writers[key][1].write_table(table)

    def _table(self, batch: Batch) -> pa.Table:
        import polars as pl

        rows = frame(batch)
        recording = batch["recording"]
        if batch["table"] == CLOCK:
            both = zip(rows["snapshot"], rows["time"], strict=True)
            self.times.update({(recording, snapshot): time for snapshot, time in both})
            rows = rows.drop("time")
        moments = [self.times.get((recording, snapshot)) for snapshot in rows["snapshot"]]
        time = (pl.Series(moments, dtype=pl.Float64) * 1e6).cast(pl.Int64).cast(pl.Datetime("us"))
        labels = [pl.lit(recording, pl.Int64).alias("recording"), pl.col("snapshot")]
        # A column of the section may have one of these names.
        mine = {"recording", "snapshot_time"}
        renamed = {name: f"{name} 2" for name in rows.columns if name in mine}
        rows = rows.rename(renamed)
        others = pl.all().exclude("snapshot")
        return rows.select(*labels, time.alias("snapshot_time"), others).to_arrow()

    def _open(self, section: str, schema: pa.Schema) -> tuple[Path, pq.ParquetWriter]:
        import pyarrow.parquet as pq

        if len(self.writers) >= _MOST_FILES:
            raise ListingError(f"it has more than {_MOST_FILES} sections of different columns")
        plain = re.sub(r"[^A-Za-z0-9_.-]", "_", section).lstrip(".") or "section"
        self.many[plain] = self.many.get(plain, 0) + 1
        number = self.many[plain]
        path = self.folder / (f"{plain}.parquet" if number == 1 else f"{plain}-{number}.parquet")
        return path, self.stack.enter_context(pq.ParquetWriter(path, schema))
