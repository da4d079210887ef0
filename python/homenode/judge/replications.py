"""A kept simulated run as records of runs, a replication a record, so that measured and simulated
go through the same reduction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.hosts.errors import MeasureError
from homenode.hosts.record import CpuTime, RunRecord, Switches
from homenode.hosts.reduce.measured import Plain
from homenode.model.spec import count_of
from homenode.simulate.kept.metrics import METRICS

if TYPE_CHECKING:
    from homenode.simulate.kept.totals import Totals
    from homenode.simulate.run import Run

_LATENCIES = {
    "mean": "response_ms_mean",
    "p50": "response_ms_p50",
    "p95": "response_ms_p95",
    "p99": "response_ms_p99",
    "max": "response_ms_max",
}


def records_of(
    run: Run, partition: str | None = None, *, case: str | None = None, system: str | None = None
) -> list[RunRecord]:
    """Of one partition. `case` and `system` are what a measured counterpart calls them; without
    them the partition's and the scenario's names.

    Work is transactions done, of loops those that the instructions done amount to. Processor time
    is core time, and the number of processors that of virtual ones (or dedicated cores): with
    several threads of a core in use, busy is that of cores.

    Raises `MeasureError` for a partition that did nothing or was in no steady state.
    """
    name = run.partition(partition)
    reason = run.unsteady_reason(name)
    if reason is not None:
        raise MeasureError(
            f"partition {name} of run {run.id} was in no steady state: {reason}",
            next_step="lengthen the run's warmup or duration, or ask less of the partition",
        )
    unit, works = _works(run, name)
    workload = run.partition_spec(name)["workload"]
    load = float(count_of(workload))
    return [
        _record(run, name, index, totals, work, (case or name, system or run.name, unit, load))
        for index, (totals, work) in enumerate(zip(run.totals(name), works, strict=True))
    ]


def result_of(
    run: Run, partition: str | None = None, *, case: str | None = None, system: str | None = None
) -> Plain:
    """The records as a result that can be summarised and compared."""
    records = records_of(run, partition, case=case, system=system)
    name = records[0].case
    return Plain(
        records=records,
        suite={"name": f"simulated {run.partition_spec(run.partition(partition))['name']}"},
        cases={name: {"title": f"{run.id}: {run.partition(partition)}"}},
    )


def _works(run: Run, partition: str) -> tuple[str, list[float]]:
    """Unit of work, and how much of it was done in each replication."""
    breakdown = run.breakdown(partition)
    done = breakdown.work
    if done is None:
        raise MeasureError(f"partition {partition} of run {run.id} does no work: it is idle")
    totals = run.totals(partition)
    if done.counted:
        return done.unit, [one["tx_done"] for one in totals]
    path = run.partition_spec(partition)["profile"]["instructions_per_unit"]
    return done.unit, [(one["instructions"] - one["spin_instructions"]) / path for one in totals]


def _record(
    run: Run,
    partition: str,
    index: int,
    totals: Totals,
    work: float,
    names: tuple[str, str, str, float],
) -> RunRecord:
    case, system, unit, load = names
    delay = _value(totals, "run_delay_cores")
    return RunRecord(
        system=system,
        case=case,
        metric=f"{unit}s",
        better="higher",
        processors=totals.shape.processors,
        load=load,
        replicate=index,
        order=index,
        work=work,
        seconds=totals.seconds,
        score=work / totals.seconds,
        unit=f"{unit}s/s",
        cpu=CpuTime(total=totals["busy_ns"] / 1e9),
        latency_ms={
            name: value
            for name, metric in _LATENCIES.items()
            if (value := _value(totals, metric)) is not None
        },
        switches=_switches(totals),
        run_delay_s=None if delay is None else delay * totals.seconds,
        details={"simulated": True, "run": run.id, "partition": partition},
    )


def _value(totals: Totals, name: str) -> float | None:
    return METRICS[name].formula(totals) if name in METRICS else None


def _switches(totals: Totals) -> Switches | None:
    rates = [_value(totals, name) for name in ("nvcsw_per_s", "nivcsw_per_s")]
    if rates[0] is None or rates[1] is None:
        return None
    return Switches(round(rates[0] * totals.seconds), round(rates[1] * totals.seconds))
