"""How much work was done, over time: a table that says what no recording of processors does.

A text with a heading and commas (CSV): `time`, the end of a sample as a date with time of day or in
seconds since 1970; `rate`, units of work a second; and, where it was counted, `cpi`, cycles per
instruction.
"""

from __future__ import annotations

import csv
import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from homenode.errors import HomenodeError, NotFoundError, Where

_COLUMNS = ("time", "rate", "cpi")
_MOST_BYTES = 64 << 20
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - recordings have the clock of their host


@dataclass(frozen=True)
class Rate:
    """Work in a sample."""

    time: float
    """Its end [s since 1970, on the recording's clock]."""
    per_s: float
    """Units of work [1/s]."""
    cpi: float | None
    """Cycles per instruction, if counted."""


def read_rates(path: Path) -> tuple[Rate, ...]:
    """The samples of a table in the order of time. Raises `HomenodeError` for what is no such
    table.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            text = f"{path} is longer than {_MOST_BYTES >> 20} MiB"
            raise HomenodeError(text, next_step="give longer samples")
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no {path}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise HomenodeError(f"{path} cannot be read as text: {error}") from error
    heading, rows = _rows(path, lines)
    there = f"its heading is {','.join(heading) or 'empty'}"
    wanted = "name its columns time,rate or time,rate,cpi"
    if not {"time", "rate"} <= set(heading):
        raise HomenodeError(f"{path} has no times with rates", there=there, next_step=wanted)
    unknown = [name for name in heading if name not in _COLUMNS]
    if unknown:
        raise HomenodeError(f"{path} has a column {unknown[0]}", there=there, next_step=wanted)
    if len(set(heading)) < len(heading):
        raise HomenodeError(f"{path} has a column twice", there=there, next_step=wanted)
    found = []
    for line, row in rows:
        where = Where(str(path), line)
        if len(row) != len(heading):
            text = f"{len(row)} values under {len(heading)} headings"
            raise HomenodeError(text, where=where)
        found.append(_rate(dict(zip(heading, row, strict=True)), where))
    if not found:
        raise HomenodeError(f"{path} has no sample", next_step="give a line a sample")
    return tuple(sorted(found, key=lambda one: one.time))


def _rows(path: Path, lines: Sequence[str]) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The heading, and the rows that are not empty with their lines."""
    reader = csv.reader(lines)
    try:
        heading = [name.strip() for name in next(reader, [])]
        told = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        where = Where(str(path), reader.line_num)
        raise HomenodeError(f"that is no row of a table: {error}", where=where) from error
    return heading, told


def _rate(row: Mapping[str, str], where: Where) -> Rate:
    told = row.get("cpi", "").strip()
    rate, cpi = _number(row["rate"], where), _number(told, where) if told else None
    if rate < 0 or (cpi is not None and not cpi > 0):
        raise HomenodeError("a rate is 0 or more, a cpi more than 0", where=where)
    return Rate(_time(row["time"].strip(), where), rate, cpi)


def _number(text: str, where: Where) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise HomenodeError(f'"{text.strip()[:40]}" is no number', where=where)
    return value


def _time(text: str, where: Where) -> float:
    try:
        return _number(text, where)
    except HomenodeError:
        pass
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError as error:
        step = "write 2026-01-31T13:05:00, or seconds since 1970"
        raise HomenodeError(f'"{text[:40]}" is no time', where=where, next_step=step) from error
    return (moment.replace(tzinfo=None) - _EPOCH).total_seconds()
