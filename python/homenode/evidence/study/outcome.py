"""`results.csv` beside a study: what came out of its cases when that was last written down.

Columns: `case,metric,simulated,ci95,reason`, a row for each of published.csv in the same order, six
significant digits; `reason` says why there is no value. The file holds nothing else: roles,
tolerances and reasons of misses stand in published.csv, and every count follows from the two. It is
written by a program (`make studies WRITE=1`), never by hand.
"""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

from homenode.errors import StudyError
from homenode.evidence.study.definition import Study
from homenode.evidence.study.deviation import Comparison
from homenode.evidence.study.result import StudyResult
from homenode.model.estimate import Estimate

FILE = "results.csv"
COLUMNS = ("case", "metric", "simulated", "ci95", "reason")
_DIGITS = 6
_NEAR = 2e-5
"""Relative difference that six written digits, and other processors' arithmetic, may make."""
_NEAR_INTERVAL = 1e-2
"""The same of an interval, which is a small difference of large numbers."""


def outcome_path(study: Study) -> Path:
    """Where a study's outcome is written down."""
    return study.folder / FILE


def outcome_text(result: StudyResult) -> str:
    """The file's text for a study that was run."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in result.comparisons:
        found = one.simulated
        reason = found.reason if found.mean is None else None
        row = (one.published.case, one.published.metric, _written(found.mean), _written(found.ci95))
        writer.writerow([*row, reason or ""])
    return out.getvalue()


def recorded_outcome(study: Study) -> StudyResult:
    """A study with the outcome that is written down beside it, without runs."""
    path = outcome_path(study)
    try:
        lines = list(csv.reader(path.read_text(encoding="utf-8").splitlines(), strict=True))
    except FileNotFoundError as error:
        raise StudyError(
            f"{path} is not there: `make studies WRITE=1` writes down what comes out"
        ) from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StudyError(f"{path} cannot be read: {error}") from error
    keys = [[row.case, row.metric] for row in study.published]
    if not lines or tuple(lines[0]) != COLUMNS or [line[:2] for line in lines[1:]] != keys:
        raise StudyError(
            f"{path} does not have the rows of published.csv: `make studies WRITE=1` writes it anew"
        )
    try:
        found = [_read(line) for line in lines[1:]]
    except ValueError as error:
        raise StudyError(f"{path}: {error}") from error
    pairs = zip(study.published, found, strict=True)
    return StudyResult(study, [Comparison(row, one) for row, one in pairs], {}, [])


def moved_rows(recorded: StudyResult, result: StudyResult) -> list[str]:
    """A line for each row that does not come out as it was written down."""
    pairs = zip(recorded.comparisons, result.comparisons, strict=True)
    return [
        f"{new.published.key}: {_told(old.simulated)} was written down, {_told(new.simulated)} "
        "comes out"
        for old, new in pairs
        if not _same(old.simulated, new.simulated)
    ]


def _written(value: float | None) -> str:
    return "" if value is None else f"{value:.{_DIGITS}g}"


def _told(one: Estimate) -> str:
    interval = "" if one.ci95 is None else f" ± {_written(one.ci95)}"
    return "nothing" if one.mean is None else f"{_written(one.mean)}{interval}"


def _read(line: list[str]) -> Estimate:
    _, _, value, ci95, reason = line
    return Estimate(float(value) if value else None, float(ci95) if ci95 else None, reason or None)


def _same(old: Estimate, new: Estimate) -> bool:
    return _near(old.mean, new.mean, _NEAR) and _near(old.ci95, new.ci95, _NEAR_INTERVAL)


def _near(old: float | None, new: float | None, relative: float) -> bool:
    if old is None or new is None:
        return old is new
    return math.isclose(old, new, rel_tol=relative, abs_tol=1e-9)
