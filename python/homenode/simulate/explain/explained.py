"""What was explained: causes with their shares, in a table that adds up to its last digit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from homenode.model.numbers import NOTHING, number, signed
from homenode.simulate.explain.measure import MEASURES, Measure
from homenode.simulate.kept.books import Breakdown
from homenode.simulate.kept.grid import Grid

if TYPE_CHECKING:
    import polars as pl


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
    """How much the price is above `equal`."""


@dataclass(frozen=True)
class _Column:
    """A head, what stands in a row, and what beneath the rows."""

    head: str
    cell: Callable[[Row], str]
    total: str


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

    def _sum(self, values: Iterable[float]) -> float:
        return round(math.fsum(values), self.digits)

    def __str__(self) -> str:
        """The table, as `homenode explain` prints it."""
        return self.grid().text()

    def _repr_html_(self) -> str:
        """What a notebook shows: the table and the paragraph."""
        return self.grid().html()

    def grid(self) -> Grid:
        """The table: causes, with a total that is the sum of what is printed in each column."""
        columns = self._alone() if self.base is None else self._difference()
        return Grid(
            self.title,
            ("cause", *(column.head for column in columns)),
            [(row.label, *(column.cell(row) for column in columns)) for row in self.rows],
            ("total", *(column.total for column in columns)),
            (self.paragraph,),
        )

    @property
    def title(self) -> str:
        """What is explained."""
        what = "cores" if self.measure.name == "cores" else "cycles of an instruction"
        text = f"Where the {what} of {self.breakdown.partition} went ({self.breakdown.run})"
        if self.base is not None:
            text += f", against {self.base.partition} ({self.base.run})"
        return text

    def _alone(self) -> list[_Column]:
        digits, measure = self.digits, self.measure
        used = round(math.fsum(row.share_pct for row in self.rows), 1)
        return [
            _Column(
                measure.name, lambda row: number(row.value, digits), number(self.total, digits)
            ),
            _Column(
                "share", lambda row: f"{row.share_pct:.1f} %", f"{used:.1f} %" if used else NOTHING
            ),
            _Column(
                measure.price_title(self.breakdown),
                lambda row: number(row.price, measure.price_digits),
                number(self.price, measure.price_digits),
            ),
        ]

    def _difference(self) -> list[_Column]:
        digits, measure = self.digits, self.measure
        mine, theirs = self._names()
        columns = [
            _Column(theirs, lambda row: number(row.base, digits), number(self.base_total, digits)),
            _Column(mine, lambda row: number(row.value, digits), number(self.total, digits)),
            _Column(
                "difference",
                lambda row: signed(row.difference, digits),
                signed(self.difference, digits),
            ),
            _Column(
                measure.price_title(self.breakdown),
                lambda row: signed(row.price, measure.price_digits),
                signed(self.price, measure.price_digits),
            ),
        ]
        if self.is_scaled:
            equal = _Column(
                "at equal work",
                lambda row: number(row.equal, digits),
                number(self.equal_total, digits),
            )
            columns.insert(1, equal)
        return columns

    def _names(self) -> tuple[str, str]:
        """Of the partition and of its base, told apart."""
        mine = self.breakdown.partition
        theirs = self.base.partition if self.base is not None else ""
        return mine, theirs if theirs != mine else f"{theirs} base"

    def frame(self) -> pl.DataFrame:
        """The rows as a polars frame."""
        import polars as pl

        return pl.DataFrame(self._rows_json(), infer_schema_length=None)

    def as_json(self) -> dict[str, object]:
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

    def _rows_json(self) -> list[dict[str, object]]:
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


def _work_json(books: Breakdown) -> dict[str, object] | None:
    work = books.work
    return None if work is None else {"unit": work.unit, "per_s": work.rate_per_s}
