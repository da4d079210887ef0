"""A scaling curve held against a capability curve: how much of what the machine offers each step
brings, and in which step the curve bends. Numbers only.

The rule for a bend: between two neighbouring sizes the gain of a processor, in processors of the
smallest run, is less than `FRACTION` of the gain of a processor in capability, in processors of the
smallest partition. A curve all of whose steps bring more rolls off gradually.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from homenode.errors import HomenodeError

FRACTION = 0.75
"""Of the capability's own gain; below it a step counts as a bend. Three quarters lie between the
steps of published sets that their authors call correct and of the one they call a failure: the
studies of eighty logical processors."""


@dataclass(frozen=True)
class Point:
    """One size of a set."""

    processors: int
    itr_per_s: float
    """Transactions a second of busy time of the average processor."""
    capability: float
    """Of a partition of this size [processors that are alone]."""


@dataclass(frozen=True)
class Step:
    """From one size to the next."""

    start: Point
    end: Point
    gain: float
    """What it adds to the ITR ratio."""
    offered: float
    """What it adds to the ratio of capabilities."""

    @property
    def fraction(self) -> float:
        """Gain by what the capability offers."""
        return self.gain / self.offered

    @property
    def bends(self) -> bool:
        """Whether the curve falls behind here."""
        return self.fraction < FRACTION


def itr_ratios(points: Sequence[Point]) -> list[float]:
    """ITR of each size by that of the smallest (ITRR)."""
    return [point.itr_per_s / points[0].itr_per_s for point in points]


def capability_ratios(points: Sequence[Point]) -> list[float]:
    """Capability of each size by that of the smallest."""
    return [point.capability / points[0].capability for point in points]


def steps(points: Sequence[Point]) -> list[Step]:
    """From each size to the next; the points must rise in processors and in capability."""
    if len(points) < 2:
        raise HomenodeError(
            "a scaling curve needs two sizes or more", next_step="name further sizes"
        )
    ratios, offered = itr_ratios(points), capability_ratios(points)
    found = []
    for (i, start), (j, end) in itertools.pairwise(enumerate(points)):
        if end.processors <= start.processors or offered[j] <= offered[i]:
            raise HomenodeError(
                f"a scaling curve rises: {end.processors} processors after {start.processors} offer"
                f" {offered[j]:.3f} after {offered[i]:.3f}",
                next_step="name sizes in rising order, with a capability curve that rises",
            )
        found.append(Step(start, end, ratios[j] - ratios[i], offered[j] - offered[i]))
    return found


def first_bend(points: Sequence[Point]) -> Step | None:
    """The first step in which the curve falls behind; None if it rolls off gradually."""
    return next((step for step in steps(points) if step.bends), None)
