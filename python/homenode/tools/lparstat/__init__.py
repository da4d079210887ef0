"""lparstat: what a partition consumes of its entitlement.

`lparstat [ -i | -d | -h | -H | -E ] [ Interval [ Count ] ]`. Without an interval one report holds
the totals since the start. Counts (`vcsw`, `phint`, `hcalls`, calls of `-H`) are differences over
the interval, not rates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from homenode.tools.changed import announced, first_line
from homenode.tools.configuration import SystemConfiguration
from homenode.tools.intervals import Sample, samples
from homenode.tools.lparstat import information as info
from homenode.tools.lparstat import text
from homenode.tools.lparstat.figures import (
    NAMES,
    Normalised,
    Utilisation,
    normalised,
    utilisation,
)
from homenode.tools.lparstat.hypervisor import Call, hypervisor_calls
from homenode.tools.lparstat.hypervisor import lines as hypervisor_lines
from homenode.tools.text_columns import Value, page, row
from homenode.tools.usage import Grammar, Request, parse
from homenode.tools.view import RunView

__all__ = [
    "GRAMMAR",
    "Call",
    "Normalised",
    "Utilisation",
    "hypervisor_calls",
    "normalised",
    "render",
    "rows",
    "utilisation",
]

_MEMORY_SHARING = "active memory sharing is not modelled"
GRAMMAR = Grammar(
    tool="lparstat",
    synopsis="{ -i | [ -d | -h | -H | -E ] [ Interval [ Count ] ] }",
    flags="idhHE",
    absent={
        "m": _MEMORY_SHARING,
        "e": _MEMORY_SHARING,
        "r": _MEMORY_SHARING,
        "R": _MEMORY_SHARING,
        "w": "its wide layout is not on record",
        "t": "simulated time has no date; --json gives the end of each interval",
        "W": "workload partitions are not modelled",
        "x": "security settings are not modelled",
        "s": "shared processor settings beyond -i are not modelled",
        "P": "processor pool settings beyond -i are not modelled",
        "u": "its layout is not on record",
        "N": "its layout is not on record",
        "G": "graphics of the tool are not modelled",
        "X": "use --json for output that programs read",
        "o": "use --json for output that programs read",
        "c": "active memory expansion is not modelled",
        "L": "partition mobility is not modelled",
    },
)


def render(view: RunView, argv: Sequence[str]) -> str:
    """What the tool would print."""
    request, configuration = _asked(view, argv)
    if request.mode == "i":
        return page(info.lines(info.information(configuration)))
    reports = _reports(view, request, configuration)
    head, table = _layout(request, configuration)
    line = partial(text.configuration_line, mode=request.mode)
    first = first_line(configuration, request, reports, line)
    lines = ["", first, "", *head]
    for sample, then, notice in announced(configuration, reports, first, line):
        lines += [*notice, *head] if notice else []
        lines += table(then, sample)
    return page(lines)


def _layout(
    request: Request, configuration: SystemConfiguration
) -> tuple[Sequence[str], Callable[[SystemConfiguration, Sample], Sequence[str]]]:
    """Headings, and what makes the lines of a report."""
    if request.mode == "H":
        return (), lambda then, sample: hypervisor_lines(hypervisor_calls(then, sample))
    if request.mode == "E":
        figures = normalised
        return text.NORMALISED_HEADINGS, lambda then, sample: [
            text.normalised_line(figures(then, sample))
        ]
    shown, end = text.columns_of(configuration, request.mode), configuration.line_end
    return text.headings(shown), lambda then, sample: [
        row(shown, _by_heading(utilisation(then, sample))) + end
    ]


def rows(view: RunView, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same as unrounded numbers, a dict a line, under the tool's headings."""
    request, configuration = _asked(view, argv)
    if request.mode == "i":
        return [dict(info.information(configuration) + info.documented(configuration))]
    return list(_rows(view, request, configuration))


def _rows(
    view: RunView, request: Request, configuration: SystemConfiguration
) -> Iterator[dict[str, object]]:
    shown = text.columns_of(configuration, request.mode)
    for sample in _reports(view, request, configuration):
        end, then = {"time_s": sample.end_ns / 1e9}, sample.during(configuration)
        if request.mode == "H":
            for call in hypervisor_calls(then, sample):
                yield {**end, **call._asdict()}
        elif request.mode == "E":
            yield {**end, **normalised(then, sample)._asdict()}
        else:
            figures = _by_heading(utilisation(then, sample))
            yield {**end, **text.shown_values(shown, figures)}


def _asked(view: RunView, argv: Sequence[str]) -> tuple[Request, SystemConfiguration]:
    request = parse(GRAMMAR, argv)
    if request.mode == "i" and request.interval_ns is not None:
        raise GRAMMAR.refuse("interval and count cannot be used with -i")
    return request, view.partition(request.partition)


def _reports(view: RunView, request: Request, configuration: SystemConfiguration) -> list[Sample]:
    return samples(view, configuration.name, request.interval_ns, request.count)


def _by_heading(figures: Utilisation) -> dict[str, Value]:
    return {NAMES[field]: value for field, value in figures._asdict().items()}
