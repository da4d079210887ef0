"""A run as OpenMetrics text: every metric a family, every sample a point with its time.

Families are gauges, for a figure is that of its sample and does not add up. What a partition was
given stands beside them at every one of these times: Prometheus makes no block of a file in which
any point lacks one, and forgets a series minutes after its last point.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.records.exporting.figures import COLUMNS, configuration, tables
from homenode.records.exporting.frames import Frames, sample_ns
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import Exporter, Kind
from homenode.simulate.kept.totals import NS_PER_S

if TYPE_CHECKING:
    import polars as pl

    from homenode.simulate.run import Run

_BYTES_PER_MB = 1 << 20
_GIVEN = {
    "number": "number of the partition",
    "entitlement": "entitled capacity, or dedicated cores [cores]",
    "virtual": "virtual processors, or dedicated cores",
    "smt": "hardware threads used of each core",
    "weight": "variable capacity weight",
    "memory_bytes": "memory [bytes]",
}
_INFO = ("os", "mode", "capped", "donating", "pool", "host")
_CPU = {
    "physc": "cores that the logical processor was charged [cores]",
    "user_pct": "of it in user mode [%]",
    "sys_pct": "of it in the kernel [%]",
    "wait_pct": "of it idle with I/O outstanding [%]",
    "idle_pct": "of it idle [%]",
}
_POOL = {
    "cores": "cores of the pool [cores]",
    "busy_cores": "of these in use [cores]",
    "idle_cores": "of these idle [cores]",
}


@dataclass(frozen=True)
class OpenMetrics:
    """The figures of every sample as one text of OpenMetrics."""

    name: str = "openmetrics"
    title: str = "OpenMetrics text with the time of every sample, for Prometheus and its kin"
    kind: Kind = "file"
    suffix: str = ".om.txt"
    takes: Collection[str] = ("partition", "replication", "interval_ns", "start")

    def write(self, run: Run, target: Path, options: ExportOptions) -> list[Path]:
        """See `Exporter.write`."""
        with target.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in _lines(run, options))
        return [target]


def _lines(run: Run, options: ExportOptions) -> Iterator[str]:
    began = options.begins.timestamp()
    found = dict(tables(run, options))
    times = [began + time_s for time_s in found["partition"]["time_s"].unique().sort()]
    yield from _given(run, options, times)
    shown = {c.name: f"{c.meaning} [{c.unit}]" if c.unit else c.meaning for c in COLUMNS}
    families: dict[str, tuple[dict[str, str], Sequence[str]]] = {
        "partition": (shown, ("partition",)),
        "cpu": (_CPU, ("partition", "cpu")),
        "pool": (_POOL, ("pool",)),
    }
    for name, table in found.items():
        if name in families:
            meanings, labels = families[name]
            yield from _points(f"homenode_{name}", table, meanings, labels, began)
    yield "# EOF"


def _given(run: Run, options: ExportOptions, times: Sequence[float]) -> Iterator[str]:
    """What each partition was given, at each of the times."""
    ends = [f" {_number(time)}" for time in times]
    rows = configuration(Frames.of(run, options), options).to_dicts()
    yield "# HELP homenode_partition what a partition was given"
    yield "# TYPE homenode_partition info"
    for row in rows:
        facts = {name: row[name] for name in _INFO if row[name] is not None}
        labels = _labels({"partition": row["partition"], **facts})
        yield from (f"homenode_partition_info{labels} 1{end}" for end in ends)
    yield from _heading("homenode_sample_seconds", "length of a sample, which ends at its time")
    seconds = _number(sample_ns(run, options) / NS_PER_S)
    yield from (f"homenode_sample_seconds {seconds}{end}" for end in ends)
    for name, meaning in _GIVEN.items():
        yield from _heading(f"homenode_partition_{name}", meaning)
        for row in rows:
            value = row["memory_mb"] * _BYTES_PER_MB if name == "memory_bytes" else row[name]
            if value is not None:
                labels = _labels({"partition": row["partition"]})
                known = f"homenode_partition_{name}{labels} {_number(value)}"
                yield from (f"{known}{end}" for end in ends)


def _points(
    prefix: str,
    table: pl.DataFrame,
    meanings: dict[str, str],
    labels: Sequence[str],
    began: float,
) -> Iterator[str]:
    """A family a column; the points of one set of labels stand together, in order of time."""
    parts = table.partition_by(*labels, as_dict=True, maintain_order=True)
    for column, meaning in meanings.items():
        if column not in table.columns:
            continue
        yield from _heading(f"{prefix}_{column}", meaning)
        for key, rows in parts.items():
            name = f"{prefix}_{column}{_labels(dict(zip(labels, key, strict=True)))}"
            for time_s, value in rows.select("time_s", column).iter_rows():
                if value is not None:
                    yield f"{name} {_number(value)} {_number(began + time_s)}"


def _heading(name: str, meaning: str) -> Iterator[str]:
    yield f"# HELP {name} {_escaped(meaning)}"
    yield f"# TYPE {name} gauge"


def _labels(facts: dict[str, object]) -> str:
    shown = ",".join(f'{name}="{_escaped(_word(value))}"' for name, value in facts.items())
    return f"{{{shown}}}"


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    """The shortest decimal that reads back as the same number."""
    return str(value) if isinstance(value, int) else repr(float(value))


EXPORTER: Exporter = OpenMetrics()
