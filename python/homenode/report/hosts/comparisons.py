"""Two systems side by side, in the form of the published comparison of two machine generations: a
summary by area, then throughput and processor time case by case.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from homenode.hosts.comparison import Comparison
from homenode.hosts.reduce import Cell, Pair, identities
from homenode.model.numbers import NOTHING, number, signed, significant
from homenode.report.hosts.responses import NOT_TOLD, milliseconds
from homenode.report.hosts.words import between, counted, deviation, percent, span
from homenode.report.tables import plain_table

_VERDICTS = {"better": "faster", "worse": "slower", "undecided": "undecided"}
_COLOURS = {"better": "green", "worse": "red", "undecided": "yellow"}

_RESPONSE_COLOURS = {"shorter": "green", "longer": "red", "undecided": "yellow"}


def comparison_tables(found: Comparison) -> list[Table]:
    """Summary, throughput, processor time, response times."""
    result = [_summary(found), _throughput(found)]
    if any(pair.cpu is not None for pair in found.pairs):
        result.append(_processor_time(found))
    if any(pair.response is not None for pair in found.pairs):
        result.append(_response(found))
    return result


def _summary(found: Comparison) -> Table:
    table = plain_table(
        "area",
        "cases",
        "throughput %",
        "mean %",
        "95 % interval",
        "CPU saving %",
        "response %",
        "undecided",
        title=f"{_side(found, found.second)} against {_side(found, found.first)}",
    )
    for area in found.areas:
        saving = area.saving_range_pct
        table.add_row(
            escape(area.name),
            str(len(area.pairs)),
            span(*area.range_pct),
            deviation(area.speed.mean),
            between(area.speed.low, area.speed.high),
            NOTHING if saving is None else span(*saving),
            _response_span(area.pairs),
            str(area.undecided or NOTHING),
        )
    if len(found.areas) > 1:
        table.add_section()
        mean, saving_mean = found.speed, found.saving
        deviations = [pair.deviation_pct for pair in found.pairs]
        table.add_row(
            "all",
            str(len(found.pairs)),
            span(min(deviations), max(deviations)),
            deviation(mean.mean),
            between(mean.low, mean.high),
            NOTHING if saving_mean is None else signed(100.0 * (1.0 - saving_mean.mean), 1),
            _response_span(found.pairs),
            str(sum(area.undecided for area in found.areas) or NOTHING),
        )
    return table


def _response_span(pairs: Sequence[Pair]) -> str:
    """Least and largest change of the response times, each at the place that is decided."""
    found = [100.0 * (pair.response.ratio.mean - 1.0) for pair in pairs if pair.response]
    return span(min(found), max(found)) if found else NOT_TOLD


def _side(found: Comparison, name: str) -> str:
    """A system's name, with what was set for it where the two differ in that."""
    words = "" if found.sides_alike else found.sides.get(name, "")
    return escape(f"{name} ({words})" if words else name)


def _throughput(found: Comparison) -> Table:
    claims = {id(pair): claim.verdict for pair, claim in found.claims()}
    more = [f"{found.claim_pct:g} %?"] if claims else []
    table = plain_table(
        "throughput",
        escape(found.first),
        escape(found.second),
        "unit",
        "deviation %",
        "95 % interval",
        "floor %",
        "",
        *more,
        "runs",
        title="Throughput, case by case",
    )
    table.columns[3].justify = table.columns[7].justify = "left"
    for pair, lone in zip(found.pairs, found.lone, strict=True):
        table.add_row(
            _name(found, pair),
            _score(pair.first),
            _score(pair.second),
            escape(pair.first.unit),
            deviation(pair.speed.mean),
            between(pair.speed.low, pair.speed.high),
            percent(pair.floor),
            f"{_verdict(pair)}{' *' if lone else ''}",
            *([claims[id(pair)]] if claims else []),
            f"{pair.speed.first_runs}/{pair.speed.second_runs}",
        )
    return table


def _verdict(pair: Pair) -> str:
    why = f" ({pair.why})" if pair.why else ""
    return f"[{_COLOURS[pair.verdict]}]{_VERDICTS[pair.verdict]}[/]{why}"


def _processor_time(found: Comparison) -> Table:
    table = plain_table(
        "processor time",
        f"us/unit {escape(found.first)}",
        escape(found.second),
        "saving %",
        "95 % interval",
        f"busy % {escape(found.first)}",
        escape(found.second),
        "use, implied",
        "measured",
        title="Processor time of a unit, case by case",
    )
    for pair in found.pairs:
        if pair.cpu is None:
            continue
        saving = signed(pair.saving_pct, 1)
        table.add_row(
            _name(found, pair),
            _each(pair.first),
            _each(pair.second),
            saving if pair.matched else f"({saving})",
            _saving_interval(pair),
            percent(pair.first.busy),
            percent(pair.second.busy),
            f"{number(pair.implied_use)}{' !' if pair.contradicts else ''}",
            number(pair.used),
        )
    return table


def _response(found: Comparison) -> Table:
    table = plain_table(
        "response",
        "",
        f"ms {escape(found.first)}",
        escape(found.second),
        "change %",
        "95 % interval",
        "floor %",
        "",
        title="Response times, case by case",
    )
    table.columns[1].justify = table.columns[7].justify = "left"
    for pair in found.pairs:
        for index, cells in enumerate(_places(pair)):
            table.add_row("" if index else _name(found, pair), *cells)
    return table


def _places(pair: Pair) -> list[tuple[str, ...]]:
    """A row for each place that both tell; one is decided, the others are there to look at."""
    if pair.response is None:
        return [("", NOT_TOLD, NOT_TOLD)]
    one, rows = pair.response, []
    for place, change in pair.response.changes.items():
        times = [_typical(cell, place) for cell in (pair.first, pair.second)]
        row = (place, *times, deviation(1.0 + change))
        if place == one.place:
            verdict = f"[{_RESPONSE_COLOURS[one.verdict]}]{one.verdict}[/]"
            row = (*row, between(one.ratio.low, one.ratio.high), percent(one.floor), verdict)
        rows.append(row)
    return rows


def _typical(cell: Cell, place: str) -> str:
    """The geometric mean over the runs, whose ratio is the change beside it."""
    found = cell.spread_of(lambda run: run.latency_ms.get(place))
    return milliseconds(None if found is None else found.mean)


def _saving_interval(pair: Pair) -> str:
    if pair.cpu is None or pair.cpu.low is None or pair.cpu.high is None:
        return NOTHING
    return span(100.0 * (1.0 - pair.cpu.high), 100.0 * (1.0 - pair.cpu.low))


def _name(found: Comparison, pair: Pair) -> str:
    """The case, with its processors and load where it has several."""
    a, b = pair.first.key, pair.second.key
    same = [other for other in found.pairs if other.first.key.case == a.case]
    name = escape(a.case)
    if a.processors != b.processors:
        return f"{name}, {a.processors} and {b.processors} CPUs"
    if len({other.first.key.processors for other in same}) > 1:
        name += f", {counted(a.processors, 'CPU')}"
    if len({other.first.key.load for other in same}) > 1:
        name += f", load {a.load:g}"
    return name


def _score(cell: Cell) -> str:
    score = cell.score
    return NOTHING if score is None else significant(score.mean)


def _each(cell: Cell) -> str:
    each = cell.spread_of(identities.cpu_per_unit)
    return NOTHING if each is None else significant(1e6 * each.mean)
