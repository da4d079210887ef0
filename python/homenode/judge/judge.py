"""Measured against simulated: deviation, tolerance, verdict, and whether the host repeats itself.

A deviation is that of the means. Both have intervals of their own: where that of their difference
is wider than the tolerance, or reaches across it, nothing is decided, and that is said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from homenode.judge.kinds import Judged
from homenode.model.estimate import mean_of, student_t

Verdict = Literal["agrees", "misses", "undecided", "not measured", "not simulated"]


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % interval."""

    mean: float
    half: float | None
    """Half its width; None of a single value."""
    count: int

    def as_json(self) -> dict[str, object]:
        """Mean, half of its 95 % interval and count, as a result file has them."""
        return {"mean": self.mean, "ci95": self.half, "count": self.count}


def interval(values: Sequence[float]) -> Interval:
    """Mean of repeats with the interval of Student's t."""
    count = len(values)
    mean = mean_of(values)
    if count < 2:
        return Interval(mean, None, count)
    return Interval(mean, half_width(spread(values), count), count)


def half_width(deviation: float, count: int) -> float:
    """Half the 95 % interval of a mean of so many values of this standard deviation."""
    return student_t(count - 1) * deviation / math.sqrt(count)


def spread(values: Sequence[float]) -> float:
    """Standard deviation of a sample."""
    mean = mean_of(values)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))


def widened(found: Interval, stolen: float) -> Interval:
    """An interval of means in which such a share of the time was stolen: who lost by that cannot be
    told, so that the mean may be off by as much of itself.
    """
    if found.half is None:
        return found
    return Interval(found.mean, found.half + stolen * abs(found.mean), found.count)


def repeats(earlier: Sequence[float], again: float) -> bool | None:
    """Whether another repeat lies where the earlier ones let expect 95 of 100; None if they are
    fewer than two.
    """
    count = len(earlier)
    if count < 2:
        return None
    room = student_t(count - 1) * spread(earlier) * math.sqrt(1.0 + 1.0 / count)
    mean = mean_of(earlier)
    # Counts and percentiles of few values may repeat to the digit: leave them their resolution.
    return abs(again - mean) <= room + 1e-9 * abs(mean)


@dataclass(frozen=True)
class Row:
    """One figure of one group, measured and simulated."""

    experiment: str
    group: str
    metric: str
    tolerance: float
    kind: str
    """`points` or `percent`."""
    measured: Interval | None
    simulated: Interval | None
    deviation: float | None
    """Simulated less measured, in the tolerance's unit."""
    verdict: Verdict
    repeats: bool | None
    """Whether the last repeat lies within what the earlier ones let expect."""

    @property
    def key(self) -> str:
        """`experiment:group:metric`."""
        return f"{self.experiment}:{self.group}:{self.metric}"

    def as_json(self) -> dict[str, object]:
        """A row of `homenode measure validate --json`."""
        return {
            **asdict(self),
            "measured": None if self.measured is None else self.measured.as_json(),
            "simulated": None if self.simulated is None else self.simulated.as_json(),
        }


def judge(
    experiment: str,
    judged: Judged,
    measured: Sequence[float],
    simulated: Sequence[float],
    stolen: float = 0.0,
) -> Row:
    """Compare one figure; either side may be empty. `stolen` is the mean share of time that was
    stolen while it was measured.
    """
    found = widened(interval(measured), stolen) if measured else None
    model = interval(simulated) if simulated else None
    deviation, verdict = _verdict(found, model, judged)
    return Row(
        experiment,
        judged.group,
        judged.metric,
        judged.tolerance,
        judged.kind,
        found,
        model,
        deviation,
        verdict,
        repeats(measured[:-1], measured[-1]) if len(measured) > 2 else None,
    )


def _verdict(
    measured: Interval | None, simulated: Interval | None, judged: Judged
) -> tuple[float | None, Verdict]:
    if measured is None:
        return None, "not measured"
    if simulated is None:
        return None, "not simulated"
    unit = 1.0 if judged.kind == "points" else abs(measured.mean) / 100.0
    difference = simulated.mean - measured.mean
    if unit == 0:
        return None, "agrees" if difference == 0 else "misses"
    deviation = difference / unit
    if measured.half is None:
        # How far a single value is from the next one nobody knows.
        return deviation, "undecided"
    doubt = math.hypot(measured.half, simulated.half or 0.0) / unit
    if abs(deviation) - doubt > judged.tolerance:
        return deviation, "misses"
    known = doubt <= judged.tolerance
    return deviation, "agrees" if known and abs(deviation) <= judged.tolerance else "undecided"


def counts(rows: Sequence[Row]) -> Mapping[str, int]:
    """How many rows of each verdict."""
    every = [row.verdict for row in rows]
    return {verdict: every.count(verdict) for verdict in dict.fromkeys(every)}
