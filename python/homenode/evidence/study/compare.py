"""Published against simulated: deviations, agreement, the errors of the two roles apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from homenode.evidence.study.definition import Study
from homenode.evidence.study.machines import WIDENED_POINTS
from homenode.evidence.study.published import ROLES, PublishedRow, ToleranceKind
from homenode.model.estimate import Estimate
from homenode.simulate.explain.explanation import Explanation
from homenode.simulate.run import Run

if TYPE_CHECKING:
    import polars as pl


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

    def as_json(self) -> dict[str, Any]:
        """A row of `homenode study --json`."""
        row = self.published
        return {
            "case": row.case,
            "metric": row.metric,
            "published": row.low if row.low == row.high else [row.low, row.high],
            "simulated": self.simulated.mean,
            "ci95": self.simulated.ci95,
            "deviation_pct": self.deviation_pct,
            "role": row.role,
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
    worst: float | None
    worst_row: str | None


@dataclass(frozen=True)
class StudyResult:
    """A study that was run."""

    study: Study
    comparisons: list[Comparison]
    runs: dict[str, Run]
    """Run of each case."""
    explanations: list[Explanation]

    @property
    def misses(self) -> list[Comparison]:
        """Rows outside their tolerance."""
        return [comparison for comparison in self.comparisons if not comparison.within]

    def of_role(self, role: str) -> list[Comparison]:
        """Comparisons of a role."""
        return [c for c in self.comparisons if c.published.role == role]

    def mape(self, role: str) -> float | None:
        """Mean absolute error of a role's rows, all of them [percent]."""
        return _mean(
            [abs(c.deviation_pct) for c in self.of_role(role) if c.deviation_pct is not None]
        )

    def errors(self, role: str) -> list[ErrorSummary]:
        """Errors of a role, apart by what the tolerances count in."""
        rows = self.of_role(role)
        kinds = [
            (kind, [c for c in rows if c.published.tolerance.kind is kind])
            for kind in ToleranceKind
        ]
        return [summarize_errors(kind, some) for kind, some in kinds if some]

    def points(self, role: str) -> PointErrors | None:
        """Errors of a role's rows in points; None where the study compares no machines."""
        if self.study.comparison is None:
            return None
        left_out = self.study.comparison.not_modelled
        rows = [c for c in self.of_role(role) if c.published.key not in left_out]
        return point_errors(rows)

    @property
    def not_modelled(self) -> list[Comparison]:
        """Rows that need what is not modelled."""
        if self.study.comparison is None:
            return []
        left_out = self.study.comparison.not_modelled
        return [c for c in self.comparisons if c.published.key in left_out]

    def frame(self) -> pl.DataFrame:
        """The rows as a polars frame, with the published range in two columns."""
        import polars as pl

        return pl.DataFrame(
            [
                {
                    **comparison.as_json(),
                    "published": comparison.published.value,
                    "published_low": comparison.published.low,
                    "published_high": comparison.published.high,
                    "unit": comparison.published.unit,
                }
                for comparison in self.comparisons
            ],
            infer_schema_length=None,
        )

    def as_json(self) -> dict[str, Any]:
        """What `homenode study --json` prints."""
        told: dict[str, Any] = {
            "study": self.study.name,
            "rows": [comparison.as_json() for comparison in self.comparisons],
            "mape": {role: self.mape(role) for role in ROLES},
        }
        points = {role: self.points(role) for role in ROLES}
        if self.study.comparison is not None:
            told["points"] = {role: asdict(one) for role, one in points.items() if one is not None}
            told["not_modelled"] = [c.published.key for c in self.not_modelled]
        return told


@dataclass(frozen=True)
class PointErrors:
    """Errors of rows that are percentages, in points."""

    rows: int
    within: int
    """Rows inside the published range widened by `WIDENED_POINTS`."""
    mean: float | None
    """Mean absolute deviation from the published value or the middle of the range."""
    worst: float | None
    worst_row: str | None


def point_errors(rows: Sequence[Comparison]) -> PointErrors:
    """Errors in points, and how many rows come near the published range."""
    sized = [(abs(c.deviation), c.published.key) for c in rows if c.deviation is not None]
    worst = max(sized, default=(None, None), key=lambda pair: pair[0])
    near = [
        c
        for c in rows
        if c.simulated.mean is not None
        and c.published.low - WIDENED_POINTS
        <= c.simulated.mean
        <= c.published.high + WIDENED_POINTS
    ]
    return PointErrors(
        rows=len(rows),
        within=len(near),
        mean=_mean([size for size, _ in sized]),
        worst=worst[0],
        worst_row=worst[1],
    )


def summarize_errors(kind: ToleranceKind, rows: Sequence[Comparison]) -> ErrorSummary:
    """Mean and worst error, measured as the tolerances of the rows are."""
    sized = [(size, row.published.key) for row in rows if (size := _error(kind, row)) is not None]
    worst = max(sized, default=(None, None), key=lambda pair: pair[0])
    return ErrorSummary(
        kind=kind,
        rows=len(rows),
        within=sum(row.within for row in rows),
        sized=len(sized),
        mean=_mean([size for size, _ in sized]),
        worst=worst[0],
        worst_row=worst[1],
    )


def _error(kind: ToleranceKind, row: Comparison) -> float | None:
    if kind is ToleranceKind.FACTOR:
        return row.factor
    value = row.deviation_pct if kind is ToleranceKind.PERCENT else row.deviation
    return None if value is None else abs(value)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
