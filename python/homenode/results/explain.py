"""Where the cores went, in a table that adds up to its last digit and a paragraph in plain words.

For one partition, or for the difference of two. All text is put together from the figures at hand.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from homenode.results.books import CAUSES, FAMILIES, LABELS, Breakdown
from homenode.results.remedies import remedy
from homenode.results.run import Run
from homenode.results.sharing import difference as sharing_difference
from homenode.results.sharing import sharing_differs
from homenode.results.situation import Situation
from homenode.results.stats import rounded_to_sum

if TYPE_CHECKING:
    import polars as pl

DIGITS = 2
"""Digits of cores that are printed."""
_NOT_AVOIDABLE = ("work", "caches", "coherence", "memory")
_SAME_RATE = 0.01
_HALF_DIGIT = 0.5 * 10**-DIGITS
_FAMILY_PHRASES = {
    "work": "the instructions themselves",
    "caches": "the core's own caches",
    "coherence": "lines other cores of the chip have changed",
    "memory": "memory beside its own chip",
    "distance": "distance, that is lines fetched from farther away",
    "reload": "cache reload after a switch",
    "smt": "threads sharing a core",
    "tick": "the guest's clock tick",
    "spin": "spinning on locks",
    "guest_idle": "idle threads holding a core",
    "hypervisor": "the hypervisor",
}

_SHARING_NOTE = (
    "The table shows this at every cause, useful work among them: each of the threads on a core "
    "books its part of the core's time."
)


@dataclass(frozen=True)
class Row:
    """One cause. Cores are rounded so that each column adds up to its printed total."""

    cause: str
    cores: float
    share: float
    per_transaction_us: float | None
    base_cores: float | None = None
    difference: float | None = None

    @property
    def label(self) -> str:
        """What to call the cause."""
        return LABELS[self.cause]


@dataclass(frozen=True)
class Explanation:
    """A partition's cores by cause, alone or against a base."""

    breakdown: Breakdown
    base: Breakdown | None
    rows: list[Row]
    paragraph: str
    digits: int = field(default=DIGITS)

    @property
    def total(self) -> float:
        """Sum of the printed cores."""
        return round(math.fsum(row.cores for row in self.rows), self.digits)

    @property
    def base_total(self) -> float | None:
        """Sum of the printed cores of the base."""
        if self.base is None:
            return None
        return round(math.fsum(row.base_cores or 0.0 for row in self.rows), self.digits)

    @property
    def difference(self) -> float | None:
        """Sum of the printed differences."""
        if self.base is None:
            return None
        return round(math.fsum(row.difference or 0.0 for row in self.rows), self.digits)

    def frame(self) -> pl.DataFrame:
        """The rows as a polars frame."""
        import polars as pl

        return pl.DataFrame([{**asdict(row), "label": row.label} for row in self.rows])

    def as_json(self) -> dict[str, Any]:
        """What `homenode explain --json` prints."""
        return {
            "run": self.breakdown.run,
            "partition": self.breakdown.partition,
            "base": None
            if self.base is None
            else {"run": self.base.run, "partition": self.base.partition},
            "steady": {"reason": self.breakdown.reason},
            "rows": [
                {
                    "cause": row.cause,
                    "label": row.label,
                    "cores": row.cores,
                    "share": row.share,
                    "per_transaction_us": row.per_transaction_us,
                    "base_cores": row.base_cores,
                    "difference": row.difference,
                }
                for row in self.rows
            ],
            "total": {
                "cores": self.total,
                "base_cores": self.base_total,
                "difference": self.difference,
            },
            "paragraph": self.paragraph,
        }


def explain(
    run: Run,
    partition: str | None = None,
    base: Run | None = None,
    base_partition: str | None = None,
) -> Explanation:
    """Where a partition's cores went; with a base (a run, or another partition of the same), what
    it pays more.
    """
    at = Situation(run, run.partition(partition))
    books = run.breakdown(at.partition)
    if base is None and base_partition is None:
        rows = _rows(books, None)
        return Explanation(books, None, rows, _tell_one(at, books, rows))
    base = run if base is None else base
    base_books = base.breakdown(base_partition)
    rows = _rows(books, base_books)
    return Explanation(books, base_books, rows, _tell_difference(at, books, base_books, rows))


def _rows(books: Breakdown, base: Breakdown | None) -> list[Row]:
    cores = rounded_to_sum(books.cores, DIGITS)
    base_cores = None if base is None else rounded_to_sum(base.cores, DIGITS)
    return [
        Row(
            cause=cause.name,
            cores=cores[cause.name],
            share=books.share(cause.name),
            per_transaction_us=books.per_transaction_us(cause.name),
            base_cores=None if base_cores is None else base_cores[cause.name],
            # The difference of the printed columns, so that rows and totals agree digit by digit.
            difference=None
            if base_cores is None
            else round(cores[cause.name] - base_cores[cause.name], DIGITS),
        )
        for cause in CAUSES
    ]


def _tell_one(at: Situation, books: Breakdown, rows: list[Row]) -> str:
    useful = books.share("useful")
    used = _cores(math.fsum(row.cores for row in rows))
    sentences = [f"{at.partition} uses {used}{_rate(books)}; {_pct(useful)} of it is useful work."]
    families = _by_family({row.cause: row.cores for row in rows})
    avoidable = [
        (cores, family) for cores, family in families if family not in _NOT_AVOIDABLE and cores > 0
    ]
    fixed = [
        (cores, family) for cores, family in families if family in _NOT_AVOIDABLE[1:] and cores > 0
    ]
    if avoidable:
        cores, family = avoidable[0]
        parts = _parts(family, {row.cause: row.cores for row in rows})
        sentences.append(
            f"Of what the layout decides, the largest part is {_FAMILY_PHRASES[family]}: "
            f"{_cores(cores)}{parts}."
        )
        sentences.append(remedy(family, at))
    if fixed:
        told = ", ".join(f"{_FAMILY_PHRASES[family]} {cores:.{DIGITS}f}" for cores, family in fixed)
        sentences.append(f"The work would pay elsewhere too: {told} cores.")
    return _with_steadiness(books, " ".join(sentences))


def _tell_difference(at: Situation, books: Breakdown, base: Breakdown, rows: list[Row]) -> str:
    name, other = _names(books, base)
    mine = math.fsum(row.cores for row in rows)
    theirs = math.fsum(row.base_cores or 0.0 for row in rows)
    work, factor = _work(books, base)
    verdict = _verdict(mine - theirs, theirs)
    sentences = [f"{name} uses {_cores(mine)}, {other} {theirs:.{DIGITS}f}: {verdict}{work}."]
    extra = {row.cause: row.difference or 0.0 for row in rows}
    phrases, note = _FAMILY_PHRASES, []
    if factor != 1.0:
        extra = {cause: books.cores[cause] - factor * base.cores[cause] for cause in books.cores}
        equal = _verdict(math.fsum(extra.values()), factor * theirs)
        sentences.append(f"At equal work that would be {equal}.")
    if sharing_differs(books, base):
        extra = sharing_difference(books, base, factor)
        phrases = {**phrases, "smt": _sharing_phrase(books, base)}
        note = [_SHARING_NOTE]
    families = [(cores, family) for cores, family in _by_family(extra) if cores >= _HALF_DIGIT]
    if math.fsum(extra.values()) < -_HALF_DIGIT or not families:
        sentences += [_saving(extra, phrases), *note]
        return _with_steadiness(books, " ".join(sentences))
    cores, family = families[0]
    told = [f"{phrases[family]}, {_cores(cores)}{_parts(family, extra)}"]
    told += [f"{phrases[f]} ({c:.{DIGITS}f})" for c, f in families[1:3]]
    sentences += [f"The largest part is {'; then '.join(told)}.", *note]
    cause = next((f for _, f in families if f not in _NOT_AVOIDABLE), family)
    spread = cause == "smt" and (books.busy_threads or 0.0) < (base.busy_threads or 0.0)
    sentences.append(remedy("spread" if spread else cause, at))
    return _with_steadiness(books, " ".join(sentences))


def _sharing_phrase(books: Breakdown, base: Breakdown) -> str:
    mine, theirs = books.busy_threads or 0.0, base.busy_threads or 0.0
    return f"that {mine:.1f} busy threads share a core in place of {theirs:.1f}"


def _verdict(difference: float, base: float) -> str:
    """`1.94 cores more (22 %)`."""
    if abs(difference) < _HALF_DIGIT:
        return "as many"
    percent = f" ({100 * abs(difference) / base:.0f} %)" if base > 0 else ""
    return f"{_cores(abs(difference))} {'more' if difference > 0 else 'less'}{percent}"


def _saving(extra: dict[str, float], phrases: dict[str, str]) -> str:
    """What takes fewer cores, largest first."""
    saved = [(-cores, f) for cores, f in reversed(_by_family(extra)) if -cores >= _HALF_DIGIT]
    if not saved:
        return "No cause differs by as much as is printed."
    told = "; then ".join(f"{phrases[f]} ({cores:.{DIGITS}f})" for cores, f in saved[:3])
    return f"The largest part of the saving is {told}."


def _names(books: Breakdown, base: Breakdown) -> tuple[str, str]:
    """The partitions' names; with the runs where the names alone would not tell them apart."""
    if books.partition != base.partition:
        return books.partition, base.partition
    return f"{books.partition} of {books.run}", f"that of {base.run}"


def _work(books: Breakdown, base: Breakdown) -> tuple[str, float]:
    """How the work compares, in words and as a factor on the base's cores."""
    mine, theirs = books.transactions_per_s, base.transactions_per_s
    if not mine or not theirs:
        return "", 1.0
    factor = mine / theirs
    if abs(factor - 1.0) <= _SAME_RATE:
        return f" for the same {mine:,.0f} transactions a second", 1.0
    return (
        f", while it does {mine:,.0f} transactions a second against {theirs:,.0f}",
        factor,
    )


def _by_family(cores: dict[str, float]) -> list[tuple[float, str]]:
    """Families with what they take, largest first; ties in the order of the causes."""
    sums: dict[str, float] = {}
    for cause, value in cores.items():
        sums[FAMILIES[cause]] = sums.get(FAMILIES[cause], 0.0) + value
    return sorted(((value, family) for family, value in sums.items()), key=lambda pair: -pair[0])


def _parts(family: str, cores: dict[str, float]) -> str:
    """The causes of a family, if several matter; signed where some take and others give."""
    there = [
        (value, cause)
        for cause, value in cores.items()
        if FAMILIES[cause] == family and abs(value) >= _HALF_DIGIT
    ]
    if len(there) < 2:
        return ""
    sign = "+" if any(value < 0 for value, _ in there) else ""
    told = ", ".join(
        f"{LABELS[cause]} {value:{sign}.{DIGITS}f}" for value, cause in sorted(there, reverse=True)
    )
    return f" ({told})"


def _with_steadiness(books: Breakdown, text: str) -> str:
    if books.reason is None:
        return text
    return (
        f"There is no steady state: {books.reason}. The figures are of the time that was "
        "simulated, "
        f"not of a lasting state. {text}"
    )


def _rate(books: Breakdown) -> str:
    rate = books.transactions_per_s
    return (
        f" for {rate:,.0f} transactions a second ({books.total / rate * 1e3:.2f} core-ms each)"
        if rate
        else ""
    )


def _cores(cores: float) -> str:
    return f"{cores:.{DIGITS}f} cores"


def _pct(share: float) -> str:
    return f"{100 * share:.0f} %"
