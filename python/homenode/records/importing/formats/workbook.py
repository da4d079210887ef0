"""xlsx workbooks: of RVTools, of `homenode export`, and tables of samples.

Read row by row, without formulas, links or macros; what it may unpack to is bounded.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from homenode.errors import listed
from homenode.records.importing.facts import Facts, Took
from homenode.records.importing.formats import configuration, rvtools
from homenode.records.importing.formats.traces import add_plain
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, Notice
from homenode.records.importing.shared.forms import FileFormat
from homenode.records.importing.shared.heading import Heading, heading_of

_MOST_BYTES = 1 << 28
_MOST_UNPACKED = 1 << 30
_MOST_COLUMNS = 1024
_MOST_ROWS = 1 << 20
Rows = Iterator[tuple[int, list[Any]]]


class Workbook:
    """Any workbook; its sheets tell what it is."""

    name = "xlsx"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat`."""
        parts = (b"[Content_Types].xml", b"xl/", b"_rels/", b"docProps/")
        return head.startswith(b"PK\x03\x04") and (
            name.lower().endswith((".xlsx", ".xlsm")) or any(part in head[:4096] for part in parts)
        )

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat`."""
        sheets = _opened(source, facts)
        if rvtools.SHEETS & set(sheets):
            known = {name: table(sheets[name]) for name in sheets if name in rvtools.SHEETS}
            rvtools.take(source, facts, known)
            return
        taken = False
        if "configuration" in sheets:
            rows = ((line, row) for line, row in table(sheets["configuration"]))
            configuration.take(source, facts, rows)
            taken = True
        for name, rows_of in sheets.items():
            taken |= _take_samples(source, facts, name, rows_of)
        if not taken:
            raise ListingError(
                "none of its sheets is known",
                there=f"they are {listed(sheets)}",
                where=source.at(),
                next_step="sheets of RVTools and with columns such as time, name, cores are read",
            )


def table(rows_of: Callable[[], Rows]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows below a heading, by its words."""
    heading: list[str] = []
    for line, row in rows_of():
        if not heading:
            heading = [str(cell).strip() if cell is not None else "" for cell in row]
        elif any(cell is not None for cell in row):
            yield line, {key: cell for key, cell in zip(heading, row, strict=False) if key}


def _opened(source: Input, facts: Facts) -> Mapping[str, Callable[[], Rows]]:
    """The rows of each sheet, by its name."""
    import openpyxl

    data = io.BytesIO(source.read(_MOST_BYTES))
    try:
        with zipfile.ZipFile(data) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
        if unpacked > _MOST_UNPACKED:
            raise ListingError(
                f"it unpacks to more than {_MOST_UNPACKED >> 20} MiB",
                where=source.at(),
                next_step="save the sheets that matter as CSV",
            )
        book = openpyxl.load_workbook(data, read_only=True, data_only=True, keep_links=False)
    except ListingError:
        raise
    except Exception as failure:
        raise _unsound(source, failure) from failure
    return {sheet.title: _rows_of(source, facts, sheet) for sheet in book.worksheets}


def _rows_of(source: Input, facts: Facts, sheet: Any) -> Callable[[], Rows]:
    def rows() -> Rows:
        # Many programs write a wrong extent; it would cut the sheet.
        sheet.reset_dimensions()
        cells = sheet.iter_rows(values_only=True)
        number = 0
        while True:
            number += 1
            try:
                row = next(cells)
            except StopIteration:
                return
            except Exception as failure:
                raise _unsound(source, failure) from failure
            if number > _MOST_ROWS:
                text = (
                    f"sheet {sheet.title} goes beyond the rows a sheet can have; they are left out"
                )
                facts.notices.append(Notice(text, source.at()))
                return
            yield number, list(row[:_MOST_COLUMNS])

    return rows


def _unsound(source: Input, failure: Exception) -> ListingError:
    reason = (str(failure).splitlines() or [type(failure).__name__])[0]
    return ListingError(
        f"it is no sound workbook: {reason[:200]}",
        where=source.at(),
        next_step="open and save it anew, or save its sheets as CSV",
    )


def _take_samples(source: Input, facts: Facts, sheet: str, rows_of: Callable[[], Rows]) -> bool:
    """Take a sheet with a moment, a use and a name; whether it is one."""
    rows = rows_of()
    line, first = next(rows, (1, []))
    words = ["" if cell is None else str(cell) for cell in first]
    heading = heading_of(words, ",", line)
    if heading is None or heading.name is None:
        return False
    found, dropped = _samples(heading, rows)
    if not found["time"]:
        raise ListingError(f"sheet {sheet} holds no sound sample", where=source.at())
    import polars as pl

    frame = pl.DataFrame(found).with_columns(pl.col("time").cast(pl.Datetime("us")))
    what = add_plain(facts, source, heading, frame, dropped)
    facts.took.append(Took(source.file, Workbook.name, f"sheet {sheet}: {what[0]}", what[1]))
    return True


def _samples(heading: Heading, rows: Rows) -> tuple[dict[str, list[Any]], int]:
    there = heading.optional
    found: dict[str, list[Any]] = {one: [] for one in ("time", "name", "cores", "line", *there)}
    dropped = 0
    for line, row in rows:
        cells = dict(enumerate(row))
        moment, use = cells.get(heading.time), _number(cells.get(heading.use))
        name = cells.get(heading.name) if heading.name is not None else None
        if not isinstance(moment, datetime) or use is None or use < 0 or name in (None, ""):
            dropped += any(cell is not None for cell in row)
            continue
        found["time"].append(moment)
        found["name"].append(str(name))
        found["cores"].append(use)
        found["line"].append(line)
        for one, place in there.items():
            value = _number(cells.get(place))
            found[one].append(float("nan") if value is None else value)
    return found, dropped


def _number(value: object) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return None


FORMATS: tuple[FileFormat, ...] = (Workbook(),)
