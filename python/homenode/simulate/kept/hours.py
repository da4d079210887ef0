"""A run of a day by the hour, and which hour binds.

The hour that binds a partition is the one in which it uses most of what it can use; that of the
machine the one in which most cores are used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from homenode.model.scenario import Scenario
from homenode.model.scenario.asked import has_day
from homenode.model.spec import Spec, capacity_of, machines_of, processors_of

if TYPE_CHECKING:
    import polars as pl

    from homenode.simulate.kept.kept_run import KeptRun

_COLUMNS = ("busy_ns", "response_ns", "tx_done")


@dataclass(frozen=True)
class Hour:
    """What was used in one hour of the day, in the mean over the replications."""

    label: str
    """When it begins, or what it is that comes now and then."""
    cores: tuple[float, ...]
    """By partition."""
    response_ms: tuple[float | None, ...]
    """Mean response of the transactions that were done; None where none was."""

    @property
    def together(self) -> float:
        """Cores of all partitions."""
        return math.fsum(self.cores)


@dataclass(frozen=True)
class ByHour:
    """A day as it was played."""

    partitions: tuple[str, ...]
    processors: tuple[int, ...]
    """Virtual processors of each, or cores of its own: the most it can use."""
    active_cores: int
    """On a host its hardware threads."""
    hour_ns: int
    """Simulated time of an hour."""
    hours: tuple[Hour, ...]
    level: tuple[str, ...] = ()
    """Partitions that are told the same of every hour, or of none."""

    @property
    def binding(self) -> Hour:
        """The hour in which most cores are used."""
        return max(self.hours, key=lambda hour: hour.together)

    def binding_of(self, index: int) -> Hour:
        """The hour in which a partition uses most."""
        return max(self.hours, key=lambda hour: hour.cores[index])

    def mean_of(self, index: int) -> float:
        """Cores over all that was played."""
        return math.fsum(hour.cores[index] for hour in self.hours) / len(self.hours)

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            **asdict(self),
            "binding": self.binding.label,
            "binding_of": {
                name: None if name in self.level else self.binding_of(index).label
                for index, name in enumerate(self.partitions)
            },
        }


def told_rates(spec: Spec) -> Iterator[tuple[str, list[float]]]:
    """Work that was told by the cores it takes, step by step [instructions/s], by partition or
    partition and virtual machine.
    """
    for one in spec["partitions"]:
        workload = one["workload"]
        if workload["kind"] == "trace" and "spread" in workload:
            yield one["name"], workload["instructions_per_s"]
        for machine in machines_of(one):
            played = machine["work"].get("played") if "work" in machine else None
            if played is not None:
                yield f"{one['name']}/{machine['name']}", played["instructions_per_s"]


def by_hour(run: KeptRun) -> ByHour | None:
    """A run by the hour; None if no day was played in it."""
    if not any(told_rates(run.spec)):
        return None
    scenario = Scenario.load(run.path / "scenario.toml")
    day = has_day(scenario.file)
    if day is None:
        return None
    hour_ns = scenario.timing.duration // day.hours
    rows = _summed(run, hour_ns)
    changing = {
        key.partition("/")[0]
        for key, asked in scenario.resolved.asked.items()
        if len(set(asked.cores)) > 1
    }
    level = [name for name in run.partitions if name not in changing]
    count = len(run.partitions)
    return ByHour(
        partitions=tuple(run.partitions),
        processors=tuple(processors_of(one) for one in run.spec["partitions"]),
        active_cores=capacity_of(run.spec["machine"]),
        hour_ns=hour_ns,
        hours=tuple(
            _hour(label, rows.get(number, {}), range(count), hour_ns * run.replications)
            for number, label in enumerate(day.labels())
        ),
        level=tuple(level),
    )


def _hour(
    label: str, rows: dict[int, dict[str, int]], partitions: Sequence[int], time_ns: int
) -> Hour:
    found = [rows.get(index, dict.fromkeys(_COLUMNS, 0)) for index in partitions]
    return Hour(
        label,
        tuple(one["busy_ns"] / time_ns for one in found),
        tuple(
            one["response_ns"] / one["tx_done"] / 1e6 if one["tx_done"] else None for one in found
        ),
    )


def _summed(run: KeptRun, hour_ns: int) -> dict[int, dict[int, dict[str, int]]]:
    """Counters by hour and partition, over all replications."""
    import polars as pl

    table: pl.DataFrame = run.intervals("partition")
    hours = table.with_columns(((pl.col("time_ns") - 1) // hour_ns).alias("hour"))
    sums = hours.group_by("hour", "partition_index").agg(pl.col(_COLUMNS).sum())
    found: dict[int, dict[int, dict[str, int]]] = {}
    for row in sums.iter_rows(named=True):
        found.setdefault(row["hour"], {})[row["partition_index"]] = row
    return found
