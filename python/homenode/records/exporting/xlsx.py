"""A run as a workbook: a sheet a table. Dispatches are left out: they are too many for a sheet."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.figures import tables
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import Exporter, Kind

if TYPE_CHECKING:
    import polars as pl
    from _typeshed import SizedBuffer
    from openpyxl import Workbook
    from openpyxl.worksheet._write_only import WriteOnlyWorksheet

    from homenode.simulate.run import Run

MOST_ROWS = 1_048_576
"""Of a sheet, by the file format."""
_EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The first moment a zip archive can tell."""
_PROPERTIES = "docProps/core.xml"
_STAMP = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_TIME_FORMAT = "yyyy-mm-dd hh:mm:ss.000"


@dataclass(frozen=True)
class Xlsx:
    """The figures of every sample as one workbook, a sheet a table."""

    name: str = "xlsx"
    title: str = "figures of every sample as a workbook, a sheet a table"
    kind: Kind = "file"
    suffix: str = ".xlsx"
    takes: Collection[str] = ("partition", "replication", "interval_ns", "start")

    def write(self, run: Run, target: Path, options: ExportOptions) -> list[Path]:
        """See `Exporter.write`."""
        from openpyxl import Workbook

        book = Workbook(write_only=True)
        try:
            for name, table in tables(run, options):
                _refuse_long(name, table, run)
                _add(book, name, table)
        except BaseException:
            _abandon(book)
            raise
        # Not beside the target: openpyxl does not survive a full disk, but prints tracebacks.
        with tempfile.TemporaryFile() as draft:
            _save(book, draft)
            _without_clock(draft, target, options)
        return [target]


def _abandon(book: Workbook) -> None:
    """End sheets that are begun. One that is left half-written prints a traceback when it is
    collected, if its file happens to be collected before it.
    """
    for sheet in book.worksheets:
        with suppress(OSError):
            cast("WriteOnlyWorksheet", sheet).close()


def _refuse_long(name: str, table: pl.DataFrame, run: Run) -> None:
    if len(table) >= MOST_ROWS:
        raise ExportError(
            f"the table {name} of run {run.id} has {len(table):,} rows",
            there=f"a sheet holds {MOST_ROWS:,} with its heading",
            next_step="ask for one partition with -p, a longer --interval, or write --as parquet",
        )


def _add(book: Workbook, name: str, table: pl.DataFrame) -> None:
    """A sheet with a heading that stays in sight."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    sheet: Any = book.create_sheet(name)
    sheet.freeze_panes = "A2"
    heads = []
    for column in table.columns:
        cell = WriteOnlyCell(sheet, value=column)
        cell.font = Font(bold=True)
        heads.append(cell)
    sheet.append(heads)
    times = {number for number, column in enumerate(table.columns) if column == "time"}
    for row in table.iter_rows():
        cells: list[Any] = list(row)
        for number in times:
            cells[number] = WriteOnlyCell(sheet, value=row[number])
            cells[number].number_format = _TIME_FORMAT
        sheet.append(cells)


class _Timeless(zipfile.ZipFile):
    """An archive in which every member has the same date: today's may be one that none can tell."""

    def writestr(
        self,
        zinfo_or_arcname: str | zipfile.ZipInfo,
        data: SizedBuffer | str,
        compress_type: int | None = None,
        compresslevel: int | None = None,
    ) -> None:
        """See `ZipFile`; a name stands for a member of that name."""
        if isinstance(zinfo_or_arcname, str):
            zinfo_or_arcname = zipfile.ZipInfo(zinfo_or_arcname, _EARLIEST)
        super().writestr(zinfo_or_arcname, data, compress_type, compresslevel)


def _save(book: Workbook, draft: BinaryIO) -> None:
    """As `Workbook.save` does, whatever the date."""
    from openpyxl.writer.excel import ExcelWriter

    book.properties.modified = book.properties.created
    ExcelWriter(book, _Timeless(draft, "w", strict_timestamps=False)).save()


def _without_clock(draft: BinaryIO, target: Path, options: ExportOptions) -> None:
    """The workbook with no trace of when it was written, so that the same run gives the same
    bytes.
    """
    stamp = f"{options.begins:%Y-%m-%dT%H:%M:%SZ}".encode()
    with zipfile.ZipFile(draft) as source, zipfile.ZipFile(target, "w") as copy:
        for member in source.infolist():
            info = zipfile.ZipInfo(member.filename, _EARLIEST)
            info.compress_type = zipfile.ZIP_DEFLATED
            if member.filename == _PROPERTIES:
                copy.writestr(info, _STAMP.sub(stamp, source.read(member)))
                continue
            with source.open(member) as old, copy.open(info, "w") as new:
                while piece := old.read(1 << 20):
                    new.write(piece)


EXPORTER: Exporter = Xlsx()
