"""Studies of capability factors: `[capacity]` in study.toml names a table of factors; a case is a
partition of so many processors, or several of them. Nothing is simulated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from homenode.capacity import CapacityTable, capacity_table
from homenode.errors import HomenodeError, StudyError, nearest
from homenode.results.stats import Estimate
from homenode.study.keys import only
from homenode.study.published import PublishedRow

_TABLE = {"table", "base", "case"}
_CASE = {"name", "processors", "partitions"}
METRICS = ("capability", "capability_ratio")
"""Capability of all partitions of a case together, and that by the capability of the base."""


@dataclass(frozen=True)
class CapacityCase:
    """So many partitions of so many processors each."""

    name: str
    processors: int
    partitions: int = 1


@dataclass(frozen=True)
class CapacityStudy:
    """What `[capacity]` says."""

    table: CapacityTable
    base: int
    """Processors of the partition that ratios are told by."""
    cases: Mapping[str, CapacityCase]

    def value(self, row: PublishedRow) -> Estimate:
        """The computed counterpart of a published row."""
        case = self.cases[row.case]
        capability = case.partitions * self.table.capability(case.processors)
        base = self.table.capability(self.base) if row.metric == "capability_ratio" else 1.0
        return Estimate(capability / base)


def read_capacity(raw: Mapping[str, Any], where: str) -> CapacityStudy:
    """The table as the file has it; a case whose size the factors lack is refused."""
    only(raw, _TABLE, _TABLE, where)
    table, base = capacity_table(str(raw["table"])), int(raw["base"])
    _there(table, base, f"{where}, base")
    cases: dict[str, CapacityCase] = {}
    for entry in raw["case"]:
        only(entry, _CASE, {"name", "processors"}, f"{where}, [[capacity.case]]")
        case = CapacityCase(
            str(entry["name"]), int(entry["processors"]), int(entry.get("partitions", 1))
        )
        if case.name in cases:
            raise StudyError(f"{where}: case {case.name} stands there twice")
        if case.partitions < 1:
            raise StudyError(f"{where}: case {case.name} needs 1 partition or more")
        _there(table, case.processors, f"{where}: case {case.name}")
        cases[case.name] = case
    return CapacityStudy(table, base, cases)


def _there(table: CapacityTable, processors: int, where: str) -> None:
    try:
        table.factor(processors)
    except HomenodeError as error:
        raise StudyError(f"{where}: {error}") from error


def check_metrics(rows: Sequence[PublishedRow], where: str) -> None:
    """Every row names a metric that such a study has."""
    for row in rows:
        if row.metric not in METRICS:
            raise StudyError(
                f"{where}: row {row.key}: a table of factors has no metric {row.metric}"
                f"{nearest(row.metric, METRICS)}"
            )
