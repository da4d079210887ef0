"""From the engine's summaries of the replications to `summary.json`: every metric with its
uncertainty.

With several replications the interval is Student's t over them. A single replication is cut into
batches of successive intervals whose means stand in for replications (method of batch means);
percentiles then have no interval. Nor has a partition without a steady state: its batches grow from
one to the next, so that their spread says nothing of how far the mean may be off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from homenode.model.estimate import BATCHES, Estimate, Told, estimate, mean_and_half
from homenode.model.spec import Spec
from homenode.simulate.answers import (
    Answer,
    MachineFacts,
    MachineFigures,
    Nest,
    PoolFigures,
    RunSummary,
    Steadiness,
    Unanswered,
    Workloads,
)
from homenode.simulate.kept.guests import guest_sums
from homenode.simulate.kept.loads import (
    LOAD_METRICS,
    batches_by_load,
    mean_only,
    totals_by_load,
)
from homenode.simulate.kept.metric import Metric
from homenode.simulate.kept.metrics import BATCHED, METRICS, metrics_of
from homenode.simulate.kept.nest_metrics import categories
from homenode.simulate.kept.sums import BATCH, REPLICATION, Added, Source, added, end_times
from homenode.simulate.kept.totals import NS_PER_S, Shape, Totals, shape_during, totals_of

GAUGES = ("tx_inside", "vps_unfolded")
"""What is read at the end of an interval rather than counted over it."""


@dataclass(frozen=True)
class Figured:
    """The metrics of a partition: what is told of each."""

    told: dict[str, Told]
    steady: Steadiness


@dataclass(frozen=True)
class Known:
    """Those metrics of a partition that have a mean, in one order."""

    names: tuple[str, ...]
    mean: list[float | None]
    ci95: list[float | None]
    values: list[list[float | None]]
    """By replication."""
    unsteady: str | None
    """Why there is no steady state."""


@dataclass(frozen=True)
class _Counted:
    """What the metrics of a partition are made of."""

    shape: Shape
    steady: Steadiness
    totals: list[Totals]
    """By replication."""
    parts: list[Totals]
    """Of a single replication, by successive stretches of it."""


def summarize(
    run_id: str,
    spec: Spec,
    raw: Sequence[Answer],
    folder: Source,
    machine: MachineFacts,
) -> RunSummary:
    """The content of `summary.json`; `folder` holds the interval tables, `machine` what of the
    machine the engine need not know.
    """
    figured = partition_figures(spec, raw, folder, machine)
    partitions = {name: one.told for name, one in figured.items()}
    steady = {name: one.steady for name, one in figured.items()}
    workloads = _workloads(spec, raw, folder, steady)
    beside: Workloads = {"workloads": workloads} if workloads else {}
    found = categories(partitions)
    nest: Nest = {"workload_category": found} if found else {}
    return {
        "run": run_id,
        "scenario": spec["name"],
        "seed": spec["seed"],
        "replications": len(raw),
        "partitions": partitions,
        **beside,
        **nest,
        **unanswered(raw),
        "machine": _machine(spec, raw, folder),
        "steady": steady,
    }


def partition_figures(
    spec: Spec, raw: Sequence[Answer], folder: Source, machine: MachineFacts
) -> dict[str, Figured]:
    """Each partition's metrics; the arguments are those of `summarize`."""
    found = {}
    for one in _counted(spec, raw, folder, machine):
        unsteady = one.steady["reason"]
        told = {
            name: metric_of(
                metric, [metric.of(each) for each in one.totals], one.parts, unsteady
            ).as_json()
            for name, metric in METRICS.items()
        }
        found[one.shape.name] = Figured(told, one.steady)
    return found


def known_figures(
    spec: Spec, raw: Sequence[Answer], folder: Source, machine: MachineFacts
) -> dict[str, Known]:
    """The same figures without those that have no mean: where they are all that is kept of a run,
    to say that of many there is none takes most of the time.
    """
    return {one.shape.name: _known_of(one) for one in _counted(spec, raw, folder, machine)}


def _known_of(one: _Counted) -> Known:
    first, unsteady = one.totals[0], one.steady["reason"]
    metrics = [
        metric
        for metric in metrics_of(
            on_host=first.shape.on_host,
            runs_guests=first.shape.runs_guests,
            weighed=first.rni is not None,
        )
        if unsteady is None or not metric.needs_steady
    ]
    # Counters of a simulation are all known: formulas need not be asked whether theirs are.
    rows = [[metric.formula(totals) for metric in metrics] for totals in one.totals]
    told: list[tuple[float | None, float | None]]
    if len(rows) == 1 and not one.parts:
        told = [(value, None) for value in rows[0]]
    else:
        columns = zip(metrics, zip(*rows, strict=True), strict=True)
        told = [_told_of(metric, values, one.parts, unsteady) for metric, values in columns]
    known = [at for at, (mean, _) in enumerate(told) if mean is not None]
    return Known(
        names=tuple(metrics[at].name for at in known),
        mean=[told[at][0] for at in known],
        ci95=[told[at][1] for at in known],
        values=[[row[at] for at in known] for row in rows],
        unsteady=unsteady,
    )


def _told_of(
    metric: Metric, values: Sequence[float | None], parts: Sequence[Totals], unsteady: str | None
) -> tuple[float | None, float | None]:
    """Mean and half of its interval."""
    if len(values) > 1 and (known := _known(values)):
        return mean_and_half(known)
    told = metric_of(metric, values, parts, unsteady)
    return told.mean, told.ci95


def _counted(
    spec: Spec, raw: Sequence[Answer], folder: Source, machine: MachineFacts
) -> Iterator[_Counted]:
    shapes = _shapes(spec)
    cut = _cut(folder) if len(raw) == 1 else {}
    batches = _batches(shapes, folder, spec, machine, cut)
    seconds, busy = spec["duration_ns"] / NS_PER_S, [_all_busy(summary) for summary in raw]
    for index, shape in enumerate(shapes):
        steady = steadiness(raw, index)
        totals = [
            totals_of(summary["partitions"][index], shape, seconds, machine, all_busy)
            for summary, all_busy in zip(raw, busy, strict=True)
        ]
        parts = batches.get(index, []) if steady["is_steady"] else []
        yield _Counted(shape, steady, totals, parts)


def _workloads(
    spec: Spec, raw: Sequence[Answer], folder: Source, steady: Mapping[str, Steadiness]
) -> dict[str, dict[str, dict[str, Told]]]:
    """Metrics of each of several workloads by partition."""
    shapes, cut = _shapes(spec), _cut(folder) if len(raw) == 1 else {}
    batches = batches_by_load(spec, folder, shapes, cut, _lengths_s(cut)) if cut else {}
    found: dict[str, dict[str, dict[str, Told]]] = {}
    for index, shape in enumerate(shapes):
        unsteady = steady[shape.name]["reason"]
        for place, (load, own) in enumerate(totals_by_load(spec, raw, index, shape).items()):
            parts = batches.get((index, place), []) if unsteady is None else []
            found.setdefault(shape.name, {})[load] = {
                metric.name: metric_of(
                    metric, [metric.of(one) for one in own], parts, unsteady
                ).as_json()
                for metric in LOAD_METRICS
            }
    return found


def replication_totals(
    spec: Spec, raw: Sequence[Answer], index: int, machine: MachineFacts
) -> list[Totals]:
    """A partition's counters in each replication."""
    seconds, shape = spec["duration_ns"] / NS_PER_S, shape_during(spec, index)
    return [
        totals_of(summary["partitions"][index], shape, seconds, machine, _all_busy(summary))
        for summary in raw
    ]


def _shapes(spec: Spec) -> list[Shape]:
    return [shape_during(spec, index) for index in range(len(spec["partitions"]))]


def _all_busy(summary: Answer) -> float:
    """Core time of all partitions in a replication [ns]."""
    return float(sum(one["totals"].get("busy_ns", 0) for one in summary["partitions"]))


def with_gauges(raw: Sequence[Answer], folder: Source) -> list[Answer]:
    """The engine's summaries with the means of the gauges, which it keeps by interval only."""
    found = added(folder, "partition", (REPLICATION, "partition"), GAUGES)
    means = {place: {name: one.mean(name) for name in GAUGES} for place, one in found.items()}
    return [
        {
            **summary,
            "partitions": [
                {**partition, "gauges": means.get((summary["replication"], index), {})}
                for index, partition in enumerate(summary["partitions"])
            ],
        }
        for summary in raw
    ]


def unanswered(raw: Sequence[Answer]) -> Unanswered:
    """How many of whose had no answer; nothing where all had one."""
    names = [one["name"] for one in raw[0]["partitions"]]
    told = {
        name: math.fsum(one["partitions"][at].get("unanswered", 0) for one in raw) / len(raw)
        for at, name in enumerate(names)
    }
    found = {name: count for name, count in told.items() if count}
    return {"unanswered": found} if found else {}


def steadiness(raw: Sequence[Answer], index: int) -> Steadiness:
    """Whether a partition was steady in all replications, and if not, why."""
    verdicts = [summary["partitions"][index]["steady"] for summary in raw]
    unsteady = [verdict for verdict in verdicts if not verdict["is_steady"]]
    reason = None
    if unsteady:
        reason = unsteady[0].get("reason") or "the work inside keeps growing"
        if 1 < len(verdicts) != len(unsteady):
            reason += f" (in {len(unsteady)} of {len(verdicts)} replications)"
    return {
        "is_steady": not unsteady,
        "reason": reason,
        "unsteady_replications": len(unsteady),
        "backlog_start": [verdict.get("backlog_start") for verdict in verdicts],
        "backlog_end": [verdict.get("backlog_end") for verdict in verdicts],
    }


def values_of(metric: Metric, totals: Sequence[Totals]) -> list[float]:
    """The metric in each of them that has a value."""
    return _known([metric.of(one) for one in totals])


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def metric_of(
    metric: Metric,
    values: Sequence[float | None],
    batches: Sequence[Totals],
    unsteady: str | None,
) -> Estimate:
    """A metric by its values in each replication; of a single one its interval from batches.
    `unsteady` says why there is no steady state, if there is none.
    """
    if metric.needs_steady and unsteady is not None:
        return Estimate(None, None, f"no steady state: {unsteady}")
    result = estimate(_known(values))
    if result.mean is None or result.ci95 is not None or not batches:
        return result
    if metric.name not in BATCHED:
        return result
    return Estimate(result.mean, estimate(values_of(metric, batches)).ci95)


def _cut(folder: Source) -> dict[int, int]:
    """The stretches into which one replication is cut: which an interval is in, by its end."""
    times = end_times(folder, "partition")
    count = min(BATCHES, len(times))
    return {time: i * count // len(times) for i, time in enumerate(times)} if count > 1 else {}


def _lengths_s(batches: Mapping[int, int]) -> list[float]:
    """How long each stretch is [s]."""
    ends = [0] * (1 + max(batches.values()))
    for time, batch in batches.items():
        ends[batch] = time
    return [(end - (ends[at - 1] if at else 0)) / NS_PER_S for at, end in enumerate(ends)]


def _batches(
    shapes: Sequence[Shape],
    folder: Source,
    spec: Spec,
    machine: MachineFacts,
    batches: Mapping[int, int],
) -> dict[int, list[Totals]]:
    """Counters of each partition in successive stretches of the one replication."""
    if not batches:
        return {}
    lengths_s = _lengths_s(batches)
    sums = added(folder, "partition", ("partition", BATCH), batches=batches)
    guests = guest_sums(folder, spec, BATCH, batches)
    busy = [0] * len(lengths_s)
    for (_, batch), one in sums.items():
        busy[batch] += one.sums["busy_ns"]
    found: dict[int, list[Totals]] = {}
    for (partition, batch), one in sums.items():
        counters = one.sums
        totals = Totals(
            shape=shapes[partition],
            seconds=lengths_s[batch],
            counters=counters,
            gauges={name: one.mean(name) for name in GAUGES},
            response_ns=mean_only(counters["response_ns"], counters["tx_done"]),
            dispatch_wait_ns=mean_only(counters["ready_ns"], counters["dispatches"]),
            all_busy_ns=float(busy[batch]),
            rni=machine.get("rni"),
            guests=guests.get((batch, partition), {}),
        )
        found.setdefault(partition, []).append(totals)
    return found


def _machine(spec: Spec, raw: Sequence[Answer], folder: Source) -> MachineFigures:
    """Figures of the machine as a whole: its pools, and how much was simulated."""
    pools = added(folder, "pool", ("pool", REPLICATION))
    managed = is_managed(spec)
    seconds = spec["duration_ns"] / NS_PER_S
    return {
        "model": spec["machine"]["name"],
        "active_cores": spec["machine"]["active_cores"],
        "simulated_s": seconds,
        "events": sum(int(summary["events"]) for summary in raw),
        "pools": {
            pool["name"]: _pool(
                [one for (place, _), one in pools.items() if place == index],
                seconds,
                managed=managed,
            )
            for index, pool in enumerate(spec["pools"])
        },
    }


def is_managed(spec: Spec) -> bool:
    """Whether a hypervisor takes core time of its pools for nobody: PR/SM's management does."""
    return spec["machine"]["hypervisor"]["policy"] == "prsm"


def _pool(replications: Sequence[Added], seconds: float, *, managed: bool) -> PoolFigures:
    """Cores of a pool: how many, how many used, how many available (`app` of lparstat); of PR/SM
    also how many its management of no partition takes.
    """
    scale = seconds * NS_PER_S

    def cores(column: str) -> Estimate:
        return estimate([one.sums[column] / scale for one in replications])

    found: PoolFigures = {
        "cores": replications[-1].last["cores"] if replications else None,
        "physc": cores("busy_ns").as_json(),
        "app": cores("idle_ns").as_json(),
    }
    if managed:
        found["management"] = cores("management_ns").as_json()
    return found
