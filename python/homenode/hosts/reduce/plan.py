"""How many runs a claim takes, from the noise of runs that were made: what a pilot is for.

The noise of a few runs is itself known badly: of four runs the 95 % interval of a coefficient of
variation reaches from 0.57 to 3.7 times it. What is planned from it is a size, no promise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from homenode.hosts.errors import MeasureError
from homenode.hosts.reduce.repetitions import Cell
from homenode.hosts.statistics import detectable, runs_needed


@dataclass(frozen=True)
class Plan:
    """How many runs of a case a claim takes."""

    cell: Cell
    cv: float
    """Coefficient of variation from run to run [ratio]."""
    runs: int | None
    """Of each host; None where no number that could be made tells."""
    pairs: int | None
    """Of two settings in turn."""

    @property
    def shows(self) -> float | None:
        """The least gain that as many runs of another host as these would show [ratio less one];
        None of so few that nothing can be decided.
        """
        return detectable(self.cv, len(self.cell.runs))

    def as_json(self) -> dict[str, object]:
        """A row of `--json`."""
        return {
            **self.cell.key._asdict(),
            "measured_runs": len(self.cell.runs),
            "cv_pct": 100.0 * self.cv,
            "runs": self.runs,
            "pairs": self.pairs,
            "shows_pct": None if self.shows is None else 100.0 * self.shows,
        }


def plan_of(cv: float, deviation: float) -> tuple[int | None, int | None]:
    """Runs of each host, and pairs of two settings, to see a deviation [ratio less one] through
    such a noise [ratio]. The ratio of a pair varies by both of its runs.

    Raises `MeasureError` for a deviation that nobody can claim.
    """
    return _needed(cv, deviation), _needed(cv * math.sqrt(2.0), deviation, paired=True)


def plans(cells: Iterable[Cell], deviation: float) -> list[Plan]:
    """Of every case of which two runs or more count."""
    found = []
    for cell in cells:
        score = cell.score
        if score is not None and score.cv is not None:
            found.append(Plan(cell, score.cv, *plan_of(score.cv, deviation)))
    return found


def _needed(cv: float, deviation: float, *, paired: bool = False) -> int | None:
    # Whether the claim makes sense at all is told by one without noise.
    runs_needed(0.0, deviation, paired=paired)
    try:
        return runs_needed(min(cv, 1.0), deviation, paired=paired)
    except MeasureError:
        return None
