"""What node_exporter tells Prometheus of Linux hosts: processor time by mode, memory, memory by
NUMA node, pressure (PSI), switches and interrupts.

Its counters grow from the start of a host, so that use is a difference over the time between two
samples of all processors. Where a query has made rates of them already (no name, label `mode`),
these count as they are: cores by mode.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from homenode.errors import listed
from homenode.records.importing.facts import Beside, Facts, PartitionFacts, Told
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import Notice
from homenode.records.importing.shared.samples import Use, add_use
from homenode.records.importing.shared.servers import NO_SERVER

if TYPE_CHECKING:
    import polars as pl

WANTED = (
    "node_cpu_seconds_total",
    "node_cpu_info",
    "node_memory_MemTotal_bytes",
    "node_memory_numa_MemTotal",
    "node_pressure_",
    "node_context_switches_total",
    "node_intr_total",
    "node_procs_running",
    "node_uname_info",
)
LABELS = ("instance", "cpu", "mode", "node", "nodename", "machine", "model_name")
RATES = "rates"
"""Name that samples of a query of rates are given."""
_CPU = "node_cpu_seconds_total"
_MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""Guests' time is in that of users."""
_NOT_BUSY = ("idle", "iowait", "steal")
_STATES = {"user": ("user", "nice"), "sys": ("system",), "wait": ("iowait",), "idle": ("idle",)}
_RATES = {
    "node_context_switches_total": "context_switches_per_s",
    "node_intr_total": "interrupts_per_s",
}
_LEVELS = {"node_procs_running": "runnable_threads"}
_PORT = re.compile(r":\d+$")
_TIMELESS = -(1 << 63)
_MOST_CORES = 65_536
_WHOLE = 0.02
"""Rates of all modes together are a whole number of processors within this."""


def tell_hosts(source: Input, facts: Facts, table: pl.DataFrame) -> tuple[str, int] | None:
    """Add all hosts of a table with the columns `metric`, `value`, `time_us`, `line` and `LABELS`;
    what they are in words, and how many samples were left out. None if it tells of none.
    """
    import polars as pl

    own = table.filter(pl.col("metric").str.starts_with("node_") | (pl.col("metric") == RATES))
    if own.is_empty():
        return None
    samples = dropped = 0
    names = []
    for (instance,), rows in own.partition_by(
        "instance", as_dict=True, maintain_order=True
    ).items():
        host = _Host(source, facts, str(instance or ""), rows)
        host.tell()
        taken, lost = host.use()
        samples, dropped = samples + taken, dropped + lost
        names.append(host.partition.name)
    hosts = f"{samples} samples of {listed(names, 4)}"
    return (hosts if samples else f"facts of {listed(names, 4)}, no use"), dropped


class _Host:
    """One target of the scrapes."""

    def __init__(self, source: Input, facts: Facts, instance: str, rows: pl.DataFrame) -> None:
        import polars as pl

        self.source, self.facts, self.rows = source, facts, rows
        named = rows.filter(pl.col("nodename").is_not_null())["nodename"]
        name = named[0] if named.len() else _PORT.sub("", instance)
        self.partition: PartitionFacts = facts.partition(None, name or source.name.split(".")[0])
        self.processors: int | None = None

    def tell(self) -> None:
        """Facts of the host."""
        import polars as pl

        first = int(self.rows["line"][0])
        self._tell("os", "linux", first)
        cpus = self.rows.filter(pl.col("cpu").is_not_null())
        if cpus.height:
            self.processors = cpus["cpu"].n_unique()
            self._tell("logical", self.processors, int(cpus["line"][0]))
        for row in self._latest("node_memory_MemTotal_bytes"):
            self._tell("memory_bytes", round(row["value"]), row["line"])
        for row in self._latest("node_memory_numa_MemTotal"):
            if row["node"] is not None and row["node"].isdecimal() and len(row["node"]) < 5:
                told = Told(round(row["value"]), self.source.at(row["line"]))
                self.partition.memory_by_node.setdefault(int(row["node"]), told)
        system = self.facts.system(NO_SERVER)
        for column, attribute in (("machine", "architecture"), ("model_name", "processor")):
            told_rows = self.rows.filter(pl.col(column).is_not_null())
            if told_rows.height:
                value = str(told_rows[column][0])
                family = "power" if value.startswith("ppc") else value
                where = self.source.at(int(told_rows["line"][0]))
                self.facts.tell(system, attribute, Told(family, where))
        self._tell_pressure()

    def _tell(self, attribute: str, value: object, line: int) -> None:
        self.facts.tell(self.partition, attribute, Told(value, self.source.at(line)))

    def _latest(self, metric: str) -> Iterable[Mapping[str, Any]]:
        """The last sample of each series of a metric, which is above 0."""
        import polars as pl

        rows = self.rows.filter((pl.col("metric") == metric) & (pl.col("value") >= 1))
        return rows.group_by("node", maintain_order=True).last().to_dicts()

    def _tell_pressure(self) -> None:
        """How long some task, or all, waited: nothing in a scenario is set by it."""
        import polars as pl

        rows = self.rows.filter(pl.col("metric").str.starts_with("node_pressure_"))
        shares = []
        waits = rows.partition_by("metric", as_dict=True, maintain_order=True)
        for (metric,), own in waits.items():
            rates = [rate for rate in _differences(own)["rate"].to_list() if rate is not None]
            if rates:
                name = str(metric).removeprefix("node_pressure_").removesuffix("_seconds_total")
                mean, most = 100 * sum(rates) / len(rates), 100 * max(rates)
                shares.append(f"{name} {mean:.2g} % of the time (at most {most:.2g} %)")
        if shares:
            text = f"pressure (PSI) of {self.partition.name}: {'; '.join(shares)}"
            where = self.source.at(int(rows["line"][0]))
            self.facts.notices.append(Notice(f"{text}; nothing is made of it", where))

    def use(self) -> tuple[int, int]:
        """Add its use and its switches; samples taken, and those left out."""
        import polars as pl

        counted = self.rows.filter(metric=_CPU)
        counted = counted.filter(pl.col("mode").is_in(_MODES) & pl.col("cpu").is_not_null())
        if counted.height:
            rates, backwards = _by_mode(counted)
            if not rates.height:
                text = "counters of one moment tell no use: give a range of time"
                self.facts.notices.append(Notice(text, self.source.at(int(counted["line"][0]))))
            note = "differences of processor time by mode, over the time between samples"
        else:
            rates, backwards = self._asked_rates(), 0
            note = "rates of processor time by mode, as a query made them"
        self._add_beside()
        if not rates.height:
            return 0, backwards
        modes = [name for name in rates.columns if name not in ("time", "seconds", "line")]
        busy = [pl.col(name) for name in modes if name not in _NOT_BUSY]
        states = [
            pl.sum_horizontal(pl.col(name) for name in names if name in modes).alias(state)
            for state, names in _STATES.items()
            if set(names) & set(modes)
        ]
        most = self.processors or _MOST_CORES
        table = rates.select(
            pl.lit(self.partition.name).alias("name"),
            "time",
            *(["seconds"] if "seconds" in rates.columns else []),
            pl.sum_horizontal(busy).alias("cores") if busy else pl.lit(0.0).alias("cores"),
            "line",
            *states,
        )
        sound = table.filter(pl.col("cores") <= most * 1.05)
        added = add_use(self.facts, self.source, None, Use(sound, "used", note, 0.0))
        return added.samples, backwards + table.height - sound.height + added.dropped

    def _asked_rates(self) -> pl.DataFrame:
        """Rates by mode of a query, summed over processors, where the modes make up whole ones."""
        import polars as pl

        rows = self.rows.filter((pl.col("metric") == RATES) & pl.col("mode").is_in(_MODES))
        if not rows.height:
            return pl.DataFrame()
        wide = rows.group_by("time_us", "mode").agg(pl.col("value").sum(), pl.col("line").first())
        table = _wide(wide, "value")
        whole = wide.group_by("time_us").agg(pl.col("value").sum())["value"].median()
        line = int(rows["line"][0])
        if "idle" in table.columns and isinstance(whole, float) and whole >= 1 - _WHOLE:
            count = round(whole)
            if self.processors is None and abs(whole - count) <= _WHOLE * count:
                self.processors = count
                self._tell("logical", count, line)
        text = "values by mode are taken as cores: sum by (instance, mode) (rate(...))"
        self.facts.notices.append(Notice(text, self.source.at(line)))
        return table

    def _add_beside(self) -> None:
        """Switches, interrupts and threads that run."""
        import polars as pl

        frames = []
        for metric, name in {**_RATES, **_LEVELS}.items():
            rows = _differences(self.rows.filter(pl.col("metric") == metric).sort("time_us"))
            value = "rate" if metric in _RATES else "value"
            found = rows.filter(pl.col(value).is_not_null() & (pl.col(value) >= 0))
            if found.height:
                frames.append(found.select("time_us", "seconds", pl.col(value).alias(name)))
        if not frames:
            return
        table = frames[0]
        for other in frames[1:]:
            table = table.join(other.drop("seconds"), on="time_us", how="left")
        told = (
            table.unique("time_us", keep="first")
            .sort("time_us")
            .select(pl.col("time_us").cast(pl.Datetime("us")).alias("time"), pl.exclude("time_us"))
        )
        name = self.partition.name
        self.facts.beside.append(Beside(name, None, told, self.source.file, "node_exporter"))


def _differences(rows: pl.DataFrame) -> pl.DataFrame:
    """Of one series, in the order of time: with `seconds` since the sample before and `rate`, null
    where the counter went back, as after a start of the host.
    """
    import polars as pl

    timed = rows.filter(pl.col("time_us") > _TIMELESS).unique("time_us", keep="first")
    seconds, more = pl.col("time_us").diff() / 1e6, pl.col("value").diff()
    told = timed.sort("time_us").with_columns(seconds.alias("seconds"))
    rate = pl.when((pl.col("seconds") > 0) & (more >= 0)).then(more / pl.col("seconds"))
    return told.with_columns(rate.alias("rate")).filter(pl.col("seconds").is_not_null())


def _by_mode(rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Cores by mode at each time, with `seconds`; and at how many times a counter went back or a
    processor is missing.
    """
    import polars as pl

    series = ["cpu", "mode"]
    timed = rows.filter(pl.col("time_us") > _TIMELESS)
    timed = timed.unique([*series, "time_us"], keep="first").sort("time_us")
    seconds = (pl.col("time_us").diff() / 1e6).over(series)
    more = pl.col("value").diff().over(series)
    told = timed.with_columns(seconds.alias("seconds"), more.alias("more"))
    told = told.filter(pl.col("seconds").is_not_null())
    whole = timed.select(series).unique().height
    sound = told.group_by("time_us").agg(
        pl.len().alias("count"), pl.col("more").min().alias("least"), pl.col("seconds").n_unique()
    )
    kept = sound.filter(
        (pl.col("count") == whole) & (pl.col("least") >= 0) & (pl.col("seconds") == 1)
    )
    told = told.join(kept.select("time_us"), on="time_us", how="semi")
    summed = told.group_by("time_us", "mode").agg(
        (pl.col("more") / pl.col("seconds")).sum().alias("value"),
        pl.col("line").first(),
        pl.col("seconds").first(),
    )
    lengths = summed.group_by("time_us").agg(pl.col("seconds").first())
    table = _wide(summed, "value")
    if table.height:
        lengths = lengths.select(pl.col("time_us").cast(pl.Datetime("us")).alias("time"), "seconds")
        table = table.join(lengths, on="time", how="left").sort("time")
    return table, sound.height - kept.height


def _wide(rows: pl.DataFrame, values: str) -> pl.DataFrame:
    """A column a mode; `time` and `line` besides."""
    import polars as pl

    if not rows.height:
        return pl.DataFrame()
    lines = rows.group_by("time_us").agg(pl.col("line").min())
    table = rows.pivot("mode", index="time_us", values=values, aggregate_function="first")
    filled = table.with_columns(pl.exclude("time_us").fill_null(0.0))
    joined = filled.join(lines, on="time_us").sort("time_us")
    return joined.with_columns(pl.col("time_us").cast(pl.Datetime("us")).alias("time")).drop(
        "time_us"
    )
