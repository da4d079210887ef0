"""What the processors of a z/VM used together: they tell it one by one, in reports of the
Performance Toolkit on an interval each (FCX100 CPU), or with rows at the end of every interval
(FCX304 PRCLOG). A sum without one of them is none: that interval is left out.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from homenode.records.importing.formats.fcxtimes import Line, Times

_VERTICAL = re.compile(r"V[hml]")


@dataclass
class Together:
    """Processors of one interval."""

    rows: list[Line] = field(default_factory=list)
    moment: datetime | None = None
    """Its end; none where it is that of the report."""
    whole: bool = True
    """Whether no processor lacks."""

    @property
    def names(self) -> set[str | None]:
        """Whose rows there are."""
        return {row.processor for row in self.rows}

    def cores(self, column: str) -> float | None:
        """Their sum; none where one does not tell how busy it was, or is there twice."""
        busy = [row.share(column) for row in self.rows]
        known = [one for one in busy if one is not None]
        alone = len(self.names) == len(self.rows)
        return sum(known) if alone and self.whole and len(known) == len(busy) else None


def by_report(rows: list[Line]) -> list[Together]:
    """Processors of each report."""
    groups = groupby(rows, lambda row: row.report["line"])
    found = [Together(list(group)) for _, group in groups]
    _find_lacking(found)
    return found


def by_interval(rows: list[Line], times: Times) -> tuple[list[Together], int]:
    """Processors of each interval; and how many rows tell no time, no processor, or repeat one."""
    found: dict[tuple[int, datetime], Together] = {}
    lines: dict[int, list[tuple[int, Together]]] = {}
    lost = {row.report["line"]: set(row.report["lost"]) for row in _first_of_each(rows)}
    dropped = 0
    for row, moment in _with_moments(rows, times):
        report = row.report["line"]
        if moment is None:
            dropped += 1
            if row.processor is None or times.after(None, row) is None:
                lost[report].add(row.line)
            continue
        held = found.setdefault((report, moment), Together(moment=moment))
        held.rows.append(row)
        lines.setdefault(report, []).append((row.line, held))
    for report, group in groupby(sorted(found), lambda key: key[0]):
        _find_lacking([found[key] for key in group])
        _find_lost(lines[report], lost[report])
    return list(found.values()), dropped


def _first_of_each(rows: list[Line]) -> list[Line]:
    return [next(group) for _, group in groupby(rows, lambda row: row.report["line"])]


def _find_lost(lines: list[tuple[int, Together]], lost: set[int]) -> None:
    """A line that could not be taken was of the interval before it or of the one behind it: of that
    which has fewer processors, if it tells.
    """
    for line in lost:
        behind = bisect_left(lines, line, key=lambda one: one[0])
        beside = [one for _, one in lines[max(0, behind - 1) : behind + 1]]
        for one in beside:
            one.whole = one.whole and any(one.names > other.names for other in beside)


def _find_lacking(intervals: list[Together]) -> None:
    """Where a processor lacks that is there before and after, a line of it was damaged: who is off
    for one interval alone is hardly found.
    """
    for before, here, after in zip(intervals, intervals[1:], intervals[2:], strict=False):
        here.whole = not (before.names & after.names) - here.names


def _with_moments(rows: list[Line], times: Times) -> Iterator[tuple[Line, datetime | None]]:
    """Each row with the end of its interval, which a log over several days has several times."""
    before: tuple[Line, datetime] | None = None
    seen: set[tuple[int, str, datetime]] = set()
    known: set[tuple[int, str]] = set()
    for row in rows:
        report, name = row.report["line"], row.processor
        if name is None:
            yield row, None
            continue
        moment = times.after(before, row)
        goes_on = before is not None and before[0].report is row.report
        if goes_on and (report, name) not in known and before and moment != before[1]:
            # All rows of a processor may stand together: those of the next begin anew.
            moment = times.after(None, row)
        if moment is not None and (report, name, moment) in seen:
            moment = times.day_later(moment, row.report)
        if moment is not None:
            seen.add((report, name, moment))
            known.add((report, name))
            before = (row, moment)
        yield row, moment


def own_cores(processors: Iterable[Line]) -> bool:
    """Whether every processor has a core of its own, by the column PPD: `Ded`, or behind what it
    is of a vertical polarization a D (`VhD`).
    """
    told = {row.cells.get("PPD", "") for row in processors}
    return bool(told) and all(
        one == "Ded" or (_VERTICAL.match(one) and one[2:] == "D") for one in told
    )


def polarizations(processors: Iterable[Line]) -> dict[str, Line]:
    """What PPD says of the polarization (`Vh`, `Vm`, `Vl` or `Hor`), each with the first line that
    says so: two, where some are of one and some of the other, as when it was changed.
    """
    found: dict[str, Line] = {}
    for row in processors:
        told = row.cells.get("PPD", "")
        if _VERTICAL.match(told):
            found.setdefault("vertical", row)
        elif told.startswith("Hor"):
            found.setdefault("horizontal", row)
    return found
