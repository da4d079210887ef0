"""Counters of each of several workloads of a partition: the formulas are the partition's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from homenode.model.spec import Spec, loads_of
from homenode.simulate.answers import Answer, Distribution
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.kept.sums import BATCH, Source, added
from homenode.simulate.kept.totals import NS_PER_S, Shape, Totals, load_totals, with_cycles

LOAD_METRICS = tuple(
    metric
    for name, metric in METRICS.items()
    if name in ("physc", "etr_per_s", "cpu_per_tx_us", "cpi", "instructions_per_tx")
    or name.startswith(("response_ms", "elapsed_s"))
)
"""Metrics that a workload has by itself. Its core time is its threads' part of that of the cores
on which they were; the guest's own threads and idle cores are no workload's.
"""


def totals_by_load(
    spec: Spec, raw: Sequence[Answer], index: int, shape: Shape
) -> dict[str, list[Totals]]:
    """The counters of a partition's workloads in each replication; empty if it has one."""
    partition = spec["partitions"][index]
    if "beside" not in partition:
        return {}
    seconds, clock_hz = spec["duration_ns"] / NS_PER_S, float(spec["machine"]["clock_hz"])
    return {
        name: [
            load_totals(summary["partitions"][index]["workloads"][number], shape, seconds, clock_hz)
            for summary in raw
        ]
        for number, name in enumerate(loads_of(partition))
    }


def batches_by_load(
    spec: Spec,
    folder: Source,
    shapes: Sequence[Shape],
    batches: Mapping[int, int],
    lengths_s: Sequence[float],
) -> dict[tuple[int, int], list[Totals]]:
    """The counters of workloads in successive stretches, by partition and place in it; `batches`
    says by its end which stretch an interval is in.
    """
    if not any("beside" in partition for partition in spec["partitions"]):
        return {}
    clock_hz = float(spec["machine"]["clock_hz"])
    found: dict[tuple[int, int], list[Totals]] = {}
    sums = added(folder, "workload", ("partition", "workload", BATCH), batches=batches)
    for (partition, number, batch), one in sums.items():
        counters = with_cycles(one.sums, clock_hz)
        totals = Totals(
            shape=shapes[partition],
            seconds=lengths_s[batch],
            counters=counters,
            response_ns=mean_only(one.sums["response_ns"], one.sums["tx_done"]),
        )
        found.setdefault((partition, number), []).append(totals)
    return found


def mean_only(total: float, count: int) -> Distribution:
    """A distribution of which only the sum of its values is known."""
    return {"count": count, "mean": total / count} if count else {}
