"""Configuration lines of a run in which the partition changed: printed again, after a notice, ahead
of the first report with another one. That there is such a notice is on record (the AIX document on
micro-partitioning, note 3; the manuals of lparstat and mpstat on their first line), its words are
not: they are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from homenode.tools.configuration import SystemConfiguration
from homenode.tools.intervals import Sample
from homenode.tools.usage import Request

NOTICE = "System configuration changed during this interval."

Line = Callable[[SystemConfiguration], str]


def first_line(
    configuration: SystemConfiguration, request: Request, reports: Sequence[Sample], line: Line
) -> str:
    """The line at the head: of when the tool was started, which without an interval is the end of
    the run.
    """
    if request.interval_ns is None or not reports:
        return line(configuration)
    return line(configuration.at(reports[0].start_ns + 1))


def announced(
    configuration: SystemConfiguration, reports: Sequence[Sample], first: str, line: Line
) -> Iterator[tuple[Sample, SystemConfiguration, list[str]]]:
    """Each report, what its figures refer to, and the lines before it if the line has changed."""
    shown = first
    for sample in reports:
        now = line(configuration.at(sample.end_ns))
        notice = [] if now == shown else ["", NOTICE, "", now, ""]
        shown = now
        yield sample, sample.during(configuration), notice
