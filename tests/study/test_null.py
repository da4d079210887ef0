"""The null model: what one number for each metric passes, by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from homenode.evidence.study import Study
from homenode.evidence.study.definition import Ratio
from homenode.evidence.study.null import best_constant, null_answers, passes
from homenode.evidence.study.published import PublishedRow, Tolerance, ToleranceKind
from homenode.evidence.study.series import Series


def row(
    case: str, value: float, metric: str = "m", role: str = "validation", near: float = 1.0
) -> PublishedRow:
    tolerance = Tolerance(ToleranceKind.ABSOLUTE, near)
    return PublishedRow(case, metric, value, value, "", role, "text", tolerance, "")


def study(*rows: PublishedRow, **parts: object) -> Study:
    empty = Study("s", Path(), "", "", "", (), None, {}, {}, (), (), list(rows))
    return replace(empty, **parts)


def passed(held: Study, rows: list[PublishedRow]) -> int:
    answers = null_answers(held, rows)
    return sum(passes(one, answers[one.key]) for one in rows)


def test_the_best_number_passes_most_rows() -> None:
    rows = [row("a", 1.0), row("b", 2.0), row("c", 2.5), row("d", 9.0)]
    assert best_constant(rows) == pytest.approx((1.5 + 2.0) / 2)
    assert passed(study(*rows), rows) == 3


def test_the_number_of_a_single_point_is_met_exactly() -> None:
    rows = [row("a", 0.0, near=0.0), row("b", 0.0, near=0.0), row("c", 57.0, near=0.0)]
    assert best_constant(rows) == 0.0
    assert passed(study(*rows), rows) == 2


def test_metrics_have_numbers_of_their_own() -> None:
    rows = [row("a", 1.0), row("b", 1.0), row("a", 50.0, "n"), row("b", 50.0, "n")]
    assert passed(study(*rows), rows) == 4


def test_a_single_row_chooses_nothing() -> None:
    ratio = Ratio("price", ("a",), ("b",))
    rows = [row("price", 1.9, near=1.0), row("a", 1.9, "n")]
    held = study(*rows, ratios={"price": ratio})
    assert null_answers(held, rows) == {"price:m": 1.0, "a:n": None}
    assert passed(held, rows) == 1
    fitted = [row("c", 1.0, "n", "calibration"), row("d", 2.0, "n", "calibration")]
    assert null_answers(study(*rows, *fitted), [rows[1]]) == {"a:n": 1.5}


def test_sizes_may_grow_with_their_processors_or_their_capability() -> None:
    series = Series("s", "", None, (16, 32, 64), "ibm-z14")
    linear = [row(case, 100.0 * size) for case, size in zip(series.cases, (1, 2, 4), strict=True)]
    assert passed(study(*linear), linear) == 1
    assert passed(study(*linear, series=(series,)), linear) == 3
    capable = [row(series.case(n), 100.0 * series.capability_of(n)) for n in series.processors]
    assert passed(study(*capable, series=(series,)), capable) == 3
    assert null_answers(study(*capable, series=(series,)), capable)["s-32:m"] == pytest.approx(
        100.0 * series.capability_of(32)
    )


def test_one_row_that_is_no_size_keeps_the_others_from_growing() -> None:
    series = Series("s", "", None, (16, 32), "ibm-z14")
    rows = [row("s-16", 100.0), row("s-32", 200.0), row("else", 300.0)]
    assert passed(study(*rows, series=(series,)), rows) == 1
