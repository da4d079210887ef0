"""mpstat: what each logical processor of a partition did.

`mpstat [ -a | -d | -s ] [ Interval [ Count ] ]`. Without an interval one report holds the totals
since the start. All counts are differences over the interval, not rates.
"""

from __future__ import annotations

from collections.abc import Sequence

from homenode.tools.changed import announced, first_line
from homenode.tools.configuration import SystemConfiguration
from homenode.tools.intervals import Sample, samples
from homenode.tools.mpstat import text
from homenode.tools.mpstat.figures import NOT_MODELLED, Processor, processors, report
from homenode.tools.text_columns import DASHES, Value, page
from homenode.tools.usage import Grammar, Request, parse
from homenode.tools.view import RunView

__all__ = ["GRAMMAR", "NOT_MODELLED", "Processor", "processors", "render", "report", "rows"]

GRAMMAR = Grammar(
    tool="mpstat",
    synopsis="[ -a | -d | -s ] [ Interval [ Count ] ]",
    flags="ads",
    absent={
        "i": "kinds of interrupts are not modelled",
        "h": "its layout is not on record; -d shows ilcs and vlcs",
        "v": "its times per virtual processor are not modelled; -s shows shares",
        "E": "the speed of single processors is not modelled",
        "w": "its wide layout is not on record",
        "O": "use --json to sort and filter",
        "@": "workload partitions are not modelled",
        "X": "use --json for output that programs read",
        "o": "use --json for output that programs read",
    },
)


def render(view: RunView, argv: Sequence[str]) -> str:
    """What the tool would print; a line of dashes stands between reports."""
    request, configuration = _asked(view, argv)
    reports, line = _reports(view, request, configuration), text.configuration_line
    first = first_line(configuration, request, reports, line)
    lines = ["", first, ""]
    for sample, then, notice in announced(configuration, reports, first, line):
        lines += [DASHES] if sample is not reports[0] else []
        lines += notice
        if request.mode == "s":
            lines += text.smt_lines(then, processors(then, sample))
        else:
            shown = text.columns_of(then, request.mode)
            lines += text.table(shown, _table_rows(then, sample, request.mode))
    return page(lines)


def rows(view: RunView, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same as unrounded numbers, a dict a line, under the tool's headings."""
    request, configuration = _asked(view, argv)
    found: list[dict[str, object]] = []
    for sample in _reports(view, request, configuration):
        end, then = {"time_s": sample.end_ns / 1e9}, sample.during(configuration)
        if request.mode == "s":
            found += ({**end, **_smt_row(one)} for one in processors(then, sample))
        else:
            names = [column.name for column in text.columns_of(then, request.mode)]
            found += (
                {**end, **{name: values[name] for name in names}}
                for values in _table_rows(then, sample, request.mode)
            )
    return found


def _smt_row(processor: Processor) -> dict[str, object]:
    cpus = {f"cpu{number}": share for number, share in processor.cpus}
    return {"Proc": processor.vp, "consumed_pct": processor.consumed_pct, **cpus}


def _table_rows(
    configuration: SystemConfiguration, sample: Sample, mode: str
) -> list[dict[str, Value]]:
    """Rows of a table; `-d` has no row for the unused entitlement."""
    return [row for row in report(configuration, sample) if mode != "d" or row["cpu"] != "U"]


def _asked(view: RunView, argv: Sequence[str]) -> tuple[Request, SystemConfiguration]:
    request = parse(GRAMMAR, argv)
    return request, view.partition(request.partition)


def _reports(view: RunView, request: Request, configuration: SystemConfiguration) -> list[Sample]:
    return samples(
        view, configuration.name, request.interval_ns, request.count, ("partition", "cpu")
    )
