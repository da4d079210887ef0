"""A study as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from homenode.evidence.study.deviation import Comparison, ErrorSummary, PointErrors
from homenode.evidence.study.fit import CalibrationResult
from homenode.evidence.study.published import ToleranceKind
from homenode.evidence.study.result import JUDGED, Count, Standing, StudyResult
from homenode.model.numbers import (
    NOTHING,
    number,
    signed,
    significant,
    significant_with_interval,
)
from homenode.planner.reasons import plain
from homenode.report.tables import plain_table

_UNITS = {kind: " %" if kind is ToleranceKind.PERCENT else "" for kind in ToleranceKind}


def study_table(result: StudyResult) -> Table:
    """All rows of a study."""
    table = plain_table(
        "case", "metric", "published", "simulated (95 %)", "deviation", "tolerance", "role",
        "within",
        title=f"{result.study.name}: {result.study.title}",
    )  # fmt: skip
    for comparison in result.comparisons:
        row = comparison.published
        table.add_row(
            escape(row.case),
            escape(row.metric),
            row.shown,
            _simulated(comparison),
            _deviation(comparison),
            str(row.tolerance),
            _role(result.standing(comparison)),
            _within(result, comparison),
        )
    return table


def error_lines(result: StudyResult) -> list[str]:
    """How many rows of each standing come out, beside the null model, and how far off they are: by
    what their tolerances count in, since errors of different orders have no mean.
    """
    lines: list[str] = []
    for standing in (Standing.CALIBRATION, *reversed(JUDGED)):
        if not result.of(standing):
            continue
        points = result.points(standing)
        told = "" if points is None else f"; {_point_error(points)}"
        lines.append(_count(result, standing) + told)
        if result.study.comparison is None:
            lines += [f"  {_error(summary)}" for summary in result.errors(standing)]
    if not result.of(Standing.VALIDATION):
        lines.append("validation: no row of this study is unseen")
    made = result.count(Standing.BY_CONSTRUCTION)
    if made.rows:
        lines.append(f"by construction: {made.rows} rows, {made.within} within; no evidence")
    all_but = result.not_fitted_count
    lines.append(
        f"all but calibration: {all_but.within} of {all_but.rows} rows within tolerance, null "
        f"model {all_but.null_within}"
    )
    return lines


def _count(result: StudyResult, standing: Standing) -> str:
    """`validation: 5 of 11 rows within tolerance, null model 7`."""
    count = result.count(standing)
    null = "" if count.null_within is None else f", null model {count.null_within}"
    return f"{standing.shown}: {count.within} of {count.rows} rows within tolerance{null}"


def _point_error(points: PointErrors) -> str:
    worst = f", worst {number(points.worst, 1)} ({points.worst_row})" if points.worst_row else ""
    return f"mean absolute error {number(points.mean, 1)} points{worst}"


def summary_table(results: Sequence[StudyResult]) -> Table:
    """A line a study: what came out beside the null model, by standing."""
    table = plain_table(
        "study", "validation", "null", "informed", "null", "constructed", "fitted",
        title="Rows within tolerance, and those the null model passes",
    )  # fmt: skip
    for result in results:
        table.add_row(escape(result.study.name), *summary_cells(result))
    return table


def summary_cells(result: StudyResult, between: str = "/") -> list[str]:
    """Validation, its null model, informed, its null model, by construction, calibration."""
    cells: list[str] = []
    for standing in JUDGED:
        count = result.count(standing)
        cells += [_share(count, between), str(count.null_within) if count.rows else NOTHING]
    for standing in (Standing.BY_CONSTRUCTION, Standing.CALIBRATION):
        cells.append(_share(result.count(standing), between))
    return cells


def _share(count: Count, between: str) -> str:
    return f"{count.within}{between}{count.rows}" if count.rows else NOTHING


def not_modelled_lines(result: StudyResult) -> list[str]:
    """Rows that need what is not modelled; no share and no error counts them."""
    return [
        f"{c.published.case} {c.published.metric}: published {c.published.shown}; "
        f"{c.simulated.reason}"
        for c in result.not_modelled
    ]


def miss_lines(result: StudyResult) -> list[str]:
    """Every row outside its tolerance, with what is known of the reason."""
    lines = []
    for comparison in result.misses:
        if result.standing(comparison) is Standing.NOT_MODELLED:
            continue
        row = comparison.published
        why = comparison.simulated.reason or row.why or "no reason is known"
        found = _simulated(comparison)
        size = _deviation(comparison)
        told = "" if size == NOTHING else f"{size}, "
        lines.append(
            f"{row.case} {row.metric}: {found} for {row.shown} "
            f"({told}tolerance {row.tolerance}); {why}"
        )
    return lines


def advice_lines(result: StudyResult) -> list[str]:
    """What was advised of each layout that was asked about."""
    lines = []
    for name, advice in result.advices.items():
        changes = [one for best in advice.best[:1] for one in best.changes]
        made = "".join(
            f" {one.path}: {plain(one.before)} -> {plain(one.after)}." for one in changes
        )
        lines.append(f"{name}: {advice.told}{made}")
    return lines


def calibration_table(result: CalibrationResult) -> Table:
    """Parameters as found and as the files hold them."""
    table = plain_table(
        "parameter", "found", "in the files", "files differ by", "path", "fitted to"
    )
    for fitted in result.fitted:
        table.add_row(
            escape(fitted.calibration.name),
            f"{significant(fitted.found, 5)} {fitted.calibration.unit}".strip(),
            significant(fitted.in_files, 5),
            signed(fitted.change_pct, 1, " %"),
            escape(fitted.calibration.parameter),
            escape(", ".join(fitted.calibration.told)),
        )
    return table


def _within(result: StudyResult, comparison: Comparison) -> str:
    if comparison.within:
        return "yes"
    standing = result.standing(comparison)
    return standing.shown if standing is Standing.NOT_MODELLED else "[bold red]no[/]"


def _role(standing: Standing) -> str:
    """In one word of a narrow column."""
    short = {Standing.BY_CONSTRUCTION: "constructed", Standing.NOT_MODELLED: NOTHING}
    return short.get(standing, standing.shown)


def _simulated(comparison: Comparison) -> str:
    if comparison.simulated.mean is None and comparison.simulated.reason:
        return "no steady state" if "steady" in comparison.simulated.reason else NOTHING
    return significant_with_interval(comparison.simulated)


def _deviation(comparison: Comparison) -> str:
    """In what the tolerance counts in."""
    kind = comparison.published.tolerance.kind
    if kind is ToleranceKind.PERCENT:
        return signed(comparison.deviation_pct, 1, " %")
    if kind is ToleranceKind.ABSOLUTE:
        return signed(comparison.deviation, _digits(comparison.published.tolerance.amount))
    if kind is ToleranceKind.BAND:
        return signed(comparison.deviation, 2)
    return NOTHING if comparison.factor is None else f"x{comparison.factor:.2f}"


def _digits(size: float | None) -> int:
    """Digits that tell ratios apart which are published to a hundredth."""
    return 4 if size is not None and 0 < size < 0.1 else 2


def _error(summary: ErrorSummary) -> str:
    what = {
        ToleranceKind.PERCENT: "rows compared in percent",
        ToleranceKind.ABSOLUTE: "rows compared in their own unit",
        ToleranceKind.FACTOR: "rows compared by order of magnitude",
        ToleranceKind.BAND: "rows that must lie in a band",
    }[summary.kind]
    sign = "x" if summary.kind is ToleranceKind.FACTOR else ""
    unit = _UNITS[summary.kind]
    worst = (
        f"{sign}{number(summary.worst, _digits(summary.worst))}{unit} ({summary.worst_row})"
        if summary.worst_row
        else NOTHING
    )
    none = summary.rows - summary.sized
    unsized = f"; {none} without a value to compare" if none else ""
    middle = number(summary.median, _digits(summary.worst))
    return (
        f"{summary.rows} {what}: {summary.within} within, "
        f"median error {sign}{middle}{unit}, worst {worst}{unsized}"
    )
