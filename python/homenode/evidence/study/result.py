"""A study that was run: its rows by what they are worth as evidence, errors, null model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from homenode.evidence.study.definition import Study
from homenode.evidence.study.deviation import (
    Comparison,
    ErrorSummary,
    PointErrors,
    mean_error_pct,
    point_errors,
    summarize_errors,
)
from homenode.evidence.study.null import null_answers, passes
from homenode.evidence.study.published import ToleranceKind
from homenode.planner import Advice
from homenode.simulate.explain.explanation import Explanation
from homenode.simulate.run import Run

if TYPE_CHECKING:
    import polars as pl


class Standing(Enum):
    """What a row is worth as evidence. Every row has one standing, so that the counts add up."""

    VALIDATION = "validation"
    """Neither fitted to nor seen before a choice that acts on it."""
    INFORMED = "informed"
    """Its result had been seen when a rule or an assumed number that acts on it was chosen."""
    BY_CONSTRUCTION = "by_construction"
    """It comes out as it does whatever the mechanisms do."""
    CALIBRATION = "calibration"
    """Parameters are fitted to its run."""
    NOT_MODELLED = "not_modelled"
    """It needs what is not modelled, and is shown only."""

    @property
    def shown(self) -> str:
        """In words."""
        return self.value.replace("_", " ")


JUDGED = (Standing.VALIDATION, Standing.INFORMED)
"""Standings that the null model is held against."""


@dataclass(frozen=True)
class Count:
    """How many rows of a standing there are and come out."""

    rows: int
    within: int
    null_within: int | None
    """How many of them the null model passes; None where it is not asked."""


@dataclass(frozen=True)
class StudyResult:
    """A study that was run, or whose recorded outcome was read."""

    study: Study
    comparisons: list[Comparison]
    runs: dict[str, Run]
    """Run of each case."""
    explanations: list[Explanation]
    advices: Mapping[str, Advice] = field(default_factory=dict)
    """What was advised, of each layout that was asked about."""

    @property
    def misses(self) -> list[Comparison]:
        """Rows outside their tolerance."""
        return [comparison for comparison in self.comparisons if not comparison.within]

    def standing(self, comparison: Comparison) -> Standing:
        """What a row is worth."""
        row = comparison.published
        if row.key in self._left_out:
            return Standing.NOT_MODELLED
        return Standing.BY_CONSTRUCTION if row.by_construction else Standing(row.role)

    def of(self, standing: Standing) -> list[Comparison]:
        """Rows of a standing."""
        return [c for c in self.comparisons if self.standing(c) is standing]

    @property
    def not_fitted(self) -> list[Comparison]:
        """All rows that were simulated and that nothing is fitted to, whatever they are worth."""
        aside = (Standing.CALIBRATION, Standing.NOT_MODELLED)
        return [c for c in self.comparisons if self.standing(c) not in aside]

    def count(self, standing: Standing) -> Count:
        """Rows of a standing, those within tolerance, and those the null model passes."""
        rows = self.of(standing)
        null = self._passed(rows, self._answers[standing]) if standing in JUDGED else None
        return Count(len(rows), sum(row.within for row in rows), null)

    @property
    def not_fitted_count(self) -> Count:
        """The same of all that nothing is fitted to, with constants chosen over all of it."""
        rows = self.not_fitted
        answers = null_answers(self.study, [row.published for row in rows])
        return Count(len(rows), sum(row.within for row in rows), self._passed(rows, answers))

    def null_answer(self, comparison: Comparison) -> float | None:
        """What the null model says for a row; None where it says nothing or is not asked."""
        answers = self._answers.get(self.standing(comparison), {})
        return answers.get(comparison.published.key)

    def mape(self, standing: Standing) -> float | None:
        """Mean absolute error of the rows of a standing, all of them [percent]."""
        return mean_error_pct(self.of(standing))

    def errors(self, standing: Standing) -> list[ErrorSummary]:
        """Errors of a standing's rows, apart by what the tolerances count in."""
        rows = self.of(standing)
        kinds = [
            (kind, [c for c in rows if c.published.tolerance.kind is kind])
            for kind in ToleranceKind
        ]
        return [summarize_errors(kind, some) for kind, some in kinds if some]

    def points(self, standing: Standing) -> PointErrors | None:
        """Errors in points; None where the study compares no machines."""
        return None if self.study.comparison is None else point_errors(self.of(standing))

    @property
    def not_modelled(self) -> list[Comparison]:
        """Rows that need what is not modelled."""
        return self.of(Standing.NOT_MODELLED)

    def frame(self) -> pl.DataFrame:
        """The rows as a polars frame, with ranges in two columns."""
        import polars as pl

        rows = []
        for comparison in self.comparisons:
            published = comparison.published
            row = {**self._row(comparison), "published": published.value}
            row |= {"published_low": published.low, "published_high": published.high}
            del row["agrees"]
            row["agrees_low"], row["agrees_high"] = published.bounds
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None)

    def as_json(self) -> dict[str, object]:
        """What `homenode study --json` prints."""
        told: dict[str, object] = {
            "study": self.study.name,
            "rows": [self._row(comparison) for comparison in self.comparisons],
            "counts": {one.value: asdict(self.count(one)) for one in Standing},
            "not_fitted": asdict(self.not_fitted_count),
            "mape": {one.value: self.mape(one) for one in _WITH_ERRORS},
        }
        points = {one.value: self.points(one) for one in _WITH_ERRORS}
        if self.study.comparison is not None:
            told["points"] = {name: asdict(one) for name, one in points.items() if one is not None}
            told["not_modelled"] = [c.published.key for c in self.not_modelled]
        return told

    def _row(self, comparison: Comparison) -> dict[str, object]:
        """A row with what the study says of it."""
        answer = self.null_answer(comparison)
        judged = self.standing(comparison) in JUDGED
        return {
            **comparison.as_json(),
            "not_modelled": self._left_out.get(comparison.published.key),
            "null": answer,
            "null_within": passes(comparison.published, answer) if judged else None,
        }

    @property
    def _left_out(self) -> Mapping[str, str]:
        """Reasons by row that is not modelled."""
        return {} if self.study.comparison is None else self.study.comparison.not_modelled

    @cached_property
    def _answers(self) -> dict[Standing, dict[str, float | None]]:
        """The null model's answers; its constants are chosen for each standing by itself."""
        return {
            one: null_answers(self.study, [row.published for row in self.of(one)]) for one in JUDGED
        }

    @staticmethod
    def _passed(rows: Sequence[Comparison], answers: Mapping[str, float | None]) -> int:
        return sum(passes(row.published, answers[row.published.key]) for row in rows)


_WITH_ERRORS = (Standing.CALIBRATION, Standing.INFORMED, Standing.VALIDATION)
