"""`[[series]]` of study.toml: one scenario in several sizes, each a case, with what is told of the
whole set: ITR ratio, capability ratio, and the step in which ITR falls behind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from homenode.evidence.capability import capability_of
from homenode.evidence.study import file
from homenode.evidence.study.names import check_machine
from homenode.model.document import Problems
from homenode.model.estimate import Estimate
from homenode.model.scaling_curve import Point, first_bend

OF_A_SIZE = ("itrr", "capability_ratio")
"""Metrics of a case of a series, by the smallest of it."""
OF_THE_SET = ("roll_off_from", "roll_off_to")
"""Metrics of a series itself: the sizes between which ITR falls behind; 0 if it does nowhere."""
Itr = Callable[[str], Estimate]
"""ITR of a case, by its name."""


@dataclass(frozen=True)
class Series:
    """One scenario in several sizes."""

    name: str
    scenario: str
    partition: str | None
    processors: tuple[int, ...]
    capability: str
    """Machine whose capability curve it is held against."""
    sets: Mapping[str, Any] = field(default_factory=dict)

    def case(self, processors: int) -> str:
        """Name of the case of a size."""
        return f"{self.name}-{processors}"

    @property
    def cases(self) -> list[str]:
        """Names of its cases, the smallest first."""
        return [self.case(size) for size in self.processors]

    def overrides(self, processors: int) -> dict[str, Any]:
        """What the scenario of a size sets: of each list the value at its place."""
        place = self.processors.index(processors)
        return {
            path: value[place] if isinstance(value, list) else value
            for path, value in self.sets.items()
        }

    def value(self, case: str, metric: str, itr: Itr) -> Estimate:
        """A metric of one of its cases or, with its own name, of the whole set."""
        if metric == "capability_ratio":
            size = self.processors[self.cases.index(case)]
            curve = self._capabilities()
            return Estimate(curve[size] / curve[self.processors[0]])
        if metric == "itrr":
            return _quotient(itr(case), itr(self.cases[0]))
        return self._roll_off(metric, itr)

    def _roll_off(self, metric: str, itr: Itr) -> Estimate:
        curve = self._capabilities()
        points = []
        for size in self.processors:
            found = itr(self.case(size))
            if found.mean is None:
                return Estimate(None, None, found.reason)
            points.append(Point(size, found.mean, curve[size]))
        bend = first_bend(points)
        if bend is None:
            return Estimate(0.0)
        return Estimate(float((bend.start if metric == OF_THE_SET[0] else bend.end).processors))

    def capability_of(self, processors: int) -> float:
        """Capability of a size, by the machine's curve."""
        return self._capabilities()[processors]

    def _capabilities(self) -> dict[int, float]:
        curve = capability_of(self.capability)
        return {size: curve.capability(size) for size in self.processors}


def _quotient(value: Estimate, base: Estimate) -> Estimate:
    """Of two means; an error of the base is one of both and is left out."""
    if value.mean is None or not base.mean:
        return Estimate(None, None, value.reason or base.reason)
    ci95 = None if value.ci95 is None else value.ci95 / base.mean
    return Estimate(value.mean / base.mean, ci95)


def series_of(told: file.Series, place: int, problems: Problems) -> Series:
    """The meaning of the table at a place among its kind."""
    path = ("series", place)
    check_machine(problems, (*path, "capability"), told.capability)
    for key, value in told.changes.items():
        if isinstance(value, list) and len(value) != len(told.processors):
            problems.add(
                (*path, "set", key),
                there=f"it has {len(value)} values for {len(told.processors)} sizes",
                next_step="write one for each size, or one value for all",
            )
    return Series(
        told.name,
        told.scenario,
        told.partition,
        tuple(told.processors),
        told.capability,
        told.changes,
    )
