"""How long a unit of work takes on two systems: the farthest place of the response times that both
tell, decided as throughput is. At a given rate it is what differs, for throughput cannot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from homenode.hosts.record import RunRecord
from homenode.hosts.reduce.repetitions import Cell
from homenode.hosts.statistics import Ratio, noise_floor

PLACES = ("p99", "p95", "max", "mean")
"""The first that all runs tell is compared: beyond the 99th percentile few responses decide."""
TOLD = ("mean", "p50", "p95", "p99", "p99.9", "max")
"""Places of the response times, in the order in which tables have them."""

Verdict = Literal["shorter", "longer", "undecided"]


@dataclass(frozen=True)
class Response:
    """Of a case on both systems."""

    place: str
    """`p99`, `p95`, `max` or `mean`."""
    ratio: Ratio
    """Of the second by the first; less is better."""
    floor: float | None
    """What a system deviates from itself [ratio less one]; None where too few runs tell."""
    changes: Mapping[str, float]
    """Of the second by the first at each place that all runs of both tell [ratio less one]: to look
    at; only that of `place` is decided."""

    @property
    def verdict(self) -> Verdict:
        """By rank test and noise floor."""
        within = self.floor is not None and abs(math.log(self.ratio.mean)) <= math.log1p(self.floor)
        if not self.ratio.decided or within:
            return "undecided"
        return "shorter" if self.ratio.hodges_lehmann < 1.0 else "longer"

    def as_json(self) -> dict[str, object]:
        """Its part of a row of `--json`."""
        return {
            "place": self.place,
            "ratio": self.ratio.as_json(),
            "floor_pct": None if self.floor is None else 100.0 * self.floor,
            "changes_pct": {place: 100.0 * one for place, one in self.changes.items()},
            "verdict": self.verdict,
        }


def response_of(
    first: Cell,
    second: Cell,
    compare: Callable[[Sequence[float], Sequence[float]], Ratio],
    *,
    paired: bool,
) -> Response | None:
    """None where no place of the response times is told by every run of both."""
    known = {}
    for name in TOLD:
        a, b = (cell.values(_at(name)) for cell in (first, second))
        if a and b and (len(a), len(b)) == (len(first.runs), len(second.runs)):
            known[name] = (a, b)
    place = next((one for one in PLACES if one in known), None)
    if place is None:
        return None
    ratios = {name: compare(a, b) for name, (a, b) in known.items()}
    floors = [noise_floor(values, paired=paired) for values in known[place]]
    found = [floor for floor in floors if floor is not None]
    changes = {name: ratio.mean - 1.0 for name, ratio in ratios.items()}
    return Response(place, ratios[place], max(found) if found else None, changes)


def _at(place: str) -> Callable[[RunRecord], float | None]:
    """A response time that can be a part of a ratio."""

    def figure(run: RunRecord) -> float | None:
        found = run.latency_ms.get(place)
        return found if found is not None and found > 0.0 else None

    return figure
