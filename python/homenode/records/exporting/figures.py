"""The figures of a run as tables, for the forms that are tables (Parquet, CSV, xlsx) or are made of
one (OpenMetrics).

Columns are named as the metrics are, unit last; a figure of a sample is the formula of the metric
(`homenode.simulate.kept.METRICS`) or the tool's (`homenode.tools.mpstat`) on the counters of the
sample. A table's rows are in order of time, partition and number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from homenode.model.spec import shared_of
from homenode.records.exporting.frames import Frames, sample_ns
from homenode.simulate.answers import Sums
from homenode.simulate.kept.guests import guest_sums, guest_tables, tables_beside
from homenode.simulate.kept.loads import mean_only
from homenode.simulate.kept.metrics import BATCHED, METRICS
from homenode.simulate.kept.summarize import GAUGES
from homenode.simulate.kept.totals import NS_PER_S, Totals, shape_during
from homenode.tools.mpstat.figures import HOME_DISPATCHES, REDISPATCHES, report

if TYPE_CHECKING:
    import polars as pl

    from homenode.records.exporting.options import ExportOptions
    from homenode.simulate.run import Run
    from homenode.tools import Limits, Sample, SystemConfiguration

SAMPLED = tuple(name for name in METRICS if name in BATCHED)
"""Metrics that a sample has."""
_CPU = {
    "us": "user_pct", "sy": "sys_pct", "wa": "wait_pct", "id": "idle_pct", "pc": "physc",
    "%ec": "entc_pct", "rq": "runnable_threads", "cs": "cs", "ics": "ics", "ilcs": "ilcs",
    "vlcs": "vlcs", "mig": "migrations", "int": "interrupts", "lpa": "lpa_pct",
    **{name: f"{name.lower()}_pct" for name in (*REDISPATCHES, *HOME_DISPATCHES)},
}  # fmt: skip
"""Column of mpstat to ours; what mpstat counts over the interval stays a count."""
_STAMPS = ("time", "time_s", "seconds")
_POOL_CORES = ("busy_ns", "idle_ns", "entitled_ns", "management_ns")
_BOUNDS = ("minimum", "maximum", "desired")
_LIMITS = {"capacity": "entitlement", "processors": "virtual", "memory": "memory_mb"}


@dataclass(frozen=True)
class Column:
    """What stands in a column of the table of partitions."""

    name: str
    unit: str
    meaning: str


COLUMNS = tuple(Column(name, METRICS[name].unit, METRICS[name].meaning) for name in SAMPLED)
"""The metrics of a sample."""


def tables(run: Run, options: ExportOptions) -> Iterator[tuple[str, pl.DataFrame]]:
    """All tables but that of dispatches, by name; one after another, so that one at a time is held.
    `ToolError` where the run cannot be cut into samples of that length.
    """
    frames = Frames.of(run, options)
    window_ns = sample_ns(run, options)
    yield "run", _run(run, options, window_ns)
    yield "configuration", configuration(frames, options)
    yield "summary", _summary(run, options)
    yield "partition", partition_table(frames, options)
    yield "cpu", _cpu_table(frames, options)
    yield "pool", _pool_table(frames, options)
    for name in tables_beside(run.spec):
        yield name, _guest_table(frames, options, name)


def _run(run: Run, options: ExportOptions, window_ns: int) -> pl.DataFrame:
    """Where the figures come from."""
    import polars as pl

    facts = {
        "run": run.id,
        "scenario": run.name,
        "machine": run.spec["machine"]["name"],
        "seed": run.seed,
        "replication": options.replication or 0,
        "replications": run.replications,
        "begins": options.begins.strftime("%Y-%m-%d %H:%M:%S"),
        "sample_s": window_ns / NS_PER_S,
        "version": run.provenance.get("version", ""),
        "commit": run.provenance.get("commit") or "",
    }
    rows = [{"name": name, "value": str(value)} for name, value in facts.items()]
    return pl.DataFrame(rows)


def configuration(frames: Frames, options: ExportOptions) -> pl.DataFrame:
    """A row a partition: what it was given."""
    import polars as pl

    rows = [_configured(frames, name) for name in options.partitions(frames.run)]
    real = ("entitlement", *(name for name in rows[0] if name.endswith(_BOUNDS)))
    words, truths = ("pool",), ("capped", "donating")
    types = {
        **dict.fromkeys(real, pl.Float64()),
        **dict.fromkeys(words, pl.String()),
        **dict.fromkeys(truths, pl.Boolean()),
        "weight": pl.Int64(),
    }
    return pl.DataFrame(rows, schema_overrides=types)


def _configured(frames: Frames, name: str) -> dict[str, object]:
    told = frames.configurations[name]
    spec = frames.run.partition_spec(name)
    shared = shared_of(spec)
    pools = frames.run.spec["pools"]
    row: dict[str, object] = {
        "partition": name,
        "number": told.number,
        "os": spec["guest"]["os"],
        "mode": told.kind.lower(),
        "capped": told.mode != "Uncapped" if told.is_shared else None,
        "donating": None if told.is_shared else told.is_donating,
        "entitlement": told.ent,
        "virtual": told.vps,
        "smt": told.smt,
        "weight": told.weight if told.is_shared else None,
        "pool": None if shared is None else pools[shared["pool"]]["name"],
        "memory_mb": told.mem_mb,
        "host": told.node_name or name,
    }
    for attribute, column in _LIMITS.items():
        limits: Limits | None = getattr(told, attribute)
        for bound in _BOUNDS:
            row[f"{column}_{bound}"] = None if limits is None else float(getattr(limits, bound))
    return row


def _summary(run: Run, options: ExportOptions) -> pl.DataFrame:
    """The metrics of the whole run, over all its replications."""
    import polars as pl

    rows = [
        {
            "partition": name,
            "metric": metric,
            "unit": METRICS[metric].unit if metric in METRICS else "",
            "mean": estimate.mean,
            "ci95": estimate.ci95,
            "reason": estimate.reason,
        }
        for name in options.partitions(run)
        for metric, estimate in run.metrics[name].items()
    ]
    schema = {
        "partition": pl.String,
        "metric": pl.String,
        "unit": pl.String,
        "mean": pl.Float64,
        "ci95": pl.Float64,
        "reason": pl.String,
    }
    return pl.DataFrame(rows, schema=schema)


def partition_table(frames: Frames, options: ExportOptions) -> pl.DataFrame:
    """A row a sample and partition; a metric that has no value anywhere is left out."""
    import polars as pl

    rows = sorted(
        (row for name in options.partitions(frames.run) for row in _sampled(frames, options, name)),
        key=_moment,
    )
    found = pl.DataFrame(rows, infer_schema_length=None)
    return found.select(c for c in found.columns if found[c].null_count() < len(found))


def _sampled(frames: Frames, options: ExportOptions, name: str) -> Iterator[dict[str, object]]:
    run = frames.run
    window_ns = sample_ns(run, options)
    index = run.partitions.index(name)
    unsteady = run.unsteady_reason(name) is not None
    guests = _guest_sums(frames, window_ns)
    for number, sample in enumerate(frames.samples(name, window_ns)):
        totals = Totals(
            shape=shape_during(run.spec, index, sample.start_ns, sample.end_ns),
            seconds=sample.elapsed_ns / NS_PER_S,
            counters=sample.partition,
            gauges={gauge: sample.partition[gauge] for gauge in GAUGES},
            response_ns=_mean(sample, "response_ns", "tx_done"),
            dispatch_wait_ns=_mean(sample, "ready_ns", "dispatches"),
            rni=run.machine_facts.get("rni"),
            guests=guests.get((number, index), {}),
        )
        yield {
            **stamps(sample, options),
            "partition": name,
            **{
                metric: None
                if unsteady and METRICS[metric].needs_steady
                else _float(METRICS[metric].formula(totals))
                for metric in SAMPLED
            },
        }


def _mean(sample: Sample, total: str, count: str) -> dict[str, float]:
    return mean_only(sample.partition[total], sample.partition[count])


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)


def _guest_sums(frames: Frames, window_ns: int) -> Mapping[tuple[int, int], Sums]:
    """Counters of virtual machines by sample and partition."""
    if not guest_tables(frames.run.spec):
        return {}
    ends = frames.run.intervals("partition")["time_ns"].unique()
    batches = {end: (end - 1) // window_ns for end in ends.to_list()}
    return guest_sums(frames.run.path, frames.run.spec, "batch", batches, frames.replication)


def stamps(sample: Sample, options: ExportOptions) -> dict[str, object]:
    """When a sample ended, as a date and from the beginning of the measured time, and its
    length.
    """
    return {
        "time": options.begins.replace(tzinfo=None) + timedelta(microseconds=sample.end_ns // 1000),
        "time_s": sample.end_ns / NS_PER_S,
        "seconds": sample.elapsed_ns / NS_PER_S,
    }


def _moment(row: Mapping[str, object]) -> float:
    """When the sample of a row ended, from the beginning of the measured time [s]."""
    time_s = row["time_s"]
    return time_s if isinstance(time_s, float) else 0.0


def _cpu_table(frames: Frames, options: ExportOptions) -> pl.DataFrame:
    """A row a sample and logical processor, as mpstat reports it."""
    import polars as pl

    window_ns = sample_ns(frames.run, options)
    rows = [
        {**stamps(sample, options), "partition": name, **row}
        for name in options.partitions(frames.run)
        for sample in frames.samples(name, window_ns, cpus=True)
        for row in _processors(frames.configurations[name], sample)
    ]
    rows.sort(key=_moment)
    return pl.DataFrame(rows, infer_schema_length=None)


def _processors(told: SystemConfiguration, sample: Sample) -> Iterator[dict[str, object]]:
    rows = report(told, sample)
    for counted, row in zip(sample.cpus, rows, strict=False):
        yield {
            "cpu": counted["cpu"],
            "vp": counted["vp"],
            **{ours: row[theirs] for theirs, ours in _CPU.items()},
        }


def _pool_table(frames: Frames, options: ExportOptions) -> pl.DataFrame:
    """A row a sample and shared processor pool; the first is the whole physical pool."""
    window_ns = sample_ns(frames.run, options)
    rows = _windows(frames, "pool", ["pool_index", "pool"], window_ns)
    cores = [_quotient(rows, c, window_ns, c.replace("_ns", "_cores")) for c in _POOL_CORES]
    stamped = _stamped(rows.with_columns(cores), options, window_ns)
    return stamped.select(*_STAMPS, "pool", "cores", *(column.name for column in cores))


def _guest_table(frames: Frames, options: ExportOptions, name: str) -> pl.DataFrame:
    """Counters of workloads beside others, virtual machines, switches or volumes over each sample,
    as they were kept.
    """
    import polars as pl

    window_ns = sample_ns(frames.run, options)
    own = [f"{name}_index", name] if name != "volume" else [name]
    rows = _windows(frames, name, ["partition_index", "partition", *own], window_ns)
    rows = rows.filter(pl.col("partition").is_in(options.partitions(frames.run)))
    hidden = ("window", "partition_index", f"{name}_index")
    shown = [c for c in rows.columns if c not in hidden]
    return _stamped(rows, options, window_ns).select(*_STAMPS, *shown)


def _windows(frames: Frames, table: str, keys: list[str], window_ns: int) -> pl.DataFrame:
    """Counters summed over each sample; how many cores there are, or transactions inside, is read
    at its end.
    """
    import polars as pl

    rows = frames.run.intervals(table).filter(pl.col("replication") == frames.replication)
    whole = int(rows["time_ns"].max() or 0) // window_ns  # type: ignore[arg-type]
    last = [c for c in rows.columns if c in ("cores", "tx_inside")]
    summed = pl.all().exclude("time_ns", "replication", *keys, *last).sum()
    return (
        rows.sort("time_ns")
        .with_columns(window=(pl.col("time_ns") - 1) // window_ns)
        .filter(pl.col("window") < whole)
        .group_by("window", *keys)
        .agg(*(pl.col(c).last() for c in last), summed)
        .sort("window", *keys)
    )


def _stamped(rows: pl.DataFrame, options: ExportOptions, window_ns: int) -> pl.DataFrame:
    """With the columns of `stamps`, made of the number of the sample."""
    import polars as pl

    begins = pl.lit(options.begins.replace(tzinfo=None)).cast(pl.Datetime("us"))
    ended = rows.with_columns(end_ns=(pl.col("window") + 1) * window_ns)
    return ended.with_columns(
        (begins + pl.duration(microseconds=pl.col("end_ns") // 1000)).alias("time"),
        _quotient(ended, "end_ns", NS_PER_S, "time_s"),
        pl.lit(window_ns / NS_PER_S).alias("seconds"),
    )


def _quotient(rows: pl.DataFrame, column: str, whole: int, name: str) -> pl.Series:
    """A column by a number, correctly rounded; polars itself multiplies by the inverse."""
    import polars as pl

    return pl.Series(name, rows[column].to_numpy() / whole)
