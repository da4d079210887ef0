"""What the pages say of a study's results, as Markdown: written by a program, never by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from homenode.errors import HomenodeError
from homenode.evidence.study.deviation import Comparison
from homenode.evidence.study.published import PublishedRow
from homenode.evidence.study.result import Count, Standing, StudyResult
from homenode.evidence.study.series import Series
from homenode.model.numbers import NOTHING, significant
from homenode.report.studies import summary_cells

_NOTE = "written by `make docs`; changes here are lost"
_MARKS = {
    Standing.VALIDATION: " (v)",
    Standing.BY_CONSTRUCTION: " (c)",
    Standing.CALIBRATION: " (f)",
}
_PLAIN_BELOW = 1e4
"""Published values from here on are printed with thousands separated."""
_MOST_TOLD = 20
"""Missed rows up to which each is told with its figures."""


def filled(text: str, name: str, body: str) -> str:
    """A page with the part between the marks of this name replaced."""
    start, end = f"<!-- {name}: {_NOTE} -->\n", f"<!-- /{name} -->"
    before, found, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise HomenodeError(f"the page has no part between {start.strip()} and {end}")
    return f"{before}{start}\n{body}\n{end}{after}"


def trust_table(results: Sequence[StudyResult]) -> str:
    """The table of studies on the front page."""
    head = [
        "study", "what was published", "validation", "null model", "informed", "null model",
        "by construction", "calibration",
    ]  # fmt: skip
    rows = [
        [f"`{one.study.name}`", one.study.title, *summary_cells(one, " of ")] for one in results
    ]
    return _table([head, *rows])


def result_block(result: StudyResult) -> str:
    """What a study's page says of its own result: counts, what is missed, all rows."""
    parts = [_counts(result), _missed(result)]
    if result.study.series:
        parts.append(f"Published / simulated; {_legend(result)}:\n")
    parts += [_sizes(result, one) for one in result.study.series]
    rest = [c for c in result.comparisons if not _has_size(result, c)]
    if rest:
        parts.append(f"All {'other ' if result.study.series else ''}rows:\n\n{_list(result, rest)}")
    return "\n".join(parts)


def _legend(result: StudyResult) -> str:
    """The marks that occur, and what stands without one."""
    found = {result.standing(one) for one in result.comparisons}
    marks = [f"{mark.strip()} {one.shown}" for one, mark in _MARKS.items() if one in found]
    return ", ".join([*marks, f"unmarked {Standing.INFORMED.shown}"])


def _counts(result: StudyResult) -> str:
    lines = [["rows", "within tolerance", "null model"]]
    for standing in (
        Standing.VALIDATION, Standing.INFORMED, Standing.BY_CONSTRUCTION, Standing.CALIBRATION,
    ):  # fmt: skip
        note = ", no evidence" if standing is Standing.BY_CONSTRUCTION else ""
        lines.append([standing.shown + note, *_count(result.count(standing))])
    lines.append(["all but calibration", *_count(result.not_fitted_count)])
    left_out = len(result.not_modelled)
    told = (
        f"\n{left_out} rows need what is not modelled; nothing counts them.\n" if left_out else ""
    )
    return _table(lines) + told


def _count(count: Count) -> list[str]:
    if not count.rows:
        return ["there is none", ""]
    null = "" if count.null_within is None else str(count.null_within)
    return [f"{count.within} of {count.rows}", null]


def _missed(result: StudyResult) -> str:
    rows = [c for c in result.misses if result.standing(c) is not Standing.NOT_MODELLED]
    if not rows:
        return "No row is missed.\n"
    if len(rows) > _MOST_TOLD:
        return f"Missed:\n\n{_by_case(rows)}"
    head = ["case", "metric", "published", "simulated", "tolerance", "counts as", "remark"]
    lines = [
        [*_figures(one), str(one.published.tolerance), result.standing(one).shown, _reason(one)]
        for one in rows
    ]
    return f"Missed:\n\n{_table([head, *lines])}"


def _by_case(rows: Sequence[Comparison]) -> str:
    """Metrics by case, as a list."""
    cases: dict[str, list[str]] = {}
    for one in rows:
        cases.setdefault(one.published.case, []).append(one.published.metric)
    return "".join(f"- `{case}`: {', '.join(metrics)}\n" for case, metrics in cases.items())


def _reason(comparison: Comparison) -> str:
    return comparison.simulated.reason or comparison.published.why or "none"


def _list(result: StudyResult, rows: Sequence[Comparison]) -> str:
    head = ["case", "metric", "published", "simulated", "tolerance", "counts as", "within"]
    lines = [
        [
            *_figures(one),
            str(one.published.tolerance),
            result.standing(one).shown,
            _verdict(result, one),
        ]
        for one in rows
    ]
    return _table([head, *lines])


def _verdict(result: StudyResult, one: Comparison) -> str:
    if result.standing(one) is Standing.NOT_MODELLED:
        return ""
    return "yes" if one.within else "**no**"


def _figures(one: Comparison) -> list[str]:
    row = one.published
    return [f"`{row.case}`", row.metric, _published(row), significant(one.simulated.mean)]


def _published(row: PublishedRow) -> str:
    ends = (row.low,) if row.low == row.high else (row.low, row.high)
    return "..".join(f"{x:g}" if abs(x) < _PLAIN_BELOW else f"{x:,.0f}" for x in ends)


def _has_size(result: StudyResult, one: Comparison) -> bool:
    return any(one.published.case in series.cases for series in result.study.series)


def _sizes(result: StudyResult, series: Series) -> str:
    """Published and simulated of a series, a column a number of processors."""
    cells = {
        (c.published.metric, c.published.case): _cell(result, c)
        for c in result.comparisons
        if c.published.case in series.cases
    }
    metrics = dict.fromkeys(metric for metric, _ in cells)
    head = [f"`{series.name}`", *(str(size) for size in series.processors)]
    lines = [
        [metric, *(cells.get((metric, case), NOTHING) for case in series.cases)]
        for metric in metrics
    ]
    return _table([head, *lines])


def _cell(result: StudyResult, one: Comparison) -> str:
    missed = "" if one.within else " **missed**"
    mark = _MARKS.get(result.standing(one), "")
    return f"{_published(one.published)} / {significant(one.simulated.mean)}{mark}{missed}"


def _table(lines: Sequence[Sequence[str]]) -> str:
    """Lines as a table, the first its head."""
    return "".join(f"{line}\n" for line in _drawn(lines))


def _drawn(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    head, *rows = lines
    for line in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', '/') for cell in line)} |"
