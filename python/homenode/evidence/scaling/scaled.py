"""The sizes of a scaling set: the curve, the bend if there is one, what a transaction costs."""

from __future__ import annotations

from dataclasses import dataclass

from homenode.evidence.capability import Curve
from homenode.evidence.scaling.causes import Costs, Growth, growth
from homenode.model.scaling_curve import Step
from homenode.simulate.run import Run


@dataclass(frozen=True)
class Size:
    """One size of the set."""

    processors: int
    run: Run
    itr_ratio: float
    capability_ratio: float
    capability_from: str
    """How the capability was come by."""
    costs: Costs

    def metric(self, partition: str, name: str) -> float | None:
        """The mean of a metric."""
        return self.run.metric(partition, name).mean


@dataclass(frozen=True)
class Scaled:
    """A whole set: its sizes, the steps between them, what grows in them."""

    scenario: str
    partition: str
    curve: Curve
    sizes: tuple[Size, ...]
    steps: tuple[Step, ...]
    bend: Step | None
    """The first step in which ITR falls behind; None if it rolls off gradually."""

    def size(self, processors: int) -> Size:
        """What was found with so many processors, which must be one of the sizes asked for."""
        return next(size for size in self.sizes if size.processors == processors)

    def growth(self, step: Step) -> list[Growth]:
        """What a transaction costs more in a step, by kind, what grew most first."""
        before, after = self.size(step.start.processors), self.size(step.end.processors)
        return growth(before.costs, after.costs)
