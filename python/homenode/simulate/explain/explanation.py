"""Where the cores went, in a table that adds up to its last digit and a paragraph in plain words.

For one partition, or for the difference of two, in cores or in cycles of an instruction. All text
is put together from the figures at hand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from homenode.errors import NotFoundError, nearest
from homenode.model.estimate import rounded_to_sum
from homenode.simulate.explain.measure import MEASURES, Measure
from homenode.simulate.explain.situation import Situation
from homenode.simulate.explain.telling import Pair, tell_difference, tell_one
from homenode.simulate.kept.books import CAUSES, Breakdown
from homenode.simulate.kept.kept_run import KeptRun
from homenode.simulate.kept.vocabulary import Vocabulary

if TYPE_CHECKING:
    import polars as pl

_PERCENT_DIGITS = 1


@dataclass(frozen=True)
class Row:
    """One cause. What is printed is rounded so that each column adds up to its printed total."""

    cause: str
    label: str
    """What the machine's users call the cause."""
    value: float
    """Cores or cycles, as the explanation counts."""
    share: float
    """Of all causes together [0..1], not rounded."""
    share_pct: float
    """The same in percent, rounded."""
    price: float | None
    """Cost of a unit of work, or how much more it is than the base's."""
    base: float | None = None
    equal: float | None = None
    """The base scaled to the same work."""
    difference: float | None = None
    """To that."""


@dataclass(frozen=True)
class Explanation:
    """A partition's cores or cycles by cause, alone or against a base."""

    breakdown: Breakdown
    base: Breakdown | None
    rows: list[Row]
    paragraph: str
    measure: Measure = field(default=MEASURES["cores"])
    digits: int = 2
    """Digits of the values."""
    factor: float = 1.0
    """By which the base was scaled to do the same work."""

    @property
    def total(self) -> float:
        """Sum of the printed values."""
        return self._sum(row.value for row in self.rows)

    @property
    def base_total(self) -> float | None:
        """Sum of the printed values of the base."""
        return None if self.base is None else self._sum(row.base or 0.0 for row in self.rows)

    @property
    def equal_total(self) -> float | None:
        """Sum of the printed values of the base at equal work."""
        return None if self.base is None else self._sum(row.equal or 0.0 for row in self.rows)

    @property
    def difference(self) -> float | None:
        """Sum of the printed differences."""
        return None if self.base is None else self._sum(row.difference or 0.0 for row in self.rows)

    @property
    def price(self) -> float | None:
        """Sum of the printed costs of a unit of work."""
        costs = [row.price for row in self.rows if row.price is not None]
        return round(math.fsum(costs), self.measure.price_digits) if costs else None

    @property
    def is_scaled(self) -> bool:
        """Whether the base did other work."""
        return self.factor != 1.0

    def _sum(self, values: Any) -> float:
        return round(math.fsum(values), self.digits)

    def frame(self) -> pl.DataFrame:
        """The rows as a polars frame."""
        import polars as pl

        return pl.DataFrame(self._rows_json(), infer_schema_length=None)

    def as_json(self) -> dict[str, Any]:
        """What `homenode explain --json` prints; values stand under the name of the measure."""
        name = self.measure.name
        return {
            "run": self.breakdown.run,
            "partition": self.breakdown.partition,
            "base": None
            if self.base is None
            else {"run": self.base.run, "partition": self.base.partition},
            "by": name,
            "steady": {"reason": self.breakdown.reason},
            "work": _work_json(self.breakdown),
            "base_work": None if self.base is None else _work_json(self.base),
            "rows": self._rows_json(),
            "total": {
                name: self.total,
                f"base_{name}": self.base_total,
                f"base_{name}_at_equal_work": self.equal_total,
                "difference": self.difference,
                "price": self.price,
            },
            "price": self.measure.price_title(self.breakdown),
            "paragraph": self.paragraph,
        }

    def _rows_json(self) -> list[dict[str, Any]]:
        name = self.measure.name
        return [
            {
                "cause": row.cause,
                "label": row.label,
                name: row.value,
                "share": row.share,
                "price": row.price,
                f"base_{name}": row.base,
                f"base_{name}_at_equal_work": row.equal,
                "difference": row.difference,
            }
            for row in self.rows
        ]


def _work_json(books: Breakdown) -> dict[str, Any] | None:
    work = books.work
    return None if work is None else {"unit": work.unit, "per_s": work.rate_per_s}


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
