"""Scaling sets: one case with several numbers of processors, held against a capability curve.

ITR by that of the smallest size (ITRR) is what each size is worth; it is held against the
capability of so many processors by the rule of `homenode scaling`. Without a curve of the machine
the reference is linear: every processor brings what those of the smallest size bring.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from homenode.hosts.errors import MeasureError
from homenode.hosts.reduce import identities
from homenode.hosts.reduce.pair import MATCHED_POINTS
from homenode.hosts.reduce.repetitions import Cell
from homenode.hosts.statistics import (
    Ratio,
    Spread,
    SqrtLaw,
    Usl,
    fit_sqrt_law,
    fit_usl,
    ratio_of_samples,
)
from homenode.model.scaling_curve import (
    FRACTION,
    Point,
    Step,
    capability_ratios,
    first_bend,
    steps,
)

Law = TypeVar("Law")
Shape = Literal["inflection", "gradual", "undecided"]
Capability = Callable[[int], float]
"""Of a number of processors [processors that are alone]."""


@dataclass(frozen=True)
class Size:
    """One number of processors."""

    cell: Cell
    itr_ratio: Ratio | None
    """By the smallest size; None of the smallest itself."""
    capability_ratio: float

    @property
    def processors(self) -> int:
        """How many."""
        return self.cell.key.processors

    @property
    def etr(self) -> Spread | None:
        """Units a second."""
        return self.cell.spread_of(identities.etr)

    @property
    def itr(self) -> Spread | None:
        """Units a second of all of them fully busy."""
        return self.cell.spread_of(identities.itr)

    @property
    def cpu_per_unit_us(self) -> float | None:
        """Processor time of a unit [us]."""
        found = self.cell.spread_of(identities.cpu_per_unit)
        return None if found is None else 1e6 * found.mean

    def as_json(self) -> dict[str, object]:
        """A row of `--json`."""
        return {
            **self.cell.as_json(),
            "itrr": 1.0 if self.itr_ratio is None else self.itr_ratio.mean,
            "itrr_low": None if self.itr_ratio is None else self.itr_ratio.low,
            "itrr_high": None if self.itr_ratio is None else self.itr_ratio.high,
            "capability_ratio": self.capability_ratio,
        }


@dataclass(frozen=True)
class ScalingSet:
    """All sizes of a case on one system."""

    system: str
    case: str
    sizes: tuple[Size, ...]
    steps: tuple[Step, ...]
    bend: Step | None
    """The first step that brings less than three quarters of what the reference offers, by the
    means alone; whether that is more than chance says `verdict`."""
    reference: str
    """What the sizes are held against, in words."""
    usl: Usl | None
    """Fitted to ITR; None with fewer than four sizes."""
    sqrt_law: SqrtLaw | None
    """None with fewer than three sizes."""

    @property
    def verdict(self) -> Shape:
        """Whether it bends, as far as chance leaves it open: a step counts only where the whole
        interval of its gain says so.
        """
        ends = [self._fractions(step) for step in self.steps]
        if any(high is not None and high < FRACTION for _, high in ends):
            return "inflection"
        if all(low is not None and low >= FRACTION for low, _ in ends):
            return "gradual"
        return "undecided"

    def _fractions(self, step: Step) -> tuple[float | None, float | None]:
        """Ends of the interval of what a step brings of what it should."""
        by_count = {size.processors: size for size in self.sizes}
        start, end = by_count[step.start.processors], by_count[step.end.processors]
        ratio = _itr_ratio(start.cell, end.cell)
        if ratio.low is None or ratio.high is None:
            return None, None
        worth = 1.0 if start.itr_ratio is None else start.itr_ratio.mean
        low, high = (worth * (bound - 1.0) / step.offered for bound in (ratio.low, ratio.high))
        return low, high

    @property
    def unmatched(self) -> bool:
        """Whether some size was less busy than another by more than the points that compare."""
        shares = [size.cell.busy for size in self.sizes]
        known = [100.0 * share for share in shares if share is not None]
        return bool(known) and max(known) - min(known) > MATCHED_POINTS

    @property
    def starts_alone(self) -> bool:
        """Whether the smallest size is one processor that client and server take in turn: then
        nothing overlaps there, and larger sizes look better than they are.
        """
        smallest = self.sizes[0]
        roles = {
            role
            for run in smallest.cell.runs
            if run.cpu is not None
            for role, used in run.cpu.by_role.items()
            if used > 0.0
        }
        return smallest.processors == 1 and len(roles) > 1

    def empirical(self) -> list[float]:
        """Capability factor of each size by that of the smallest: `ITRR n0 / n`."""
        first = self.sizes[0].processors
        ratios = [1.0 if s.itr_ratio is None else s.itr_ratio.mean for s in self.sizes]
        return [r * first / s.processors for r, s in zip(ratios, self.sizes, strict=True)]

    def as_json(self) -> dict[str, object]:
        """Its part of `--json`."""
        return {
            "system": self.system,
            "case": self.case,
            "reference": self.reference,
            "sizes": [size.as_json() for size in self.sizes],
            "efficiency": self.empirical(),
            "steps": [
                {
                    "from": step.start.processors,
                    "to": step.end.processors,
                    "itrr_gain": step.gain,
                    "capability_gain": step.offered,
                    "fraction": step.fraction,
                    "inflection": step.bends,
                }
                for step in self.steps
            ],
            "inflection": None if self.bend is None else self.bend.end.processors,
            "verdict": self.verdict,
            "usl": None if self.usl is None else self.usl.as_json(),
            "sqrt_law": None if self.sqrt_law is None else self.sqrt_law.as_json(),
            "unmatched_busy": self.unmatched,
        }


def scaling_sets(
    cells: Iterable[Cell],
    capability: Capability | None = None,
    source: str = "linear scaling",
) -> list[ScalingSet]:
    """Every case that was measured with several numbers of processors and processor time; one whose
    load grows with the processors is one set.
    """
    groups: dict[tuple[str, str, float | None], list[Cell]] = {}
    fixed = _fixed_loads(cells := list(cells))
    for cell in cells:
        if cell.runs:
            key = cell.key
            load = key.load if (key.system, key.case) in fixed else None
            groups.setdefault((key.system, key.case, load), []).append(cell)
    found = []
    for group in groups.values():
        sized = sorted(group, key=lambda cell: cell.key.processors)
        if len(sized) > 1 and all(cell.spread_of(identities.itr) for cell in sized):
            found.append(_set_of(sized, capability or float, source))
    return found


def _fixed_loads(cells: Sequence[Cell]) -> set[tuple[str, str]]:
    """Cases that have some number of processors with several loads: each load is a set."""
    counts = Counter((cell.key.system, cell.key.case, cell.key.processors) for cell in cells)
    return {(system, case) for (system, case, _), count in counts.items() if count > 1}


def _set_of(cells: Sequence[Cell], capability: Capability, source: str) -> ScalingSet:
    spreads = [cell.spread_of(identities.itr) for cell in cells]
    itrs = [one.mean for one in spreads if one is not None]
    counts = [cell.key.processors for cell in cells]
    points = [Point(n, x, capability(n)) for n, x in zip(counts, itrs, strict=True)]
    offered = capability_ratios(points)
    ratios = [None, *(_itr_ratio(cells[0], cell) for cell in cells[1:])]
    return ScalingSet(
        system=cells[0].key.system,
        case=cells[0].key.case,
        sizes=tuple(itertools.starmap(Size, zip(cells, ratios, offered, strict=True))),
        steps=tuple(steps(points)),
        bend=first_bend(points),
        reference=source,
        usl=_fit(fit_usl, counts, itrs),
        sqrt_law=_fit(fit_sqrt_law, counts, itrs),
    )


def _itr_ratio(first: Cell, other: Cell) -> Ratio:
    return ratio_of_samples(first.values(identities.itr), other.values(identities.itr))


def _fit(
    fit: Callable[[Sequence[float], Sequence[float]], Law],
    counts: Sequence[int],
    itrs: Sequence[float],
) -> Law | None:
    """None where a law does not fit such a set: too few sizes, or a curve that it cannot have."""
    try:
        return fit(counts, itrs)
    except MeasureError:
        return None
