"""What an explanation counts in: cores, or cycles of an instruction.

Cores are what a partition pays. They compare two partitions only at equal work: a closed load uses
all its cores wherever it is put and gets less done. So a base is scaled to the work of the other
first. Cycles of an instruction are a price of work already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from homenode.errors import HomenodeError
from homenode.simulate.kept.books import Breakdown

SAME_RATE = 0.01
"""Difference of two rates of arrival that is taken for chance."""


@dataclass(frozen=True)
class Measure:
    """What the rows of an explanation hold."""

    name: str
    """The word after `--by`."""
    title: str
    """What is counted, in words."""
    unit: str
    """The word behind a number."""
    values: Callable[[Breakdown], dict[str, float]]
    """By cause."""
    digits: Callable[[float], int]
    """Digits that are printed of rows with a total."""
    factor: Callable[[Breakdown, Breakdown], float]
    """By how much a base is scaled to do the same work; 1 where it does."""
    price_title: Callable[[Breakdown], str]
    """What a unit of work costs, as the head of a column."""
    price: Callable[[Breakdown], float | None]
    """Factor from a value to the cost of a unit of work; None where there is no such unit."""
    price_digits: int
    """Digits that are printed of it."""


def _core_digits(total: float) -> int:
    """Two; more where a partition uses less than a core."""
    return 2 if total >= 1.0 or total <= 0.0 else 3 if total >= 0.1 else 4


def _cycles(books: Breakdown) -> dict[str, float]:
    cycles = books.cycles
    if cycles is None:
        raise HomenodeError(
            f"{books.partition} of run {books.run} has done no instruction that could be divided "
            "by cause",
            next_step="explain its cores (--by cores)",
        )
    return cycles


def work_ratio(books: Breakdown, base: Breakdown) -> float | None:
    """Work of the one by that of the other, 1 where they do the same; None where they cannot be
    compared.

    What arrives at the same rate is the same work, and a small difference chance. What a closed
    load gets done is its speed, and counts as it is.
    """
    mine, theirs = books.work, base.work
    if mine is None or theirs is None or mine.unit != theirs.unit:
        return None
    ratio = mine.rate_per_s / theirs.rate_per_s
    closed = mine.closed or theirs.closed
    return ratio if closed or abs(ratio - 1.0) > SAME_RATE else 1.0


MEASURES = {
    "cores": Measure(
        name="cores",
        title="cores",
        unit="cores",
        values=lambda books: books.cores,
        digits=_core_digits,
        factor=lambda books, base: work_ratio(books, base) or 1.0,
        price_title=lambda books: f"us/{'tx' if books.work is None else books.work.short}",
        price=lambda books: None if books.work is None else 1e6 / books.work.rate_per_s,
        price_digits=1,
    ),
    "cpi": Measure(
        name="cpi",
        title="cycles an instruction",
        unit="cycles",
        values=_cycles,
        digits=lambda _total: 3,
        # The price of an instruction compares as it is.
        factor=lambda _books, _base: 1.0,
        price_title=lambda _books: "ns",
        price=lambda books: 1e9 / books.clock_hz if books.clock_hz > 0 else None,
        price_digits=3,
    ),
}
"""By the word after `--by`."""
