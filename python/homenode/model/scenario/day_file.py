"""A day as a CSV file: a column `cores`, and `from` where its rows are not equal parts of a day."""

from __future__ import annotations

import csv
from pathlib import Path as FilePath

from homenode.errors import ScenarioError, Where, listed
from homenode.model.document.read import need_file
from homenode.model.scenario.file.cores import MINUTES, clock_of

_MOST_BYTES = 1 << 20
_STEP = "write a column cores with a row for each hour, or columns from and cores"


def read_day(path: FilePath) -> list[tuple[int, float]]:
    """By when it begins [minutes since midnight], the cores that are used, in order of time.

    Raises `NotFoundError` where there is no file, `ScenarioError` with the line for what is no day.
    """
    need_file(path, _STEP)
    if path.stat().st_size > _MOST_BYTES:
        raise ScenarioError(f"{path} is too large for a day", next_step=_STEP)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ScenarioError(f"{path} cannot be read: {error}", next_step=_STEP) from error
    columns = reader.fieldnames or ()
    if "cores" not in columns or not rows:
        there = f"its columns are {listed(list(columns))}, it has {len(rows)} rows"
        raise ScenarioError(f"{path} is no day", there=there, next_step=_STEP)
    others = [name for name in columns if name not in ("from", "cores")]
    if others or len(set(columns)) < len(columns):
        there = f"its columns are {listed(list(columns))}"
        raise ScenarioError(f"{path} is no day", there=there, next_step=_STEP)
    if "from" not in columns:
        if MINUTES % len(rows):
            there = f"{len(rows)} rows are no equal parts of a day of {MINUTES} minutes"
            raise ScenarioError(f"{path} is no day", there=there, next_step=_STEP)
        each = MINUTES // len(rows)
        return [(each * at, _cores(path, *row)) for at, row in enumerate(rows)]
    found = [(_since(path, *row), _cores(path, *row)) for row in rows]
    for (line, _), (before, _), (since, _) in zip(rows[1:], found, found[1:], strict=False):
        if since <= before:
            where = Where(str(path), line)
            problem = "its time is not after that of the row before"
            raise ScenarioError(problem, where=where, next_step="order the rows by time")
    return found


def _cores(path: FilePath, line: int, row: dict[str, str]) -> float:
    text = (row["cores"] or "").strip()
    try:
        cores = float(text)
    except ValueError:
        cores = -1.0
    if not 0 <= cores <= 4096:
        problem = f'cores = "{text}" is no number from 0 to 4096'
        raise ScenarioError(problem, where=Where(str(path), line), next_step=_STEP)
    return cores


def _since(path: FilePath, line: int, row: dict[str, str]) -> int:
    text = (row["from"] or "").strip()
    minutes = clock_of(text)
    if minutes is None or minutes == MINUTES:
        problem = f'from = "{text}" is no time of day such as 09:00'
        raise ScenarioError(problem, where=Where(str(path), line), next_step=_STEP)
    return minutes
