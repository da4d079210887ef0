"""One result: what each case gave, scaling sets, what was rejected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from homenode.errors import listed
from homenode.hosts.reduce import Cell, Measured, identities, summarize
from homenode.hosts.reduce.repetitions import WARM_UP_SHIFT
from homenode.hosts.reduce.scaling import Capability
from homenode.hosts.statistics import detectable
from homenode.model.numbers import NOTHING, significant
from homenode.report.hosts.guests import guests_sentences, guests_tables
from homenode.report.hosts.responses import NOT_TOLD, response_mean, response_tables, tail
from homenode.report.hosts.scaling import scaling_sentences, scaling_table
from homenode.report.hosts.two_hosts import two_hosts_sentences, two_hosts_tables
from homenode.report.hosts.words import counted, percent, reasons
from homenode.report.tables import plain_table

_HOW_TO_READ = (
    "result: geometric mean of the runs; CV: variation from run to run; busy: of the processors "
    "that the case was allowed; us/unit: processor time of a unit of work."
)


def tables(
    result: Measured, capability: Capability | None = None, source: str = "linear scaling"
) -> list[Table]:
    """A table a system with a row a case, then one for each scaling set."""
    summary = summarize(result, capability, source)
    by_system: dict[str, list[Cell]] = {}
    for cell in summary.cells:
        by_system.setdefault(cell.key.system, []).append(cell)
    name = result.suite.get("name", "")
    return [
        *(_system_table(str(name), system, cells) for system, cells in by_system.items()),
        *response_tables(by_system),
        *two_hosts_tables(summary.cells),
        *guests_tables(summary.cells),
        *(scaling_table(one) for one in summary.sets),
    ]


def _system_table(suite: str, system: str, cells: Sequence[Cell]) -> Table:
    several = len({cell.key.processors for cell in cells}) > 1
    table = plain_table(
        "case",
        "result",
        "unit",
        "CV %",
        "busy %",
        "us/unit",
        "mean ms",
        "tail ms",
        "runs",
        title=f"{escape(suite)} on {escape(system)}",
    )
    table.columns[2].justify = "left"
    area = None
    for cell in cells:
        if area not in (None, cell.key.area):
            table.add_section()
        area = cell.key.area
        table.add_row(*_row(cell, several=several))
    return table


def _row(cell: Cell, *, several: bool) -> list[str]:
    shown = cell if cell.runs else Cell(cell.key, cell.rejected)
    score, each = shown.score, shown.spread_of(identities.cpu_per_unit)
    name, count = escape(cell.key.case), cell.key.processors
    figures = [
        NOTHING if score is None else significant(score.mean),
        NOTHING if score is None else percent(score.cv),
        percent(shown.busy),
        NOTHING if each is None else significant(1e6 * each.mean),
        response_mean(shown),
        tail(shown),
    ]
    if not cell.runs:
        figures = [one if one in (NOTHING, NOT_TOLD) else f"({one})" for one in figures]
    return [
        f"{name}, {counted(count, 'CPU')}" if several else name,
        figures[0],
        escape(cell.unit),
        *figures[1:],
        f"{len(cell.runs)}{f' of {len(cell.runs) + len(cell.rejected)}' if cell.rejected else ''}",
    ]


def sentences(
    result: Measured, capability: Capability | None = None, source: str = "linear scaling"
) -> list[str]:
    """How to read the tables, what the scaling sets say, what was rejected and left out."""
    summary = summarize(result, capability, source)
    lines = [_HOW_TO_READ, *session_lines(result), *_noise_lines(summary.cells)]
    lines += two_hosts_sentences(summary.cells)
    lines += guests_sentences(summary.cells)
    for one in summary.sets:
        lines += scaling_sentences(one)
    rejected = summary.rejections
    lost = [cell.key.case for cell in summary.cells if not cell.runs]
    if lost:
        lines.append(
            f"In brackets, {listed(lost, 6)}: no run counts, the host was not quiet. Figures to "
            "look at, never to compare."
        )
    if rejected:
        total = sum(rejected.values())
        verb = "was" if total == 1 else "were"
        lines.append(f"{counted(total, 'run')} {verb} rejected: {reasons(rejected)}.")
    lines += _unknown_lines(summary.cells)
    unsettled = [cell.key.case for cell in summary.cells if cell.unsettled]
    if unsettled:
        lines.append(
            f"Still warming up, by their own seconds: {listed(unsettled)}; lengthen these runs."
        )
    lines += _warm_up_lines(summary.cells)
    return lines + _left_out(result)


def _warm_up_lines(cells: Sequence[Cell]) -> list[str]:
    """Cases whose figure holds their warm-up."""
    moved = [
        f"{cell.key.case} ({100 * cell.warm_up_shift:+.1f} %)"
        for cell in cells
        if cell.warm_up_shift is not None and abs(cell.warm_up_shift) > WARM_UP_SHIFT
    ]
    if not moved:
        return []
    line = (
        f"Without their first seconds, which MSER-5 takes for warm-up, runs would tell otherwise: "
        f"{listed(moved, 6)}; lengthen these runs."
    )
    return [line]


def session_lines(result: Measured) -> list[str]:
    """When and on what it was measured, as far as the result tells, and whether it ended early."""
    begun, ended = (str(getattr(result, name, "") or "") for name in ("started", "finished"))
    host = _host_words(result.environment)
    when = f" {begun[:16].replace('T', ' ')} to {_until(begun, ended)}" if begun and ended else ""
    lines = [f"Measured{when}{f' on {host}' if host else ''}."] if when or host else []
    client = result.environment.get("client")
    if isinstance(client, Mapping):
        lines.append(f"That host ran the servers; their clients ran on {_host_words(client)}.")
    if getattr(result, "interrupted", False):
        lines.append("The session ended early: some cases have fewer runs than were asked for.")
    return lines


def _until(begun: str, ended: str) -> str:
    """The clock alone on the same day."""
    return ended[11:16] if begun[:10] == ended[:10] else ended[:16].replace("T", " ")


def _host_words(environment: Mapping[str, object]) -> str:
    """`AMD EPYC, 2 processors, kernel 6.18.0, a guest of KVM`, as far as it is told."""
    processors, kernel, guest = (
        one if isinstance(one := environment.get(name), Mapping) else {}
        for name in ("processors", "kernel", "virtualisation")
    )
    online = processors.get("online")
    found = [
        str(processors.get("model") or ""),
        counted(len(online), "processor") if isinstance(online, list) else "",
        f"kernel {kernel['release']}" if kernel.get("release") else "",
        f"a guest of {guest.get('hypervisor') or 'some hypervisor'}" if guest.get("guest") else "",
    ]
    return ", ".join(one for one in found if one)


def _noise_lines(cells: Sequence[Cell]) -> list[str]:
    """Which differences such runs could show at all."""
    found = []
    for cell in cells:
        score = cell.score
        if score is not None and score.cv is not None:
            least = detectable(score.cv, score.count)
            found.append((least, score.count, cell.key.case))
    known = sorted((least, case) for least, _, case in found if least is not None)
    if known:
        (best, best_case), (worst, worst_case) = known[0], known[-1]
        start = "Against another host measured alike, these runs would show a difference from "
        if len(known) == 1:
            return [f"{start}{100 * best:.1f} % upward ({best_case}), four times in five."]
        line = (
            f"{start}{100 * best:.1f} % upward at the best ({best_case}) and {100 * worst:.1f} % "
            f"at the worst ({worst_case}), four times in five."
        )
        return [line]
    if found:
        most = max(count for _, count, _ in found)
        line = (
            f"With {counted(most, 'run')} a case no difference to another host can be decided; "
            "it takes 4 of each, or 6 pairs in turn: --repeats."
        )
        return [line]
    return []


def _unknown_lines(cells: Sequence[Cell]) -> list[str]:
    """Cases whose processor time is not known for every run."""
    found = [
        f"{cell.key.case} ({cell.unknown_cpu} of {len(cell.runs)})"
        for cell in cells
        if cell.unknown_cpu
    ]
    if not found:
        return []
    line = (
        f"Runs whose processor time is not known, and no busy of their case: {listed(found, 6)}; "
        "why, says the record's cpu_unknown."
    )
    return [line]


def _left_out(result: Measured) -> list[str]:
    by_reason: dict[str, list[str]] = {}
    for one in result.left_out:
        by_reason.setdefault(str(one.get("why", "")), []).append(str(one.get("case", "")))
    lines = [f"left out: {listed(names)}: {why}" for why, names in by_reason.items()]
    failed = getattr(result, "failures", ())
    return lines + [
        f"failed: {one.get('case')}, run {_counted_from_one(one.get('replicate'))}: "
        f"{one.get('why')}"
        for one in failed
    ]


def _counted_from_one(replicate: object) -> object:
    return replicate + 1 if isinstance(replicate, int) else replicate
