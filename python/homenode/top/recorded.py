"""Frames of what was recorded: the cores of each partition, a step of the recorders each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from homenode.planner.consolidation.demand import Demand, demands
from homenode.planner.consolidation.grid import Grid, on_one_grid
from homenode.records.importing.facts import Facts, Told
from homenode.records.importing.front import nothing_taken, read_paths
from homenode.records.importing.opening.sources import Notice
from homenode.top.frames import Frame, PartitionRow

Value = TypeVar("Value")


class RecordedSource:
    """What the readers of `homenode import` make of files; `notices` are what they remark."""

    grows = False

    def __init__(self, paths: Sequence[str | Path], facts: Facts | None = None) -> None:
        facts = read_paths(paths) if facts is None else facts
        if not facts.series:
            raise nothing_taken(facts)
        self.notices: list[Notice] = []
        self._demands, self._clock = _shown(facts)
        step = min(one.sample_s for one in self._demands)
        self._grid: Grid = on_one_grid(self._demands, step, "UTC", self.notices)
        self._steps = np.flatnonzero(self._grid.recorded.any(axis=0)).tolist()
        self._capacity = _capacity(self._demands)
        self._title = Path(paths[0]).name + (f" and {len(paths) - 1} more" if paths[1:] else "")

    @property
    def title(self) -> str:
        """The first file."""
        return self._title

    @property
    def state(self) -> str:
        """How long a step is."""
        return f"recording, a frame is {self._grid.step_s:g} s{self._clock}"

    @property
    def there(self) -> range:
        """The steps in which anything was recorded."""
        return range(len(self._steps))

    def frame(self, number: int) -> Frame:
        """One step; a partition that was not recorded in it has no use."""
        step = self._steps[number]
        cores = self._grid.cores[:, step].tolist()
        rows = [_row(one, used) for one, used in zip(self._demands, cores, strict=True)]
        end = f"{self._grid.moment(step + 1):%Y-%m-%d %H:%M:%S}"
        gap = " after a gap" if number and self._steps[number - 1] != step - 1 else ""
        return Frame(f"{end}{gap}", tuple(rows), capacity=self._capacity)


def _shown(facts: Facts) -> tuple[list[Demand], str]:
    """What was used at the times that were printed; in UTC, which is said, where recordings tell
    several time zones.
    """
    ahead = {one.ahead_s for one in facts.series}
    if len(ahead) > 1 and None not in ahead:
        return demands(facts, {}, []), ", UTC"
    printed = [replace(one, ahead_s=None) for one in facts.series]
    return demands(replace(facts, series=printed), {}, []), ""


def _row(demand: Demand, cores: float) -> PartitionRow:
    of = demand.partition
    return PartitionRow(
        name=demand.name,
        mode=_mode(demand),
        used=None if math.isnan(cores) else cores,
        entitled=_value(of.entitlement),
        virtual=_value(of.virtual),
        smt=_value(of.smt),
        memory_bytes=demand.memory_bytes,
    )


def _mode(demand: Demand) -> str:
    of = demand.partition
    if of.mode is not None and of.mode.value == "dedicated":
        return "donating" if _value(of.donating) else "dedicated"
    if of.capped is None:
        return "" if of.mode is None else of.mode.value
    return "capped" if of.capped.value else "uncapped"


def _value(told: Told[Value] | None) -> Value | None:
    return None if told is None else told.value


def _capacity(found: Sequence[Demand]) -> float | None:
    """Cores of all servers that were recorded; None where one of them does not tell."""
    servers = {one.partition.system: one.system for one in found}
    cores = [None if of is None else of.cores or of.pool_cores for of in servers.values()]
    told = [one.value for one in cores if one is not None]
    return float(sum(told)) if len(told) == len(cores) else None
