"""Metrics as Prometheus scrapes them, OpenMetrics, `promtool tsdb dump`, and answers of its
`query_range`: those of the zhmc exporter, of node_exporter and homenode's.

The zhmc exporter tells what a mainframe's management console knows: partitions with their
processors, weights, memory and use. Names are those of its documentation (zhmc-prometheus-exporter,
docs/usage.rst). A scrape without moments tells the use of one time only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from homenode._engine import MetricReader
from homenode.records.importing.facts import Beside, Facts, Told, Took
from homenode.records.importing.figures import NAMES
from homenode.records.importing.formats.nodeexporter import LABELS, RATES, WANTED, tell_hosts
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, Notice, head_text
from homenode.records.importing.shared.forms import FileFormat, text_of
from homenode.records.importing.shared.objects import Objects, amount
from homenode.records.importing.shared.samples import (
    Use,
    add_use,
    column,
    nothing_sound,
    read_pieces,
    remark_all,
)

if TYPE_CHECKING:
    import polars as pl

_MARK = re.compile(r"^(?:# (?:HELP|TYPE|UNIT) )?(zhmc|homenode)_\w+[ {]", re.MULTILINE)
_OTHER = re.compile(r"^# TYPE [A-Za-z_:][\w:]* (?:counter|gauge|histogram|summary)", re.MULTILINE)
_DUMP = re.compile(r'^\{__name__="', re.MULTILINE)
_ANSWER = re.compile(r'\A\s*\{(?=[^{]*"(?:status|data)")', re.DOTALL)
_KIND_OF_ANSWER = re.compile(r'"resultType"\s*:\s*"(matrix|vector|scalar|string|streams)"')
_SERIES = re.compile(r'\{\s*"metric"\s*:\s*\{')
_MOST_BYTES = 1 << 28
_TYPES = ("cp", "ifl", "icf", "iip")
_KIND = {"cp": "cp", "ifl": "ifl", "icf": "icf", "iip": "ziip"}
_OFF = {
    "zhmc_partition_status_int": (10, 11, 12, 13, 20, 21),
    "zhmc_partition_lpar_status_int": (2,),
}
"""Paused, stopped, starting, stopping, reservation-error, terminated; not-activated. A partition
that is activated without an operating system holds its processors."""
_MIB = 1 << 20
_SCRAPE_S = 15.0
"""The shortest time over which the console averages [s]."""
_OWN = {
    "entitlement": ("entitlement", float),
    "virtual": ("virtual", int),
    "smt": ("smt", int),
    "weight": ("weight", int),
    "number": ("number", int),
    "memory_bytes": ("memory_bytes", int),
}
_LABELS = {"os": "os", "mode": "mode", "pool": "pool"}
_FLAGS = {"capped": "capped", "donating": "donating"}


class Prometheus:
    """Text of an exporter."""

    name = "Prometheus text"

    def recognises(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the content tells
        """See `FileFormat`."""
        text = head_text(head)
        return any(mark.search(text) is not None for mark in (_MARK, _OTHER, _DUMP))

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat`."""
        reader = MetricReader(list(_WANTED))
        batches, rest = read_pieces(source, reader)
        table = _frame(batches, rest)
        if table.is_empty():
            if not rest["passed"]:
                raise nothing_sound(source, "metric", rest)
            raise _unknown(source, rest["passed"])
        _take(source, facts, self.name, table, rest["dropped"])
        remark_all(facts, source, rest["remarks"])


class RangeAnswer:
    """The answer to a query of a range of time, or several of them one after another."""

    name = "Prometheus query_range"

    def recognises(self, head: bytes, name: str) -> bool:  # noqa: ARG002 - the content tells
        """See `FileFormat`."""
        text = head_text(head)
        return bool(_ANSWER.match(text) and _KIND_OF_ANSWER.search(text))

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat`."""
        text = text_of(source, _MOST_BYTES, facts)
        kinds = set(_KIND_OF_ANSWER.findall(text))
        if "matrix" not in kinds:
            raise ListingError(
                f"it answers with a {', '.join(sorted(kinds))}, which is of one moment",
                where=source.at(),
                next_step="ask /api/v1/query_range with start, end and step",
            )
        series = Objects(text, _SERIES)
        columns, sets, passed, dropped = _series_of(series)
        broken = "a series that is no sound JSON is left out"
        facts.notices.extend(Notice(broken, source.at(line)) for line in series.broken)
        if not columns["metric"]:
            if passed:
                raise _unknown(source, passed)
            raise ListingError("it holds no series with samples", where=source.at())
        table = _labelled(columns, columns.pop("labels"), sets)
        _take(source, facts, self.name, table, dropped + len(series.broken))


def _series_of(series: Objects) -> tuple[dict[str, list[Any]], list[dict[str, str]], int, int]:
    """Columns of all wanted samples, the label sets, how many series are of others, and how many
    samples are not sound.
    """
    columns: dict[str, list[Any]] = {
        name: [] for name in ("metric", "labels", "value", "time_us", "line")
    }
    sets: list[dict[str, str]] = []
    passed = dropped = 0
    for _, line, one in series:
        told, values = one["metric"], one.get("values")
        labels = {str(key): str(value) for key, value in told.items()}  # type: ignore[attr-defined]
        name = labels.get("__name__", RATES if "mode" in labels else "")
        if not (name == RATES or name.startswith(_WANTED)) or not isinstance(values, list):
            passed += 1
            continue
        sets.append(labels)
        for pair in values:
            both = pair if isinstance(pair, list) and len(pair) == 2 else (None, None)
            time, value = amount(both[0]), amount(both[1])
            if time is None or value is None:
                dropped += 1
                continue
            row = (name, len(sets) - 1, value, round(time * 1e6), line)
            for column_of, cell in zip(columns.values(), row, strict=True):
                column_of.append(cell)
    return columns, sets, passed, dropped


def _unknown(source: Input, count: int) -> ListingError:
    return ListingError(
        f"its {count} metrics are of no exporter that is known",
        there="those of zhmc-prometheus-exporter, of node_exporter and of homenode are",
        where=source.at(),
    )


def _take(source: Input, facts: Facts, form: str, table: pl.DataFrame, dropped: int) -> None:
    """Add what any of the exporters tells."""
    hosts = tell_hosts(source, facts, table)
    parts = (_homenode(source, facts, table), _zhmc(source, facts, table), hosts and hosts[0])
    made = [part for part in parts if part]
    if not made:
        raise ListingError("it tells of no partition", where=source.at())
    lost = hosts[1] if hosts else 0
    facts.took.append(Took(source.file, form, "; ".join(made), dropped + lost))


_WANTED = ("zhmc_cpc_", "zhmc_partition_", "homenode_", *WANTED)


def _frame(batches: list[dict[str, Any]], rest: Mapping[str, Any]) -> pl.DataFrame:
    """Samples with the labels that matter."""
    import polars as pl

    sets = [dict(labels) for labels in rest["label_sets"]]
    names = pl.Series("metric", rest["names"] or [""], dtype=pl.String)
    data: dict[str, Any] = {
        "metric": names.gather(column(batches, "metric", "<u4")),
        "value": column(batches, "value", "<f8"),
        "time_us": column(batches, "time_us", "<i8"),
        "line": column(batches, "line", "<u8").astype("i8"),
    }
    return _labelled(data, column(batches, "labels", "<u4"), sets)


def _labelled(
    data: Mapping[str, Any], of_labels: Sequence[int], sets: Sequence[Mapping[str, str]]
) -> pl.DataFrame:
    """Columns of samples, with a column for each label that matters."""
    import polars as pl

    columns = dict(data) | {"labels": pl.Series("labels", of_labels, dtype=pl.UInt32)}
    for label in dict.fromkeys(("cpc", "partition", *_LABELS, *_FLAGS, "host", *LABELS)):
        told = pl.Series(label, [one.get(label) for one in sets] or [None], dtype=pl.String)
        columns[label] = told.gather(columns["labels"])
    return pl.DataFrame(columns).filter(pl.col("value").is_finite())


def _homenode(source: Input, facts: Facts, table: pl.DataFrame) -> str | None:
    """What `homenode export --as openmetrics` writes."""
    import polars as pl

    begin = "homenode_partition_"
    own = table.filter(
        pl.col("metric").str.starts_with(begin) & pl.col("partition").is_not_null()
    ).with_columns(pl.col("metric").str.strip_prefix(begin))
    if own.is_empty():
        return None
    given = own.filter(pl.col("metric").is_in([*_OWN, "info"]))
    # What a partition was given stands there once for every sample.
    given = given.unique(["metric", "labels", "value"], keep="first", maintain_order=True)
    for row in given.iter_rows(named=True):
        partition, where = facts.partition(None, row["partition"]), source.at(row["line"])
        if row["metric"] == "info":
            _tell_labels(facts, partition, row, where)
        else:
            attribute, kind = _OWN[row["metric"]]
            facts.tell(partition, attribute, Told(kind(row["value"]), where))
    lengths = table.filter(pl.col("metric") == "homenode_sample_seconds")["value"]
    timed = own.filter(pl.col("time_us") != -(1 << 63))
    use = timed.filter(pl.col("metric") == "physc").select(
        pl.col("partition").alias("name"),
        pl.col("time_us").cast(pl.Datetime("us")).alias("time"),
        pl.col("value").alias("cores"),
        "line",
        *([pl.lit(float(lengths[0])).alias("seconds")] if lengths.len() else []),
    )
    if use.is_empty():
        return f"{own['partition'].n_unique()} partitions, without samples"
    use = _with_folded(facts, timed, use)
    if lengths.len():
        _add_beside(facts, source, timed, float(lengths[0]))
    return str(add_use(facts, source, None, Use(use, "physc", ahead_s=0.0)))


def _add_beside(facts: Facts, source: Input, timed: pl.DataFrame, seconds: float) -> None:
    """Switches and queues, which have here the names they have in a run."""
    import polars as pl

    rows = timed.filter(pl.col("metric").is_in(NAMES)).with_columns(
        pl.col("time_us").cast(pl.Datetime("us")).alias("time")
    )
    for (name,), own in rows.partition_by("partition", as_dict=True).items():
        table = own.pivot("metric", index="time", values="value", aggregate_function="first")
        of = table.sort("time").with_columns(pl.lit(seconds).alias("seconds"))
        facts.beside.append(Beside(str(name), None, of, source.file, "OpenMetrics"))


def _with_folded(facts: Facts, timed: pl.DataFrame, use: pl.DataFrame) -> pl.DataFrame:
    """With the virtual processors that were folded, where it is told how many were not."""
    import polars as pl

    counts = {
        name: float(partition.virtual.value)
        for (_, name), partition in facts.partitions.items()
        if partition.virtual is not None
    }
    unfolded = timed.filter(pl.col("metric") == "vps_unfolded").select(
        pl.col("partition").alias("name"),
        pl.col("time_us").cast(pl.Datetime("us")).alias("time"),
        pl.col("value").alias("unfolded"),
    )
    if unfolded.is_empty():
        return use
    virtual = pl.col("name").replace_strict(counts, default=None, return_dtype=pl.Float64)
    joined = use.join(unfolded, on=["name", "time"], how="left", maintain_order="left")
    folded = (virtual - pl.col("unfolded")).alias("folded")
    return joined.with_columns(folded).drop("unfolded")


def _tell_labels(facts: Facts, partition: Any, row: Mapping[str, Any], where: Any) -> None:
    for label, attribute in _LABELS.items():
        if row[label]:
            facts.tell(partition, attribute, Told(row[label], where))
    for label, attribute in _FLAGS.items():
        if row[label] in ("true", "false"):
            facts.tell(partition, attribute, Told(row[label] == "true", where))


def _zhmc(source: Input, facts: Facts, table: pl.DataFrame) -> str | None:
    """What the zhmc exporter tells of mainframes and their partitions."""
    import polars as pl

    own = table.filter(pl.col("metric").str.starts_with("zhmc_") & pl.col("cpc").is_not_null())
    if own.is_empty():
        return None
    last = own.group_by("cpc", "partition", "metric", maintain_order=True).last()
    told: dict[tuple[str, str | None], dict[str, tuple[float, int]]] = {}
    for row in last.iter_rows(named=True):
        of = told.setdefault((row["cpc"], row["partition"]), {})
        of[row["metric"]] = (row["value"], row["line"])
    partitions = 0
    for (machine, partition), metrics in told.items():
        if partition is None:
            _tell_machine(source, facts, machine, metrics)
        else:
            partitions += _tell_partition(source, facts, (machine, partition), metrics)
    if not partitions:
        return None
    samples = _add_zhmc_use(source, facts, own, told)
    return f"{samples} samples; facts of {_some(partitions, 'partition')}"


def _some(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count != 1 else ''}"


def _tell_machine(
    source: Input, facts: Facts, name: str, metrics: Mapping[str, tuple[float, int]]
) -> None:
    system = facts.system(name)
    counts = [
        metrics[metric]
        for kind in _TYPES
        if (metric := f"zhmc_cpc_{kind}_processor_count") in metrics
    ]
    if counts:
        cores = sum(round(value) for value, _ in counts)
        facts.tell(system, "cores", Told(cores, source.at(counts[0][1])))
    if "zhmc_cpc_total_memory_mib" in metrics:
        size, line = metrics["zhmc_cpc_total_memory_mib"]
        facts.tell(system, "memory_bytes", Told(round(size) * _MIB, source.at(line)))
    line = min(line for _, line in metrics.values())
    for kind in _TYPES:
        count, at = metrics.get(f"zhmc_cpc_{kind}_processor_count", (0.0, 0))
        if count >= 1:
            system.types.setdefault(_KIND[kind], Told(round(count), source.at(at)))
    facts.tell(system, "architecture", Told("s390x", source.at(line)))
    facts.tell(system, "hypervisor", Told("pr/sm", source.at(line)))


def _tell_partition(
    source: Input,
    facts: Facts,
    key: tuple[str, str],
    metrics: Mapping[str, tuple[float, int]],
) -> int:
    """Facts of a partition; 1 if it has processors, 0 if it is not active."""
    for status, off in _OFF.items():
        value, line = metrics.get(status, (0.0, 0))
        if round(value) in off:
            facts.tell(facts.partition(*key), "running", Told(False, source.at(line)))
            return 0
    kinds = {
        kind: round(metrics[metric][0])
        for kind in _TYPES
        if (metric := f"zhmc_partition_{kind}_processor_count") in metrics
        and metrics[metric][0] >= 1
    }
    if not kinds:
        return 0
    partition = facts.partition(*key)
    kind = max(kinds, key=lambda one: kinds[one])
    begin = f"zhmc_partition_{kind}_"
    value, line = metrics[f"{begin}processor_count"]
    if len(kinds) > 1:
        others = ", ".join(f"{count} {_KIND[one]}" for one, count in kinds.items() if one != kind)
        text = f"{key[1]} has {others} besides; those of type {_KIND[kind]} count"
        facts.notices.append(Notice(text, source.at(line)))
    facts.tell(partition, "virtual", Told(round(value), source.at(line)))
    facts.tell(partition, "core_type", Told(_KIND[kind], source.at(line)))
    for name in ("current_processing_weight", "initial_processing_weight"):
        weight, at = metrics.get(f"{begin}{name}", (0.0, 0))
        if weight >= 1:
            facts.tell(partition, "weight", Told(round(weight), source.at(at)))
            break
    if f"{begin}initial_processing_weight_is_capped" in metrics:
        capped, at = metrics[f"{begin}initial_processing_weight_is_capped"]
        facts.tell(partition, "capped", Told(capped >= 1, source.at(at)))
    if "zhmc_partition_processor_mode_int" in metrics:
        mode, at = metrics["zhmc_partition_processor_mode_int"]
        facts.tell(partition, "mode", Told("dedicated" if mode >= 1 else "shared", source.at(at)))
    for name in ("initial_memory_mib", "current_central_memory_mib", "initial_central_memory_mib"):
        size, at = metrics.get(f"zhmc_partition_{name}", (0.0, 0))
        if size >= 1:
            facts.tell(partition, "memory_bytes", Told(round(size) * _MIB, source.at(at)))
            break
    return 1


def _add_zhmc_use(
    source: Input,
    facts: Facts,
    own: pl.DataFrame,
    told: Mapping[tuple[str, str | None], Mapping[str, tuple[float, int]]],
) -> int:
    """Series of all partitions that have processors; how many samples."""
    import polars as pl

    samples, timeless = 0, False
    groups = own.partition_by("cpc", "partition", as_dict=True)
    for machine, partition in told:
        known = facts.partitions.get((machine, partition or ""))
        if known is None or known.virtual is None or partition is None:
            continue
        kind = {told: one for one, told in _KIND.items()}.get(
            known.core_type.value if known.core_type else "", ""
        )
        rows = groups[machine, partition]
        whole = "processor_usage_ratio"
        names = (f"zhmc_partition_{kind}_{whole}", f"zhmc_partition_{whole}")
        use = next((part for name in names if (part := rows.filter(metric=name)).height), None)
        if use is None:
            continue
        without = use["time_us"][0] == -(1 << 63)
        timeless |= without
        if without:
            use = use.tail(1).with_columns(pl.lit(round(_SCRAPE_S * 1e6)).alias("time_us"))
            use = use.with_columns(pl.lit(_SCRAPE_S).alias("seconds"))
        table = use.filter(pl.col("value") >= 0).select(
            pl.lit(partition).alias("name"),
            pl.col("time_us").cast(pl.Datetime("us")).alias("time"),
            (pl.col("value") * known.virtual.value).alias("cores"),
            "line",
            *(["seconds"] if without else []),
        )
        if table.height:
            note = "share of its processors that was used"
            samples += add_use(facts, source, machine, Use(table, "physc", note, 0.0)).samples
    if timeless:
        text = f"the scrape tells no time; its use counts as that of {_SCRAPE_S:g} s from 1970 on"
        facts.notices.append(Notice(text, source.at()))
    return samples


FORMATS: tuple[FileFormat, ...] = (Prometheus(), RangeAnswer())
