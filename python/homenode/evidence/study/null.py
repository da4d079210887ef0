"""What somebody would answer who knows nothing of layouts: a study's null model.

For the rows of one metric and unit it is the one number that passes most of them, chosen when they
are known, which favours it. Rows of a `[[series]]` may also take that number times the processors,
or times the capability, of their size; predicted factors also those of another machine, from the
calibration rows or from a table that is shipped. Whichever passes most counts.

A single row would choose its own number and always pass. So a ratio that is alone is 1, no effect
of the layout; any other figure that is alone is what the calibration rows of the same metric have
in the mean, and nothing where there are none. Advice is to leave all as it is: that follows a
guideline which asks for no change, and saves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from homenode.evidence.study.advice import FOLLOWS
from homenode.evidence.study.capability import CapabilityStudy
from homenode.evidence.study.definition import Study
from homenode.evidence.study.published import PublishedRow
from homenode.evidence.study.series import Series
from homenode.model.catalog.capability_table import capability_table, capability_tables
from homenode.model.estimate import mean_of

NO_EFFECT = 1.0
"""A ratio of two layouts of which neither costs more."""


def null_answers(study: Study, rows: Sequence[PublishedRow]) -> dict[str, float | None]:
    """What the null model says for each of these rows, by key; None where it says nothing."""
    groups: dict[tuple[str, str], list[PublishedRow]] = {}
    for row in rows:
        groups.setdefault((row.metric, row.unit), []).append(row)
    told: dict[str, float | None] = {}
    for (metric, _), group in groups.items():
        if metric == FOLLOWS:
            told |= {row.key: float(not study.advices[row.case].guideline) for row in group}
            continue
        told |= _alone(study, group[0]) if len(group) == 1 else _best(study, group)
    return told


def passes(row: PublishedRow, answer: float | None) -> bool:
    """Whether an answer of the null model lies within a row's tolerance."""
    return answer is not None and row.agrees(answer)


def best_constant(rows: Sequence[PublishedRow], scale: Sequence[float] | None = None) -> float:
    """The number that, times each row's scale (above 0; 1 if none is given), lies within the
    tolerance of most rows: the middle of where it may be.
    """
    scale = scale or [1.0] * len(rows)
    bounds = [
        (low / size, high / size)
        for (low, high), size in zip((row.bounds for row in rows), scale, strict=True)
    ]
    # Of most intervals that have a point in common the highest beginning is one.
    start = max((low for low, _ in bounds), key=lambda x: sum(a <= x <= b for a, b in bounds))
    end = min(high for low, high in bounds if low <= start <= high)
    return (start + end) / 2.0


def _alone(study: Study, row: PublishedRow) -> dict[str, float | None]:
    """The answer for a metric that has one row only."""
    if row.case in study.ratios:
        return {row.key: NO_EFFECT}
    if row.case in study.advices:
        return {row.key: 0.0}
    known = [
        one.value
        for one in study.rows("calibration")
        if (one.metric, one.unit) == (row.metric, row.unit)
    ]
    return {row.key: mean_of(known) if known else None}


def _best(study: Study, rows: Sequence[PublishedRow]) -> dict[str, float | None]:
    """The answers that pass most rows; the first of those that pass as many."""
    return max(
        _candidates(study, rows), key=lambda told: sum(passes(row, told[row.key]) for row in rows)
    )


def _candidates(study: Study, rows: Sequence[PublishedRow]) -> Iterator[dict[str, float | None]]:
    for scale in ([1.0] * len(rows), *_scales(study, rows)):
        found = best_constant(rows, scale)
        yield {row.key: found * size for row, size in zip(rows, scale, strict=True)}
    if study.capability is not None:
        yield _of_another_machine(study.capability, study.rows("calibration"), rows)
        for name in capability_tables():
            table = capability_table(name)
            told = {table.machine or table.name: table.factors}
            yield {row.key: _taken_over(study.capability, told, row) for row in rows}


def _scales(study: Study, rows: Sequence[PublishedRow]) -> Iterator[list[float]]:
    """Processors, and capability, of the rows' sizes, if all rows are sizes of a series."""
    sizes = [_size(study.series, row.case) for row in rows]
    known = [size for size in sizes if size is not None]
    if known and len(known) == len(rows):
        yield [float(processors) for _, processors in known]
        yield [series.capability_of(processors) for series, processors in known]


def _size(series: Sequence[Series], case: str) -> tuple[Series, int] | None:
    for one in series:
        if case in one.cases:
            return one, one.processors[one.cases.index(case)]
    return None


def _of_another_machine(
    capability: CapabilityStudy, known: Sequence[PublishedRow], rows: Sequence[PublishedRow]
) -> dict[str, float | None]:
    """Factors of a machine that the calibration rows have, taken for another's."""
    tables: dict[str, dict[int, float]] = {}
    for row in known:
        if row.metric == "caf" and capability.is_predicted(row.case):
            case = capability.sizes_of(row.case)
            tables.setdefault(case.machine.machine, {})[case.sizes[0]] = row.value
    return {row.key: _taken_over(capability, tables, row) for row in rows}


def _taken_over(
    capability: CapabilityStudy, tables: Mapping[str, Mapping[int, float]], row: PublishedRow
) -> float | None:
    """A row's figure by the first other table that has its sizes."""
    if not capability.is_predicted(row.case) or row.case in capability.generations:
        return None
    case = capability.sizes_of(row.case)
    for name, table in tables.items():
        if name == case.machine.machine or not all(size in table for size in case.sizes):
            continue
        worth = [size * table[size] for size in case.sizes]
        if row.metric == "caf":
            return table[case.sizes[0]]
        if row.metric == "capability_ratio":
            return worth[1] / worth[0]
    return None
