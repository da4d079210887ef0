"""Throughput in the unit in which a benchmark's results are published."""

from __future__ import annotations

from homenode.model.estimate import Estimate
from homenode.model.numbers import with_interval
from homenode.simulate.kept.figures import Figures


def score_of(
    run: Figures, partition: str, rate: Estimate | None = None
) -> tuple[str, Estimate] | None:
    """The unit and the partition's throughput in it; None where its profile has none, or it has no
    throughput. `rate` is taken in place of the run's own.
    """
    told = run.details.get(partition, {}).get("score")
    rate = run.metric(partition, "etr_per_s") if rate is None else rate
    if told is None or rate.mean is None:
        return None
    each = told["of_rate"]
    ci95 = None if rate.ci95 is None else rate.ci95 * each
    return told["unit"], Estimate(rate.mean * each, ci95)


def score_text(run: Figures, partition: str, rate: Estimate | None = None) -> str:
    """The same in a few words after a comma, or nothing."""
    found = score_of(run, partition, rate)
    return "" if found is None else f", {with_interval(found[1], 0)} {found[0]}"
