"""A comparison: pairs case by case, geometric means by area, and what it leaves open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from homenode.hosts.comparison.claim import Claim, claim_of
from homenode.hosts.record import RunRecord
from homenode.hosts.reduce import Pair
from homenode.hosts.reduce.identities import cpu_per_unit, speed
from homenode.hosts.statistics import ALPHA, GeometricMean, geometric_mean, holm


@dataclass(frozen=True)
class Area:
    """A row of the summary: the cases of one adapter."""

    name: str
    pairs: tuple[Pair, ...]

    @cached_property
    def speed(self) -> GeometricMean:
        """Over its cases."""
        return mean_speed(self.pairs)

    @property
    def range_pct(self) -> tuple[float, float]:
        """Smallest and largest deviation of its cases."""
        found = [pair.deviation_pct for pair in self.pairs]
        return min(found), max(found)

    @property
    def saving_range_pct(self) -> tuple[float, float] | None:
        """Smallest and largest saving of the cases whose busy matches; None if there is none."""
        found = [p.saving_pct for p in self.pairs if p.matched and p.saving_pct is not None]
        return (min(found), max(found)) if found else None

    @property
    def undecided(self) -> int:
        """Cases of which nothing can be said."""
        return sum(pair.verdict == "undecided" for pair in self.pairs)

    def as_json(self) -> dict[str, object]:
        """A row of `--json`."""
        return {
            "area": self.name,
            "speed": self.speed.as_json(),
            "deviation_pct": list(self.range_pct),
            "saving_pct": None if self.saving_range_pct is None else list(self.saving_range_pct),
            "cases": len(self.pairs),
            "undecided": self.undecided,
        }


@dataclass(frozen=True)
class Comparison:
    """`second` against `first`."""

    first: str
    second: str
    pairs: tuple[Pair, ...]
    paired: bool
    """Whether the runs were made in turn."""
    titles: Mapping[str, str]
    """By case."""
    floors_from: str
    """Where the noise floors are from, in words."""
    claim_pct: float | None = None
    hosts_differ: tuple[str, ...] = ()
    """What of the hosts differs."""
    missing: tuple[str, ...] = ()
    """Cases that only one of them has, or without a run that counts; each with the reason."""
    rejected: Mapping[str, Mapping[str, int]] | None = None
    """By system, why repetitions were rejected and how many."""
    sides: Mapping[str, str] = field(default_factory=dict)
    """By system, what was set for it, in the words in which it was asked for; of settings only."""
    notes: tuple[str, ...] = ()
    """What of the sessions makes the answer doubtful: ended early, repetitions that failed."""

    @property
    def sides_alike(self) -> bool:
        """Whether both sides were set alike, and so what differs is noise."""
        return bool(self.sides) and len(set(self.sides.values())) == 1

    @cached_property
    def areas(self) -> list[Area]:
        """The summary, an adapter a row, in the order of the suite."""
        names = dict.fromkeys(pair.first.key.area for pair in self.pairs)
        return [
            Area(name, tuple(p for p in self.pairs if p.first.key.area == name)) for name in names
        ]

    @cached_property
    def speed(self) -> GeometricMean:
        """Over all cases."""
        return mean_speed(self.pairs)

    @cached_property
    def saving(self) -> GeometricMean | None:
        """Processor time of a unit over the cases whose busy matches; None if there is none."""
        matched = [pair for pair in self.pairs if pair.matched and pair.cpu is not None]
        return mean_of(matched, cpu_per_unit) if matched else None

    @property
    def tested(self) -> int:
        """Cases with runs enough for a rank test."""
        return sum(pair.speed.p is not None for pair in self.pairs)

    @property
    def false_calls(self) -> float:
        """Cases that chance alone calls at most, on average, if all of them are alike."""
        return ALPHA * self.tested

    @cached_property
    def lone(self) -> tuple[bool, ...]:
        """By case, whether it was called faster or slower by a test that stands alone, but not
        among so many as these (Holm).
        """
        kept = iter(holm([pair.speed.p for pair in self.pairs if pair.speed.p is not None]))
        stands = [pair.speed.p is not None and next(kept) for pair in self.pairs]
        return tuple(
            pair.verdict != "undecided" and not stood
            for pair, stood in zip(self.pairs, stands, strict=True)
        )

    @property
    def floor(self) -> float | None:
        """Of the mean over all cases: the mean of theirs, since a session moves them together
        [ratio less one]; None where a case has none.
        """
        found = [pair.floor for pair in self.pairs if pair.floor is not None]
        if not found or len(found) != len(self.pairs):
            return None
        return sum(found) / len(found)

    @property
    def claim(self) -> Claim | None:
        """What was claimed of the mean over all cases."""
        if self.claim_pct is None:
            return None
        mean = self.speed
        return claim_of(self.claim_pct, mean.mean, mean.low, mean.high, self.floor)

    def claims(self) -> list[tuple[Pair, Claim]]:
        """The same case by case."""
        if self.claim_pct is None:
            return []
        pct = self.claim_pct
        return [
            (p, claim_of(pct, p.speed.mean, p.speed.low, p.speed.high, p.floor)) for p in self.pairs
        ]

    def as_json(self) -> dict[str, object]:
        """What `--json` prints."""
        return {
            "first": self.first,
            "second": self.second,
            "paired": self.paired,
            "speed": self.speed.as_json(),
            "cpu_per_unit": None if self.saving is None else self.saving.as_json(),
            "floor_pct": None if self.floor is None else 100.0 * self.floor,
            "floors_from": self.floors_from,
            "claim": None if self.claim is None else self.claim.as_json(),
            "areas": [area.as_json() for area in self.areas],
            "cases": self._cases_json(),
            "false_calls_expected": self.false_calls,
            "hosts_differ": list(self.hosts_differ),
            "missing": list(self.missing),
            "sides": dict(self.sides),
            "notes": list(self.notes),
            "rejected": {name: dict(why) for name, why in (self.rejected or {}).items()},
        }

    def _cases_json(self) -> list[dict[str, object]]:
        rows = [
            {**pair.as_json(), "may_be_chance": lone}
            for pair, lone in zip(self.pairs, self.lone, strict=True)
        ]
        claims = [{"claim": claim.verdict} for _, claim in self.claims()] or [{}] * len(rows)
        return [row | claim for row, claim in zip(rows, claims, strict=True)]


def mean_speed(pairs: Sequence[Pair]) -> GeometricMean:
    """Geometric mean over cases of what the second does by what the first does; of a single case
    its own ratio, whose interval a bootstrap of few runs would make too narrow.
    """
    if len(pairs) == 1:
        only = pairs[0].speed
        return GeometricMean(only.mean, only.low, only.high, 1)
    return mean_of(pairs, speed)


def mean_of(pairs: Iterable[Pair], figure: Callable[[RunRecord], float | None]) -> GeometricMean:
    """Geometric mean over cases of a figure of the second by that of the first."""
    pairs = list(pairs)
    samples: Sequence[tuple[list[float], list[float]]] = [
        (pair.first.values(figure), pair.second.values(figure)) for pair in pairs
    ]
    return geometric_mean(samples, paired=all(pair.speed.paired for pair in pairs))
