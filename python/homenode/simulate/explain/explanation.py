"""Where the cores went, in a table that adds up to its last digit and a paragraph in plain words.

For one partition, or for the difference of two, in cores or in cycles of an instruction. All text
is put together from the figures at hand.
"""

from __future__ import annotations

import math

from homenode.errors import NotFoundError, nearest
from homenode.model.estimate import rounded_to_sum
from homenode.simulate.explain.explained import Explanation, Row
from homenode.simulate.explain.measure import MEASURES, Measure
from homenode.simulate.explain.situation import Situation
from homenode.simulate.explain.telling import Pair, tell_difference, tell_one
from homenode.simulate.kept.books import CAUSES, Breakdown
from homenode.simulate.kept.kept_run import KeptRun
from homenode.simulate.kept.vocabulary import Vocabulary

__all__ = ["Explanation", "Row", "explain"]

_PERCENT_DIGITS = 1


def explain(
    run: KeptRun,
    partition: str | None = None,
    base: KeptRun | None = None,
    base_partition: str | None = None,
    *,
    by: str = "cores",
) -> Explanation:
    """Where a partition's cores went; with a base (a run, or another partition of the same), what
    it pays more. `by` is `cores` or `cpi` (cycles of an instruction).
    """
    if by not in MEASURES:
        raise NotFoundError(
            f"nothing is explained by {by}{nearest(by, MEASURES)}",
            next_step=f"explain by {' or '.join(MEASURES)}",
        )
    measure = MEASURES[by]
    at = Situation(run, run.partition(partition))
    books = run.breakdown(at.partition)
    if base is None and base_partition is None:
        return _alone(at, books, measure)
    base = run if base is None else base
    there = Situation(base, base.partition(base_partition))
    return _difference(at, there, books, measure)


def _alone(at: Situation, books: Breakdown, measure: Measure) -> Explanation:
    values = measure.values(books)
    digits = measure.digits(math.fsum(values.values()))
    words = _words(at.vocabulary, values)
    printed = _rounded(values, digits, words)
    scale = measure.price(books)
    prices = None if scale is None else {cause: value * scale for cause, value in values.items()}
    rows = _rows(values, printed, _prices(prices, measure, words), words)
    text = tell_one(at, books, printed, measure, digits, words)
    return Explanation(books, None, rows, text, measure, digits)


def _difference(at: Situation, there: Situation, books: Breakdown, measure: Measure) -> Explanation:
    base = there.run.breakdown(there.partition)
    mine, theirs = measure.values(books), measure.values(base)
    factor = measure.factor(books, base)
    equal = {cause: factor * value for cause, value in theirs.items()}
    totals = [math.fsum(values.values()) for values in (mine, theirs)]
    digits = measure.digits(max(totals))
    words = _words(at.vocabulary.joined(there.vocabulary), mine, theirs)
    printed = _rounded(mine, digits, words)
    others = _rounded(theirs, digits, words), _rounded(equal, digits, words)
    prices = _prices(_dearer(measure, books, base), measure, words)
    rows = _rows(mine, printed, prices, words, others)
    sums = tuple(math.fsum(column.values()) for column in (printed, *others))
    pair = Pair(at, there, books, base, measure, digits, factor, words, sums)
    text = tell_difference(pair, {row.cause: row.difference or 0.0 for row in rows})
    return Explanation(books, base, rows, text, measure, digits, factor)


def _dearer(measure: Measure, books: Breakdown, base: Breakdown) -> dict[str, float] | None:
    """What a unit of work costs more than the base's; None where they have no common unit."""
    scale, base_scale = measure.price(books), measure.price(base)
    if scale is None or base_scale is None:
        return None
    if measure.price_title(books) != measure.price_title(base):
        return None
    mine, theirs = measure.values(books), measure.values(base)
    return {cause: mine[cause] * scale - theirs[cause] * base_scale for cause in mine}


def _words(vocabulary: Vocabulary, *columns: dict[str, float]) -> Vocabulary:
    """The machine's causes, and any other that has a value all the same."""
    return vocabulary.with_causes(
        cause.name for cause in CAUSES if any(column[cause.name] for column in columns)
    )


def _rounded(values: dict[str, float], digits: int, words: Vocabulary) -> dict[str, float]:
    return rounded_to_sum({cause: values[cause] for cause in words.labels}, digits)


def _prices(
    prices: dict[str, float] | None, measure: Measure, words: Vocabulary
) -> dict[str, float] | None:
    return None if prices is None else _rounded(prices, measure.price_digits, words)


def _rows(
    values: dict[str, float],
    printed: dict[str, float],
    prices: dict[str, float] | None,
    words: Vocabulary,
    others: tuple[dict[str, float], dict[str, float]] | None = None,
) -> list[Row]:
    """`others` are the columns of the base and of the base at equal work, rounded."""
    total = math.fsum(values.values())
    shares = {cause: values[cause] / total if total > 0 else 0.0 for cause in words.labels}
    percent = rounded_to_sum({c: 100 * share for c, share in shares.items()}, _PERCENT_DIGITS)
    base, equal = others or (None, None)
    return [
        Row(
            cause=cause,
            label=label,
            value=printed[cause],
            share=shares[cause],
            share_pct=percent[cause],
            price=None if prices is None else prices[cause],
            base=None if base is None else base[cause],
            equal=None if equal is None else equal[cause],
            # The difference of the printed columns: rows and totals agree digit by digit.
            difference=None if equal is None else round(printed[cause] - equal[cause], 9),
        )
        for cause, label in words.labels.items()
    ]
