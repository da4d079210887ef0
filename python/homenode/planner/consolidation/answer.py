"""What a consolidation comes to: cores left, days left, what else fits, who goes where."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from typing import Any

from homenode.planner.consolidation.growth import DaysLeft, Growth
from homenode.planner.consolidation.peaks import Peaks
from homenode.planner.consolidation.targets import Target
from homenode.records.importing.opening.sources import Notice
from homenode.records.importing.telling import note_data


@dataclass(frozen=True)
class PlacedPartition:
    """A partition with where it goes."""

    name: str
    machine: str
    source: str
    """Machine or rating that stands for the one it was recorded on."""
    rated: bool
    """Whether `factor` comes of ratings, not of the cost model."""
    factor: float
    """Cores of its target that one recorded core is."""
    mean: float
    """Cores of its target, over the steps that count."""
    peak: float
    """Percentile of the same."""
    recorded: float
    """Share of the steps that count in which it was recorded."""
    memory_bytes: int | None
    more: int
    """How many more such partitions fit on what is left."""


@dataclass(frozen=True)
class FilledMachine:
    """A target with those on it; cores are its own."""

    target: Target
    partitions: tuple[str, ...]
    peak: float
    """Percentile of what they use together, in units of the target (hardware threads on hosts)."""
    sum_of_peaks: float
    left: float
    """What may be used of it and is not at the peak; below 0, what is short."""
    licensed: int
    """Whole cores that hold the peak and the headroom that was asked for."""
    memory_bytes: int
    """Of its partitions, as far as it is known."""
    binds: dt.datetime
    """A step in which it uses its peak."""


@dataclass(frozen=True)
class AfterLoss:
    """What is left where a machine, or a node of one, is lost."""

    lost: str
    left: float
    """Cores left on the machine that is fullest then; below 0, short."""
    fits: bool
    moves: dict[str, str]
    """Where its partitions start again, machine by partition."""


@dataclass(frozen=True)
class Consolidation:
    """The answer; cores are the first target's unless a machine's own are told."""

    partitions: tuple[PlacedPartition, ...]
    machines: tuple[FilledMachine, ...]
    peaks: Peaks
    unit: str
    """`cores`, or `hardware threads` on hosts."""
    usable: float
    """What may be used of all machines together, without the headroom that was asked for."""
    headroom: float
    """Share that was asked to stay unused."""
    fits: bool
    fewest: int | None
    """Least number of such machines that hold all; None if none up to some number does."""
    growth: Growth
    days_left: tuple[DaysLeft, ...]
    machine_lost: AfterLoss | None
    """The loss that hurts most; None with one machine."""
    node_lost: AfterLoss | None
    begin: dt.datetime
    end: dt.datetime
    step_s: float
    percentile: float
    hours: str
    """Which steps count, in words."""
    gaps: str
    """How gaps count."""
    profile: str
    notices: tuple[Notice, ...]

    @property
    def left(self) -> float:
        """Cores that are left of all machines at the peak of the sum; below 0, short."""
        return self.usable - self.peaks.of_sums

    @property
    def licensed(self) -> int:
        """Whole cores of all machines that hold their peaks and the headroom."""
        return sum(one.licensed for one in self.machines)

    @property
    def verdict(self) -> str:
        """Whether it fits, in a sentence."""
        if self.fits:
            return f"they fit: {self.left:.1f} of {self.usable:.1f} {self.unit} are left"
        worst = min(self.machines, key=lambda one: one.left)
        short = [one for one in self.machines if one.memory_bytes > one.target.memory_bytes]
        if worst.left >= 0 and short:
            lack = (short[0].memory_bytes - short[0].target.memory_bytes) / 2**30
            return f"they do not fit: {short[0].target.name} lacks {lack:,.0f} GiB of memory"
        where = f"{worst.target.name} is {-worst.left:.1f} {self.unit} short"
        enough = f"; {self.fewest} machines would do" if self.fewest else ""
        return f"they do not fit: {where}{enough}"

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "verdict": self.verdict,
            "fits": self.fits,
            "unit": self.unit,
            "cores_left": self.left,
            "days_left": [_days_json(one) for one in self.days_left],
            "more": {one.name: one.more for one in self.partitions},
            "cores_usable": self.usable,
            "cores_licensed": self.licensed,
            "fewest_machines": self.fewest,
            "percentile": self.percentile,
            "headroom": self.headroom,
            "peak_of_sums": self.peaks.of_sums,
            "sum_of_peaks": self.peaks.sum_of,
            "mean": self.peaks.mean,
            "largest": self.peaks.largest,
            "beyond": {"days": list(self.peaks.beyond), "share": self.peaks.beyond_share},
            "binds": [vars(one) for one in self.peaks.hours],
            "by_hour": list(self.peaks.by_hour),
            "by_weekday": list(self.peaks.by_weekday),
            "by_day": [
                {"day": day, "cores": used, "left": self.usable - used}
                for day, used in self.peaks.by_day
            ],
            "growth": {"why": self.growth.why, "trends": [vars(one) for one in self.growth.trends]},
            "machines": [_machine_json(one) for one in self.machines],
            "partitions": [vars(one) for one in self.partitions],
            "machine_lost": None if self.machine_lost is None else vars(self.machine_lost),
            "node_lost": None if self.node_lost is None else vars(self.node_lost),
            "recorded": {
                "begin": self.begin.isoformat(),
                "end": self.end.isoformat(),
                "step_s": self.step_s,
                "counted": self.hours,
                "gaps": self.gaps,
            },
            "profile": self.profile,
            "notes": [note_data(one) for one in self.notices],
        }


def _days_json(one: DaysLeft) -> dict[str, Any]:
    def known(days: float) -> float | None:
        return days if math.isfinite(days) else None

    days = {"days": known(one.days), "earliest": known(one.earliest), "latest": known(one.latest)}
    return {"trend": one.trend.kind, **days}


def _machine_json(one: FilledMachine) -> dict[str, Any]:
    told = {name: value for name, value in vars(one).items() if name not in ("target", "binds")}
    return {
        "name": one.target.name,
        **told,
        "target": vars(one.target),
        "binds": one.binds.isoformat(),
    }
