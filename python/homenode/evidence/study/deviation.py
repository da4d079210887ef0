"""How far simulated values are from published ones: one row, and some rows together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from homenode.evidence.study.published import PublishedRow, ToleranceKind
from homenode.model.estimate import Estimate, mean_of


@dataclass(frozen=True)
class Comparison:
    """One published figure with its simulated counterpart."""

    published: PublishedRow
    simulated: Estimate

    @property
    def deviation(self) -> float | None:
        """Simulated minus published, in the row's unit."""
        return None if self.simulated.mean is None else self.simulated.mean - self.published.value

    @property
    def deviation_pct(self) -> float | None:
        """The same, in percent of the published value; None where that is 0."""
        if self.deviation is None or self.published.value == 0:
            return None
        return 100.0 * self.deviation / abs(self.published.value)

    @property
    def within(self) -> bool:
        """Whether it lies within the tolerance; what could not be simulated does not."""
        return self.simulated.mean is not None and self.published.agrees(self.simulated.mean)

    @property
    def factor(self) -> float | None:
        """How many times too large or too small."""
        if self.simulated.mean is None or self.simulated.mean <= 0 or self.published.value <= 0:
            return None
        quotient = self.simulated.mean / self.published.value
        return max(quotient, 1.0 / quotient)

    def as_json(self) -> dict[str, object]:
        """A row of `homenode study --json`, as far as it needs nothing else of the study."""
        row = self.published
        return {
            "case": row.case,
            "metric": row.metric,
            "unit": row.unit,
            "published": row.low if row.low == row.high else [row.low, row.high],
            "simulated": self.simulated.mean,
            "ci95": self.simulated.ci95,
            "deviation_pct": self.deviation_pct,
            "tolerance": str(row.tolerance),
            "agrees": list(row.bounds),
            "role": row.role,
            "by_construction": row.by_construction,
            "within": self.within,
        }


@dataclass(frozen=True)
class ErrorSummary:
    """Errors of some rows that are measured in the same way."""

    kind: ToleranceKind
    rows: int
    within: int
    sized: int
    """Rows whose error can be told in that measure; a factor cannot be if the simulated is 0."""
    mean: float | None
    median: float | None
    worst: float | None
    worst_row: str | None


@dataclass(frozen=True)
class PointErrors:
    """Errors of rows that are percentages, in points."""

    rows: int
    within: int
    mean: float | None
    """Mean absolute deviation from the published value or the middle of the range."""
    worst: float | None
    worst_row: str | None


def point_errors(rows: Sequence[Comparison]) -> PointErrors:
    """Errors in points."""
    sized = [(abs(c.deviation), c.published.key) for c in rows if c.deviation is not None]
    worst = max(sized, default=(None, None), key=lambda pair: pair[0])
    return PointErrors(
        rows=len(rows),
        within=sum(row.within for row in rows),
        mean=mean([size for size, _ in sized]),
        worst=worst[0],
        worst_row=worst[1],
    )


def summarize_errors(kind: ToleranceKind, rows: Sequence[Comparison]) -> ErrorSummary:
    """Mean, median and worst error, measured as the tolerances of the rows are."""
    sized = [(size, row.published.key) for row in rows if (size := _error(kind, row)) is not None]
    worst = max(sized, default=(None, None), key=lambda pair: pair[0])
    return ErrorSummary(
        kind=kind,
        rows=len(rows),
        within=sum(row.within for row in rows),
        sized=len(sized),
        mean=mean([size for size, _ in sized]),
        median=median([size for size, _ in sized]) if sized else None,
        worst=worst[0],
        worst_row=worst[1],
    )


def mean_error_pct(rows: Sequence[Comparison]) -> float | None:
    """Mean absolute error of those rows that have one [percent]."""
    return mean([abs(row.deviation_pct) for row in rows if row.deviation_pct is not None])


def mean(values: Sequence[float]) -> float | None:
    """The mean, if there is any value."""
    return mean_of(values) if values else None


def _error(kind: ToleranceKind, row: Comparison) -> float | None:
    if kind is ToleranceKind.FACTOR:
        return row.factor
    value = row.deviation_pct if kind is ToleranceKind.PERCENT else row.deviation
    return None if value is None else abs(value)
