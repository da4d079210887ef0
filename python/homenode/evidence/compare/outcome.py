"""What a case says of two machines: throughput, processor time of a unit, and where what was saved
was spent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from homenode.evidence.compare.suite import Case, Suite, WorkClass
from homenode.model.estimate import Estimate, estimate, mean_of

US_PER_S = 1e6


@dataclass(frozen=True)
class Side:
    """Figures of one machine, mean over the replications."""

    units_per_s: float
    us_per_unit: float
    """Processor time of a unit [us]."""
    us_by_cause: Mapping[str, float]
    """The same by cause."""
    cpi: float | None = None
    """Cycles per instruction; None for a walk."""
    level: str | None = None
    """Level that serves a walk; None for a simulation."""
    response_ms: float | None = None
    """Mean response time of a unit; None for work without one."""

    def as_json(self) -> dict[str, object]:
        """Its part of `--json`."""
        own = {"cpi": self.cpi} if self.level is None else {"level": self.level}
        return {
            "units_per_s": self.units_per_s,
            "us_per_unit": self.us_per_unit,
            "us_by_cause": dict(self.us_by_cause),
            "response_ms": self.response_ms,
            **own,
        }


@dataclass(frozen=True)
class Pair:
    """Both machines under one load."""

    base: Side
    machine: Side
    ratios: tuple[float, ...]
    """Throughput of the machine by that of the base, replication by replication."""
    times: tuple[float, ...]
    """Processor time of a unit on the machine by that on the base, likewise."""
    load: int | None = None
    reason: str | None = None
    """Why there is no steady state; None if there is one."""

    @property
    def gain_pct(self) -> Estimate:
        """More throughput [percent]."""
        return self._estimate([100.0 * (ratio - 1.0) for ratio in self.ratios])

    @property
    def saving_pct(self) -> Estimate:
        """Less processor time for a unit [percent]."""
        return self._estimate([100.0 * (1.0 - time) for time in self.times])

    @property
    def response_saving_pct(self) -> float | None:
        """How much shorter a unit's mean response is [percent]; None without one."""
        mine, theirs = self.machine.response_ms, self.base.response_ms
        if self.reason is not None or mine is None or not theirs:
            return None
        return 100.0 * (1.0 - mine / theirs)

    def _estimate(self, values: Sequence[float]) -> Estimate:
        return estimate(values) if self.reason is None else Estimate(None, None, self.reason)

    @property
    def saving_by_cause(self) -> dict[str, float]:
        """Which causes the saving comes from [points]; they add up to the saving of the means.
        None without a steady state.
        """
        causes = dict.fromkeys((*self.base.us_by_cause, *self.machine.us_by_cause))
        mine, theirs = self.machine.us_by_cause, self.base.us_by_cause
        whole = self.base.us_per_unit
        if self.reason is not None:
            return {}
        return {c: 100.0 * (theirs.get(c, 0.0) - mine.get(c, 0.0)) / whole for c in causes}

    def as_json(self) -> dict[str, object]:
        """Its part of `--json`."""
        return {
            "load": self.load,
            "throughput_gain_pct": self.gain_pct.as_json(),
            "saving_pct": self.saving_pct.as_json(),
            "response_saving_pct": self.response_saving_pct,
            "saving_by_cause_points": self.saving_by_cause,
            "base": self.base.as_json(),
            "machine": self.machine.as_json(),
        }


@dataclass(frozen=True)
class CaseResult:
    """A case under all its loads."""

    group: WorkClass
    case: Case
    pairs: tuple[Pair, ...]
    guests: Mapping[str, Pair] = field(default_factory=dict)
    """Where several guests run beside each other, each of them."""

    @property
    def gain_pct(self) -> Estimate:
        """Mean gain in throughput over the loads [percent]."""
        ratios = self._means([pair.ratios for pair in self.pairs])
        return self._estimate([100.0 * (ratio - 1.0) for ratio in ratios])

    @property
    def saving_pct(self) -> Estimate:
        """Mean saving of processor time for a unit over the loads [percent]."""
        times = self._means([pair.times for pair in self.pairs])
        return self._estimate([100.0 * (1.0 - time) for time in times])

    @property
    def response_saving_pct(self) -> float | None:
        """Mean over the loads of how much shorter responses are [percent]; None without them."""
        savings = [pair.response_saving_pct for pair in self.pairs]
        known = [saving for saving in savings if saving is not None]
        return mean_of(known) if known and len(known) == len(savings) else None

    @property
    def ratio(self) -> float | None:
        """Mean quotient of the throughputs over the loads."""
        gain = self.gain_pct.mean
        return None if gain is None else 1.0 + gain / 100.0

    @property
    def gain_range(self) -> tuple[float, float] | None:
        """Smallest and largest gain of a load [percent]; None with one load only."""
        gains = [pair.gain_pct.mean for pair in self.pairs]
        known = [gain for gain in gains if gain is not None]
        return (min(known), max(known)) if len(known) > 1 else None

    @property
    def saving_by_cause(self) -> dict[str, float]:
        """Which causes the saving comes from, mean over the loads [points]; none if one of them has
        no steady state.
        """
        sums: dict[str, float] = {}
        if self.reason is not None:
            return sums
        for pair in self.pairs:
            for cause, points in pair.saving_by_cause.items():
                sums[cause] = sums.get(cause, 0.0) + points / len(self.pairs)
        return sums

    @property
    def reason(self) -> str | None:
        """Why a load has no steady state; None if all have one."""
        return next((pair.reason for pair in self.pairs if pair.reason is not None), None)

    def _means(self, by_load: Sequence[tuple[float, ...]]) -> list[float]:
        """Mean over the loads, replication by replication."""
        return [mean_of(some) for some in zip(*by_load, strict=True)]

    def _estimate(self, values: Sequence[float]) -> Estimate:
        return estimate(values) if self.reason is None else Estimate(None, None, self.reason)

    def as_json(self) -> dict[str, object]:
        """Its part of `--json`."""
        told: dict[str, object] = {
            "case": self.case.name,
            "title": self.case.title,
            "throughput_ratio": self.ratio,
            "throughput_gain_pct": self.gain_pct.as_json(),
            "saving_pct": self.saving_pct.as_json(),
            "response_saving_pct": self.response_saving_pct,
            "saving_by_cause_points": self.saving_by_cause,
            "loads": [pair.as_json() for pair in self.pairs],
        }
        if self.guests:
            told["guests"] = {name: pair.as_json() for name, pair in self.guests.items()}
        return told


@dataclass(frozen=True)
class MachineComparison:
    """All cases that were asked for, as far as they were done."""

    suite: Suite
    base: str
    machine: str
    cases: tuple[CaseResult, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    """By case that one of the machines cannot be asked, why."""
    interrupted: bool = False
    """Whether someone stopped it before all cases were done."""
    unrated: tuple[str, ...] = ()
    """Machines whose description has no `core_rate`."""
    instruction_sets: tuple[str | None, ...] = ()
    """Those of base and machine; none where a description does not tell."""
    pci: tuple[float | None, ...] = ()
    """The maker's capacity index of one processor of each; none where a description does not tell
    it.
    """

    def case(self, name: str) -> CaseResult | None:
        """A case by name; None if it was not done."""
        return next((result for result in self.cases if result.case.name == name), None)

    def by_class(self) -> list[tuple[WorkClass, list[CaseResult]]]:
        """The cases, class by class."""
        groups = dict.fromkeys(result.group.name for result in self.cases)
        members = {name: [r for r in self.cases if r.group.name == name] for name in groups}
        return [(some[0].group, some) for some in members.values()]

    def as_json(self) -> dict[str, object]:
        """What `homenode compare-machines --json` prints."""
        return {
            "suite": self.suite.name,
            "base": self.base,
            "machine": self.machine,
            "classes": [
                {
                    "class": group.name,
                    "title": group.title,
                    "unit": group.unit,
                    "not_modelled": group.not_modelled,
                    "cases": [result.as_json() for result in results],
                }
                for group, results in self.by_class()
            ],
            "left_out": dict(self.left_out),
            "without_core_rate": list(self.unrated),
            "instruction_sets": list(self.instruction_sets),
            "pci": list(self.pci),
        }
