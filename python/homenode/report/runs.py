"""A run as tables for the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from homenode.model.numbers import NOTHING, number, with_interval
from homenode.model.spec import works_of
from homenode.report.mainframe import mainframe_tables
from homenode.report.precision import marked
from homenode.report.scores import score_of
from homenode.report.tables import plain_table
from homenode.simulate.kept.frame import frame_of, limit_of
from homenode.simulate.kept.points import changes_in_words, point_in_words
from homenode.simulate.solved.counters import MORE_THAN_IT_CAN

if TYPE_CHECKING:
    from homenode.simulate.kept.figures import Figures
    from homenode.simulate.kept.frame import Frame
    from homenode.simulate.kept.kept_run import KeptRun

_Column = tuple[str, str, int]
"""Heading, metric, decimals."""
_PROCESSOR: list[_Column] = [
    ("physc", "physc", 2),
    ("%entc", "entc_pct", 1),
    ("%user", "user_pct", 1),
    ("%sys", "sys_pct", 1),
    ("%idle", "idle_pct", 1),
    ("lbusy", "lbusy_pct", 1),
    ("ilcs/s", "ilcs_per_s", 0),
    ("vlcs/s", "vlcs_per_s", 0),
]
_PLACE = [
    ("home", "home_share"),
    ("near", "near_share"),
    ("far", "far_share"),
]
_WORK: list[_Column] = [
    ("etr/s", "etr_per_s", 1),
    ("core-us/tx", "cpu_per_tx_us", 0),
    ("response ms", "response_ms_mean", 2),
    ("p95 ms", "response_ms_p95", 2),
    ("p99 ms", "response_ms_p99", 2),
    ("p99.9 ms", "response_ms_p999", 2),
    ("loop s", "elapsed_s", 2),
]

_HOST: list[_Column] = [
    ("share %", "cpu_share_pct", 1),
    ("nvcsw/s", "nvcsw_per_s", 0),
    ("nivcsw/s", "nivcsw_per_s", 0),
    ("migr/s", "migrations_per_s", 1),
    ("delay ms", "run_delay_ms", 3),
    ("p99 ms", "run_delay_ms_p99", 2),
    ("p99.9 ms", "run_delay_ms_p999", 2),
    ("steal %", "steal_pct", 1),
    ("poll %", "halt_poll_pct", 1),
    ("throttled %", "throttled_pct", 1),
    ("of periods %", "throttled_periods_pct", 0),
    ("co-stop %", "costop_pct", 1),
]
_GROWTH = re.compile(
    r"the backlog grew from (?P<before>\d+) to (?P<after>\d+) transactions "
    r"while (?P<busy>\d+) % of the virtual processors had work"
)
"""As the engine says it of a replication."""
_NEST = [
    ("CPI", "cpi", 3),
    ("EICPI", "eicpi", 3),
    ("EFCPI", "efcpi", 3),
    ("L1MP", "l1mp", 2),
    ("L2P", "l2p", 1),
    ("L3P", "l3p", 1),
    ("L4LP", "l4lp", 1),
    ("L4RP", "l4rp", 1),
    ("MEMP", "memp", 1),
    ("RNI", "rni", 2),
]


def run_tables(run: Figures) -> list[Table]:
    """Processor, threads of a host, place and work of each partition; what is known as its nest,
    where the machine has such figures; what PR/SM and z/VM tell.
    """
    nest = any(run.metrics[partition]["rni"].mean is not None for partition in run.partitions)
    hosted = any(run.metrics[name]["nvcsw_per_s"].mean is not None for name in run.partitions)
    tables = [_processor_table(run), *([_host_table(run)] if hosted else []), _work_table(run)]
    return [*tables, *([_nest_table(run)] if nest else []), *mainframe_tables(run)]


def _shown(run: Figures, columns: list[_Column]) -> list[_Column]:
    """Those in which a partition has a value."""
    metrics = [run.metrics[partition] for partition in run.partitions]
    return [one for one in columns if any(told[one[1]].mean is not None for told in metrics)]


def _processor_table(run: Figures) -> Table:
    shown = _shown(run, _PROCESSOR)
    columns = [entry[0] for entry in shown] + [entry[0] for entry in _PLACE]
    table = plain_table("partition", *columns, title="Processor")
    for partition in run.partitions:
        metrics = run.metrics[partition]
        cells = [
            marked(metrics[name], digits)
            if name == "physc"
            else _mean(run, partition, name, digits)
            for _, name, digits in shown
        ]
        shares = [metrics[name].mean for _, name in _PLACE]
        cells += [NOTHING if share is None else f"{100 * share:.1f} %" for share in shares]
        table.add_row(escape(partition), *cells)
        for load, own in metrics.workloads.items():
            table.add_row(f"  {escape(load)}", marked(own["physc"], 2), *[""] * (len(columns) - 1))
    return table


def _host_table(run: Figures) -> Table:
    """Threads of a Linux or Xen host, columns that hold nothing left out."""
    shown = _shown(run, _HOST)
    table = plain_table("partition", *(title for title, *_ in shown), title="Threads on the host")
    for partition in run.partitions:
        cells = [_mean(run, partition, name, digits) for _, name, digits in shown]
        table.add_row(escape(partition), *cells)
    return table


def _work_table(run: Figures) -> Table:
    shown = _shown(run, _WORK)
    scores = {name: score_of(run, name) for name in run.partitions}
    units = list(dict.fromkeys(score[0] for score in scores.values() if score is not None))
    table = plain_table("partition", *(title for title, *_ in shown), *units, title="Work")
    for partition in run.partitions:
        metrics, score = run.metrics[partition], scores[partition]
        if run.unsteady_reason(partition) is not None:
            cells = ["no steady state", *[NOTHING] * (len(shown) - 1)] if shown else []
        else:
            cells = [marked(metrics[name], digits) for _, name, digits in shown]
        cells += [
            with_interval(score[1], 0) if score is not None and score[0] == unit else NOTHING
            for unit in units
        ]
        table.add_row(escape(partition), *cells)
        steady = run.unsteady_reason(partition) is None
        for load, own in metrics.workloads.items() if steady else ():
            row = [marked(own[name], digits) for _, name, digits in shown]
            table.add_row(f"  {escape(load)}", *row, *[NOTHING] * len(units))
    return table


def _nest_table(run: Figures) -> Table:
    table = plain_table("partition", *(title for title, *_ in _NEST), "category", title="Nest")
    for partition in run.partitions:
        cells = [_mean(run, partition, name, digits) for _, name, digits in _NEST]
        table.add_row(escape(partition), *cells, run.workload_category.get(partition, NOTHING))
    return table


def _mean(run: Figures, partition: str, name: str, digits: int) -> str:
    mean = run.metrics[partition][name].mean
    return NOTHING if mean is None else f"{mean:,.{digits}f}"


def frame_line(frame: Frame) -> str:
    """The frame or host as a whole, in one line."""
    own = f"{frame.dedicated} dedicated, " if frame.dedicated else ""
    return (
        f"{frame.kind}: {with_interval(frame.used)} of {frame.capacity:g} {frame.unit} used, "
        f"{number(frame.free.mean)} free; {own}{frame.entitlement:.2f} entitled"
    )


def unsteady_lines(run: Figures) -> list[str]:
    """One line for all partitions without a steady state, each with its reason; none if all have
    one.
    """
    names = [name for name in run.partitions if run.unsteady_reason(name) is not None]
    if not names:
        return []
    frame = frame_of(run)
    told = "; ".join(f"{name}: {_why(run, name, frame)}" for name in names)
    return [f"No steady state, so throughput and response have no mean: {told}."]


def unanswered_lines(run: Figures) -> list[str]:
    """One line for all partitions of which some had no answer in all of the time: no response tells
    of these, so throughput times response and think time is less than all.
    """
    single = {one["name"]: works_of(one) for one in run.spec["partitions"]}
    told = []
    for name, count in run.unanswered.items():
        work, *others = single[name]
        of_all = "" if others else f" of {work.get('count')} {work['kind']}"
        told.append(f"{name} {count:g}{of_all}")
    if not told:
        return []
    rest = "responses are those of the others; a longer run may tell of these too"
    return [f"No answer in all of the time: {', '.join(told)}; {rest}."]


def _why(run: Figures, name: str, frame: Frame) -> str:
    """What grows, shortly, and what keeps the partition from doing more."""
    reason = run.unsteady_reason(name) or ""
    found = _GROWTH.search(reason)
    limit = limit_of(run, name, frame)
    if found is None:
        return f"{reason}, {limit}" if limit and reason == MORE_THAN_IT_CAN else reason
    busy = f"{found['busy']} % of its virtual processors had work"
    rest = reason[found.end() :]
    return (
        f"backlog {int(found['before']):,} to {int(found['after']):,} transactions, "
        f"{limit or busy}{rest}"
    )


def runs_table(runs: Iterable[KeptRun]) -> Table:
    """A list of kept runs."""
    rows = list(runs)
    pointed, changed = (any(map(of, rows)) for of in (_point, _changes))
    table = plain_table("run", "date (UTC)", "seed", "simulated")
    for column, shown in (("point", pointed), ("changed", changed), ("partitions", True)):
        if shown:
            table.add_column(column)
    for run in rows:
        seconds = run.summary["machine"]["simulated_s"]
        table.add_row(
            escape(run.id),
            _minute(str(run.provenance.get("date", NOTHING))),
            str(run.seed),
            f"{run.replications} x {seconds:g} s",
            *([escape(_point(run))] if pointed else []),
            *([escape(_changes(run))] if changed else []),
            escape(", ".join(run.partitions[:4]) + (", ..." if len(run.partitions) > 4 else "")),
        )
    return table


def _point(run: KeptRun) -> str:
    return point_in_words(run.point)


def _changes(run: KeptRun) -> str:
    return changes_in_words(run.changes)


def _minute(date: str) -> str:
    """A date without its seconds and its zone, which is always UTC."""
    return date[: len("2000-01-01T00:00")].replace("T", " ")
