"""A validation as tables and sentences: measured beside simulated, row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from homenode.judge.judge import Interval, Row, counts
from homenode.judge.report import Report
from homenode.judge.scene import Busy
from homenode.model.estimate import Estimate
from homenode.model.numbers import NOTHING, signed, significant_with_interval
from homenode.report.tables import plain_table

_WORDS = {
    "share_pct": "share of the groups' time, %",
    "cpus": "processors used",
    "makespan_s": "time to the end, s",
    "voluntary_per_s": "voluntary switches, 1/s",
    "involuntary_per_s": "involuntary switches, 1/s",
    "waiting_cpus": "waiting for a processor, threads",
    "throttled_cpus": "throttled, processors",
    "response_p50_ms": "response, median, ms",
    "response_p99_ms": "response, 99th percentile, ms",
    "done_per_s": "bursts or transactions, 1/s",
    "cpu_us_each": "processor time each, us",
}
"""Metrics of the rows in words."""


def tables(report: Report) -> list[Table]:
    """One table: all rows."""
    return [rows_table(report.rows)]


def rows_table(rows: Sequence[Row]) -> Table:
    """Measured, simulated, deviation, tolerance and verdict of each row."""
    table = plain_table(
        "experiment", "group", "figure", "measured (95 %)", "simulated (95 %)", "deviation",
        "tolerance", "verdict", "repeats",
        title="This host and its simulation",
    )  # fmt: skip
    for row in rows:
        table.add_row(
            escape(row.experiment),
            row.group,
            _WORDS.get(row.metric, row.metric),
            _interval(row.measured),
            _interval(row.simulated),
            NOTHING if row.deviation is None else signed(row.deviation, 1) + _unit(row),
            f"±{row.tolerance:g}{_unit(row)}",
            row.verdict,
            {True: "yes", False: "no", None: NOTHING}[row.repeats],
        )
    return table


def _interval(found: Interval | None) -> str:
    return NOTHING if found is None else significant_with_interval(Estimate(found.mean, found.half))


def _unit(row: Row) -> str:
    return " %" if row.kind == "percent" else ""


def sentences(report: Report) -> list[str]:
    """What it was measured on, what came of it, and what it does not show."""
    host = report.host
    used = ", ".join(map(str, host.processors))
    where = f"{host.processor}, kernel {host.release}, processors {used}"
    lines = [
        f"{where}; {report.passes} passes, {report.seconds:g} s an experiment{_more(report)}.",
        _settings(report),
        _calibrated(report),
        _verdicts(report.rows),
    ]
    if report.interrupted:
        lines.append("It was interrupted; the rows are of what was done by then.")
    if report.rejected:
        lines.append(_rejected(report))
    lines += [f"Left out: {text}." for text in report.left_out]
    lines += [f"Note: {text}." for text in report.host.notes]
    if report.again:
        same = sum(one.repeats for one in report.again)
        lines.append(
            f"Against the earlier report, {same} of {len(report.again)} measured figures lie "
            "within the intervals of both."
        )
        gone = [one.key for one in report.again if not one.repeats]
        lines += [f"  not: {', '.join(gone)}"] if gone else []
    lines.append("Not shown by this host, so only as good as the published cases:")
    lines += [f"  {text}" for text in report.not_shown]
    return lines


def _more(report: Report) -> str:
    """Trials beyond the passes."""
    done = Counter(trial.experiment for trial in report.trials if trial.rejected is None)
    more = sum(max(0, count - report.passes) for count in done.values())
    return f"; {more} trials more of what was known worst" if more else ""


def _settings(report: Report) -> str:
    told = ", ".join(
        f"{name} {_value(value)} ({source})"
        for name, (value, source) in report.host.settings.items()
    )
    unread = "; ".join(report.host.unread)
    return f"Settings: {told}." + (f" Not read: {unread}." if unread else "")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value / 1e6:g} ms"
    return str(value)


def _calibrated(report: Report) -> str:
    alone = report.alone
    beside = f"threads bound to a processor took {_turns(alone.bound)} on each"
    beside += f", all others {_turns(alone.free)} on the host"
    burst = f"{alone.run_s * 1e3:.2f} ms of work, {alone.sleep_s * 1e3:.2f} ms of sleep"
    parts = [
        f"one loop alone ({alone.job_stretch:.3f} of its asked length; beside it, {beside})",
        f"on/off work alone ({burst})",
    ]
    if alone.transaction_s:
        each_us, share = alone.transaction_s * 1e6, f"{alone.client_share:.0%} of it the client's"
        wake_up = f"a wake-up there takes the waker {alone.wake_interrupt_s * 1e6:.0f} us, and"
        wake_up += f" {alone.wake_idle_s * 1e6:.0f} us more until an idle processor runs"
        parts += [
            f"one database alone on one processor ({each_us:.0f} us a transaction, {share})",
            f"two processes over TCP, on one processor and on two ({wake_up})",
        ]
    return f"Calibrated on {'; on '.join(parts)}; on nothing else."


def _turns(busy: Busy) -> str:
    return f"{busy.per_s:.1f} turns a second of {busy.run_s * 1e6:.0f} us"


def _verdicts(rows: Sequence[Row]) -> str:
    every = counts(rows)
    told = ", ".join(f"{count} {verdict}" for verdict, count in every.items())
    known = [row for row in rows if row.repeats is not None]
    text = f"{len(rows)} rows: {told or 'none'}."
    if known:
        text += (
            f" {sum(bool(row.repeats) for row in known)} of {len(known)} last repeats lie where "
            "the earlier ones let expect."
        )
    return text


def _rejected(report: Report) -> str:
    reasons = sorted({trial.rejected or "" for trial in report.rejected})
    shown = "; ".join(reasons[:3])
    return (
        f"{len(report.rejected)} of {len(report.trials)} trials were rejected and repeated: {shown}"
        + (", ..." if len(reasons) > 3 else ".")
    )
