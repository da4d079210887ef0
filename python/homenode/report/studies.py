"""A study as a table."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from homenode.evidence.study.compare import Comparison, ErrorSummary, PointErrors, StudyResult
from homenode.evidence.study.fit import CalibrationResult
from homenode.evidence.study.machines import WIDENED_POINTS
from homenode.evidence.study.published import ROLES, ToleranceKind
from homenode.report.numbers import NOTHING, number, signed, significant, significant_with_interval
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
            row.role,
            _within(result, comparison),
        )
    return table


def error_lines(result: StudyResult) -> list[str]:
    """Mean and worst error of each role."""
    lines = []
    for role in ROLES:
        mape = result.mape(role)
        rows = result.of_role(role)
        if not rows:
            continue
        points = result.points(role)
        if points is not None:
            lines += _point_lines(role, points)
            continue
        within = sum(comparison.within for comparison in rows)
        percent = NOTHING if mape is None else f"{mape:.1f} %"
        lines.append(
            f"{role}: {within} of {len(rows)} rows within tolerance; mean absolute error of all "
            f"{percent}"
        )
        lines += [f"  {_error(summary)}" for summary in result.errors(role)]
    return lines


def _point_lines(role: str, points: PointErrors) -> list[str]:
    """Errors of percentages, in points."""
    share = f" ({100.0 * points.within / points.rows:.0f} %)" if points.rows else ""
    worst = f", worst {number(points.worst, 1)} ({points.worst_row})" if points.worst_row else ""
    line = (
        f"{role}: {points.within} of {points.rows} rows{share} within the published range widened "
        f"by {WIDENED_POINTS:g} points; mean absolute error {number(points.mean, 1)} points{worst}"
    )
    return [line]


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
    left_out = {id(comparison) for comparison in result.not_modelled}
    for comparison in result.misses:
        if id(comparison) in left_out:
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
    return "not modelled" if comparison in result.not_modelled else "[bold red]no[/]"


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
    mean = number(summary.mean, _digits(summary.worst))
    return (
        f"{summary.rows} {what}: {summary.within} within, "
        f"mean error {sign}{mean}{unit}, worst {worst}{unsized}"
    )
