"""From the engine's summaries of the replications to `summary.json`: every metric with its
uncertainty.

With several replications the interval is Student's t over them. A single replication is cut into
batches of successive intervals whose means stand in for replications (method of batch means);
percentiles then have no interval. Nor has a partition without a steady state: its batches grow from
one to the next, so that their spread says nothing of how far the mean may be off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.model.estimate import BATCHES, Estimate, Told, estimate
from homenode.model.spec import Spec
from homenode.simulate.answers import (
    Answer,
    Distribution,
    MachineFacts,
    MachineFigures,
    Nest,
    PoolFigures,
    RunSummary,
    Steadiness,
)
from homenode.simulate.kept.guests import guest_sums
from homenode.simulate.kept.metric import Metric
from homenode.simulate.kept.metrics import BATCHED, METRICS
from homenode.simulate.kept.nest_metrics import categories
from homenode.simulate.kept.reading import scan_table
from homenode.simulate.kept.totals import NS_PER_S, Shape, Totals, shape_of, totals_of

if TYPE_CHECKING:
    import polars as pl

GAUGES = ("tx_inside", "vps_unfolded")
"""What is read at the end of an interval rather than counted over it."""


def summarize(
    run_id: str,
    spec: Spec,
    raw: Sequence[Answer],
    folder: Path,
    machine: MachineFacts,
) -> RunSummary:
    """The content of `summary.json`; `folder` holds the interval tables, `machine` what of the
    machine the engine need not know.
    """
    shapes = [_shape(spec, index) for index in range(len(spec["partitions"]))]
    steady = {shape.name: steadiness(raw, index) for index, shape in enumerate(shapes)}
    batches = _batches(shapes, folder, spec, machine) if len(raw) == 1 else {}
    partitions: dict[str, dict[str, Told]] = {}
    for index, shape in enumerate(shapes):
        totals = replication_totals(spec, raw, index, machine)
        unsteady = steady[shape.name]["reason"]
        parts = batches.get(index, []) if unsteady is None else []
        partitions[shape.name] = {
            name: _metric(metric, totals, parts, unsteady).as_json()
            for name, metric in METRICS.items()
        }
    found = categories(partitions)
    nest: Nest = {"workload_category": found} if found else {}
    return {
        "run": run_id,
        "scenario": spec["name"],
        "seed": spec["seed"],
        "replications": len(raw),
        "partitions": partitions,
        **nest,
        "machine": _machine(spec, raw, folder),
        "steady": steady,
    }


def replication_totals(
    spec: Spec, raw: Sequence[Answer], index: int, machine: MachineFacts
) -> list[Totals]:
    """A partition's counters in each replication."""
    seconds, shape = spec["duration_ns"] / NS_PER_S, _shape(spec, index)
    return [
        totals_of(summary["partitions"][index], shape, seconds, machine, _all_busy(summary))
        for summary in raw
    ]


def _shape(spec: Spec, index: int) -> Shape:
    return shape_of(spec["partitions"][index], spec["machine"])


def _all_busy(summary: Answer) -> float:
    """Core time of all partitions in a replication [ns]."""
    return float(sum(one["totals"].get("busy_ns", 0) for one in summary["partitions"]))


def with_gauges(raw: Sequence[Answer], folder: Path) -> list[Answer]:
    """The engine's summaries with the means of the gauges, which it keeps by interval only."""
    import polars as pl

    means = (
        scan_table(folder, "partition")
        .group_by("replication", "partition")
        .agg(pl.mean(*GAUGES))
        .collect()
    )
    found = {(row.pop("replication"), row.pop("partition")): row for row in means.to_dicts()}
    return [
        {
            **summary,
            "partitions": [
                {**partition, "gauges": found.get((summary["replication"], index), {})}
                for index, partition in enumerate(summary["partitions"])
            ],
        }
        for summary in raw
    ]


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
    found = (metric.formula(one) for one in totals)
    return [value for value in found if value is not None]


def _metric(
    metric: Metric, totals: Sequence[Totals], batches: Sequence[Totals], unsteady: str | None
) -> Estimate:
    if metric.needs_steady and unsteady is not None:
        return Estimate(None, None, f"no steady state: {unsteady}")
    result = estimate(values_of(metric, totals))
    if result.mean is None or result.ci95 is not None or metric.name not in BATCHED:
        return result
    return Estimate(result.mean, estimate(values_of(metric, batches)).ci95)


def _batches(
    shapes: Sequence[Shape], folder: Path, spec: Spec, machine: MachineFacts
) -> dict[int, list[Totals]]:
    """Counters of each partition in successive stretches of the one replication."""
    import polars as pl

    rows = scan_table(folder, "partition").drop("replication")
    times = rows.select("time_ns").unique().sort("time_ns").collect().to_series()
    count = min(BATCHES, len(times))
    if count < 2:
        return {}
    numbered = pl.LazyFrame(
        {"time_ns": times, "batch": [i * count // len(times) for i in range(len(times))]}
    )
    sums = (
        rows.join(numbered, on="time_ns")
        .group_by("partition", "batch")
        .agg(
            pl.max("time_ns").alias("end_ns"),
            pl.all().exclude("time_ns").sum(),
            pl.mean(*GAUGES).name.suffix("_mean"),
        )
        .sort("partition", "batch")
        .collect()
    )
    guests = guest_sums(folder, spec, "batch", numbered)
    together = sums.group_by("batch").agg(pl.sum("busy_ns"))
    busy = dict(zip(together["batch"], together["busy_ns"], strict=True))
    found: dict[int, list[Totals]] = {}
    start_ns = 0
    for row in sums.iter_rows(named=True):
        start_ns = 0 if row["batch"] == 0 else start_ns
        batch = _batch(row, shapes[row["partition"]], start_ns, machine)
        counted = guests.get((row["batch"], row["partition"]), {})
        batch = replace(batch, guests=counted, all_busy_ns=float(busy[row["batch"]]))
        found.setdefault(row["partition"], []).append(batch)
        start_ns = row["end_ns"]
    return found


def _batch(row: Mapping[str, int], shape: Shape, start_ns: int, machine: MachineFacts) -> Totals:
    """One batch; the means of its distributions follow from sums, its percentiles do not."""
    return Totals(
        shape=shape,
        seconds=(row["end_ns"] - start_ns) / NS_PER_S,
        counters=row,
        gauges={name: row[f"{name}_mean"] for name in GAUGES},
        response_ns=mean_only(row["response_ns"], row["tx_done"]),
        dispatch_wait_ns=mean_only(row["ready_ns"], row["dispatches"]),
        rni=machine.get("rni"),
    )


def mean_only(total: float, count: int) -> Distribution:
    """A distribution of which only the sum of its values is known."""
    return {"count": count, "mean": total / count} if count else {}


def _machine(spec: Spec, raw: Sequence[Answer], folder: Path) -> MachineFigures:
    """Figures of the machine as a whole: its pools, and how much was simulated."""
    import polars as pl

    pools = scan_table(folder, "pool").collect()
    managed = spec["machine"]["hypervisor"]["policy"] == "prsm"
    seconds = spec["duration_ns"] / NS_PER_S
    return {
        "model": spec["machine"]["name"],
        "active_cores": spec["machine"]["active_cores"],
        "simulated_s": seconds,
        "events": sum(int(summary["events"]) for summary in raw),
        "pools": {
            pool["name"]: _pool(pools.filter(pl.col("pool") == index), seconds, managed=managed)
            for index, pool in enumerate(spec["pools"])
        },
    }


def _pool(rows: pl.DataFrame, seconds: float, *, managed: bool) -> PoolFigures:
    """Cores of a pool: how many, how many used, how many available (`app` of lparstat); of PR/SM
    also how many its management of no partition takes.
    """
    by_replication = rows.group_by("replication").sum().sort("replication")
    scale = seconds * NS_PER_S

    def cores(column: str) -> Estimate:
        return estimate([value / scale for value in by_replication[column]])

    found: PoolFigures = {
        "cores": rows["cores"][-1] if len(rows) else None,
        "physc": cores("busy_ns").as_json(),
        "app": cores("idle_ns").as_json(),
    }
    if managed:
        found["management"] = cores("management_ns").as_json()
    return found
