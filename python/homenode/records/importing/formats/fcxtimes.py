"""Rows of the Performance Toolkit's reports, and the times that these are about: each report has
an interval of its own, with a day or none, and its rows have times of day.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

_DATE = re.compile(r"(\d{4})/(\d\d)/(\d\d)")
_CLOCK = re.compile(r"(?<!\d)([01]?\d|2[0-3]):([0-5]\d):([0-5]\d(?:\.\d+)?)(?!\d)")
_PROCESSOR = re.compile("P?[0-9A-Fa-f]+")
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - reports tell no day, nor a zone
_YEARS = range(1967, 2200)
"""Since there is a CP; other years are damage."""
_DAY = timedelta(days=1)
_MOST_PERCENT = 110.0
"""How busy a processor may be [%], with what rounding and a clock read late add; more is damage."""

Report = Mapping[str, Any]
Row = Mapping[str, str]


@dataclass(frozen=True)
class Line:
    """A row of a report by column; what is blank is not there."""

    line: int
    cells: Row
    report: Report = field(repr=False)

    def number(self, column: str) -> float | None:
        """A figure that is not below zero; none if it is none."""
        try:
            value = float(self.cells.get(column, ""))
        except ValueError:
            return None
        return value if 0 <= value < float("inf") else None

    def share(self, column: str) -> float | None:
        """How busy a processor was, of one; none if it is not told, or cannot be."""
        value = self.number(column)
        return None if value is None or value > _MOST_PERCENT else value / 100.0

    def whole(self, column: str) -> int:
        """A count; 0 if it is none."""
        return int(self.number(column) or 0)

    @property
    def processor(self) -> str | None:
        """Number of the processor that it is about; its heading may stand in lines: C, P, U."""
        names = (name for name in self.cells if name.replace(" ", "") in ("CPU", "PROC"))
        told = self.cells.get(next(names, ""), "")
        return told if _PROCESSOR.fullmatch(told) else None


@dataclass(frozen=True)
class Span:
    """The time of a report."""

    begin: datetime
    end: datetime

    @property
    def seconds(self) -> float:
        """Its length [s]."""
        return (self.end - self.begin).total_seconds()


class Times:
    """The times of all reports of a file."""

    def __init__(self, reports: list[dict[str, Any]]) -> None:
        told = (_dated(report["interval"][0]) for report in reports)
        self.day: datetime = next(filter(None, told), _EPOCH)
        """The first day that is told; the first there is where none is."""
        self._spans: dict[int, Span] = {}
        last: dict[str, datetime] = {}
        for report in reports:
            span = _span(report["interval"], self.day, last.get(report["number"]))
            if span is not None:
                self._spans[report["line"]] = span
                last[report["number"]] = span.end

    def of(self, report: Report) -> Span | None:
        """When a report begins and ends; none where it does not tell both."""
        return self._spans.get(report["line"])

    def after(self, before: tuple[Line, datetime] | None, row: Line) -> datetime | None:
        """The end of a row's interval: within the time of its report, on the day on which it
        follows the row before it.
        """
        span = self.of(row.report)
        day = datetime.combine(span.begin.date(), datetime.min.time()) if span else self.day
        found = _moment(row.cells.get("Interval End Time", ""), day)
        if found is None:
            return None
        if span is not None and found < span.begin and found + _DAY <= span.end:
            found += _DAY
        if before is not None and (span is None or before[0].report is row.report):
            found = _on_a_day_after(found, before[1] - _DAY / 2)
        return found

    def day_later(self, moment: datetime, report: Report) -> datetime | None:
        """The same time on the next day, if its report is still about that."""
        span = self.of(report)
        later = moment + _DAY
        return later if span is not None and later <= span.end else None


def strange_date(report: Report) -> str | None:
    """What stands before a time of day in a report's interval, if it is no day."""
    for text in report["interval"]:
        told = _CLOCK.search(text)
        beside = (text[: told.start()] + text[told.end() :]).strip() if told else ""
        if beside and _dated(text) is None:
            return str(beside)
    return None


def _span(interval: list[str], day: datetime, last: datetime | None) -> Span | None:
    """The time of a report; one without a day follows the one before it of its kind."""
    own = _dated(interval[0])
    begin, end = (_moment(text, own or day) for text in interval)
    if begin is None or end is None:
        return None
    if own is None and last is not None:
        moved = _on_a_day_after(begin, last - _DAY / 2) - begin
        begin, end = begin + moved, end if _dated(interval[1]) else end + moved
    if end <= begin:
        end += _DAY
    return Span(begin, end) if begin < end else None


def _on_a_day_after(moment: datetime, least: datetime) -> datetime:
    """Moved by as many days as it takes not to be before `least`."""
    behind = least - moment
    return moment + _DAY * max(0, -(-behind // _DAY))


def _moment(text: str, day: datetime) -> datetime | None:
    """A time of day, on the day that stands before it, else on that one."""
    told = _CLOCK.search(text)
    if told is None:
        return None
    hours, minutes, seconds = int(told[1]), int(told[2]), float(told[3])
    since = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return (_dated(text) or day) + since


def _dated(text: str) -> datetime | None:
    """The day that a text tells, if it is one."""
    told = _DATE.search(text)
    try:
        year, month, day = (int(part) for part in told.groups()) if told else (0, 0, 0)
        return datetime(year, month, day) if year in _YEARS else None  # noqa: DTZ001
    except ValueError:
        return None
