"""`[[series]]` of study.toml: one scenario in several sizes, each a case, with what is told of the
whole set: ITR ratio, capability ratio, and the step in which ITR falls behind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from homenode.errors import StudyError
from homenode.evidence.study.keys import only
from homenode.model.estimate import Estimate

_SERIES = {"name", "scenario", "partition", "processors", "capability", "set"}
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
        from homenode.model.scaling_curve import Point, first_bend

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
        from homenode.evidence.capability import capability_of

        curve = capability_of(self.capability)
        return {size: curve.capability(size) for size in self.processors}


def _quotient(value: Estimate, base: Estimate) -> Estimate:
    """Of two means; an error of the base is one of both and is left out."""
    if value.mean is None or not base.mean:
        return Estimate(None, None, value.reason or base.reason)
    ci95 = None if value.ci95 is None else value.ci95 / base.mean
    return Estimate(value.mean / base.mean, ci95)


def read_series(raw: Mapping[str, Any], where: str) -> Series:
    """One table of the file."""
    only(raw, _SERIES, {"name", "scenario", "processors", "capability"}, where)
    name, processors = str(raw["name"]), tuple(map(int, raw["processors"]))
    _check_sizes(processors, f"{where}, {name}")
    sets = dict(raw.get("set", {}))
    for path, value in sets.items():
        if isinstance(value, list) and len(value) != len(processors):
            raise StudyError(
                f"{where}, {name}: {path} has {len(value)} values for {len(processors)} sizes"
            )
    return Series(
        name, str(raw["scenario"]), raw.get("partition"), processors, str(raw["capability"]), sets
    )


def _check_sizes(processors: Sequence[int], where: str) -> None:
    if len(processors) < 2 or list(processors) != sorted(set(processors)) or processors[0] < 1:
        raise StudyError(f"{where}: processors must be two or more rising numbers above 0")
