"""Two systems in one case: deviation of what they do, saving of processor time, and whether the two
fit each other.

Deviation % = 100 (new / old - 1), of the score in the direction in which more is better; saving % =
100 (1 - new / old) of the processor time of a unit. Both hold together only through busy: `(1 +
deviation) (1 - saving)` is the ratio of the processors in use. Where measured use says otherwise,
score and counted work do not measure the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from homenode.hosts.record import RunRecord
from homenode.hosts.reduce import identities
from homenode.hosts.reduce.repetitions import Cell
from homenode.hosts.reduce.response import Response, response_of
from homenode.hosts.statistics import (
    Ratio,
    cv,
    fewest_runs,
    noise_floor,
    ratio_of_pairs,
    ratio_of_samples,
    runs_needed,
)

MATCHED_POINTS = 5.0
"""Busy of two systems may differ so much [points of per cent] for their processor times to be
compared: on a Linux guest a transaction costs up to 1.8 times as much at half busy, since idle ends
and processors wake each other."""
CONTRADICTION = 0.05
"""Share by which implied and measured use of processors may differ (assumed)."""
SAME_PATH = 0.01
"""Share by which instructions of a unit may differ; more is another build or path, since user-mode
counts repeat to less than 0.1 % (assumed)."""

WORK_SUMS = ("product_sha256", "answers")
"""Details of a run that are a sum over what it made: equal work has equal ones."""

Verdict = Literal["better", "worse", "undecided"]


@dataclass(frozen=True)
class Pair:
    """A case on both systems; `first` is what is compared with."""

    first: Cell
    second: Cell
    speed: Ratio
    """Of what each does, more is better."""
    cpu: Ratio | None
    """Of the processor time of a unit; None where not known."""
    floor: float | None
    """What a system deviates from itself [ratio less one]; None where too few runs tell."""
    work: float
    """Ratio of the rates of counted work."""
    used: float | None
    """Ratio of the processors in use, as measured [processors]."""
    dropped: int = 0
    """Runs without a partner in their pair."""
    response: Response | None = None
    """Of the response times; None where the tool tells none."""

    @property
    def deviation_pct(self) -> float:
        """Of what is done; above 0 is better."""
        return 100.0 * (self.speed.mean - 1.0)

    @property
    def saving_pct(self) -> float | None:
        """Of processor time of a unit; above 0 is less."""
        return None if self.cpu is None else 100.0 * (1.0 - self.cpu.mean)

    @property
    def implied_use(self) -> float | None:
        """Ratio of the processors in use that deviation and saving assert together."""
        if self.cpu is None:
            return None
        return identities.implied_busy_ratio(self.speed.mean - 1.0, 1.0 - self.cpu.mean)

    @property
    def contradicts(self) -> bool:
        """Whether deviation and saving assert another use of processors than was measured."""
        if self.implied_use is None or self.used is None:
            return False
        return abs(math.log(self.implied_use / self.used)) > CONTRADICTION

    @property
    def matched(self) -> bool:
        """Whether both were about as busy, so that processor times compare."""
        a, b = self.first.busy, self.second.busy
        return a is not None and b is not None and abs(100.0 * (a - b)) <= MATCHED_POINTS

    @property
    def same_path(self) -> bool | None:
        """Whether a unit took as many instructions on both; None where not counted."""
        means = [
            cell.spread_of(identities.instructions_per_unit) for cell in (self.first, self.second)
        ]
        if means[0] is None or means[1] is None:
            return None
        return abs(math.log(means[1].mean / means[0].mean)) <= SAME_PATH

    @property
    def same_work(self) -> bool | None:
        """Whether both made the same, by the sums that their tool or adapter tells; None where it
        tells none.
        """
        sums = [_work_sums(cell) for cell in (self.first, self.second)]
        return None if not all(sums) else sums[0] == sums[1]

    @property
    def within_floor(self) -> bool:
        """Whether a system deviates as much from itself."""
        return self.floor is not None and abs(math.log(self.speed.mean)) <= math.log1p(self.floor)

    @property
    def verdict(self) -> Verdict:
        """By rank test and noise floor; "undecided" is an answer."""
        if not self.speed.decided or self.within_floor:
            return "undecided"
        return "better" if self.speed.hodges_lehmann > 1.0 else "worse"

    @property
    def saving_verdict(self) -> Verdict:
        """Of processor time, by the rank test, at matched busy only."""
        if self.cpu is None or not self.matched or not self.cpu.decided:
            return "undecided"
        return "better" if self.cpu.hodges_lehmann < 1.0 else "worse"

    @property
    def noise(self) -> float | None:
        """Coefficient of variation of a run, or of a pair's ratio where runs are paired."""
        a, b = (cell.values(identities.speed) for cell in (self.first, self.second))
        if self.speed.paired:
            return cv([y / x for x, y in zip(a, b, strict=True)])
        both = [cv(one) for one in (a, b)]
        known = [one for one in both if one is not None]
        return math.sqrt(math.fsum(one * one for one in known) / len(known)) if known else None

    def runs_for(self, deviation: float) -> int | None:
        """Runs a side (or pairs) that a deviation [ratio less one] takes at this noise; None where
        the noise is not known.
        """
        if self.noise is None or deviation == 0.0:
            return None
        return runs_needed(min(self.noise, 1.0), deviation, paired=self.speed.paired)

    @property
    def why(self) -> str | None:
        """Why it is undecided, in a phrase; None where it is not."""
        if self.verdict != "undecided":
            return None
        if self.speed.p is None:
            least, kind = fewest_runs(paired=self.speed.paired), "runs a side"
            return f"{least} {'pairs' if self.speed.paired else kind} at least"
        if not self.speed.decided:
            return f"p = {self.speed.p:.2f}"
        return "within the noise floor"

    def as_json(self) -> dict[str, object]:
        """A row of `--json`."""
        return {
            "case": self.first.key.case,
            "processors": [self.first.key.processors, self.second.key.processors],
            "load": self.first.key.load,
            "unit": self.first.unit,
            "better": self.first.better,
            "first": self.first.as_json(),
            "second": self.second.as_json(),
            "deviation_pct": self.deviation_pct,
            "speed": self.speed.as_json(),
            "floor_pct": None if self.floor is None else 100.0 * self.floor,
            "verdict": self.verdict,
            "why": self.why,
            "saving_pct": self.saving_pct,
            "cpu_per_unit": None if self.cpu is None else self.cpu.as_json(),
            "saving_verdict": self.saving_verdict,
            "matched_busy": self.matched,
            "implied_busy_ratio": self.implied_use,
            "measured_busy_ratio": self.used,
            "contradicts": self.contradicts,
            "same_path": self.same_path,
            "same_work": self.same_work,
            "response": None if self.response is None else self.response.as_json(),
            "dropped": self.dropped,
        }


def pair_of(first: Cell, second: Cell, *, paired: bool, floor: float | None = None) -> Pair:
    """Compare two cells that have a run each. `paired`: runs were made in turn, and runs of the
    same replicate are a pair; one whose partner was rejected is left out. `floor`: what the first
    system deviated from itself in a session of its own [ratio less one], if there was one.
    """
    before = len(first.runs) + len(second.runs)
    if paired:
        first, second = _partners(first, second)
    compare = ratio_of_pairs if paired else ratio_of_samples
    return Pair(
        first=first,
        second=second,
        speed=compare(first.values(identities.speed), second.values(identities.speed)),
        cpu=_ratio(compare, first, second, identities.cpu_per_unit),
        floor=_floor((first, second), floor, paired=paired),
        work=_quotient(first, second, identities.etr) or 1.0,
        used=_quotient(first, second, _processors_used),
        dropped=before - len(first.runs) - len(second.runs),
        response=response_of(first, second, compare, paired=paired),
    )


def _work_sums(cell: Cell) -> set[str]:
    return {
        str(run.details[name])
        for run in cell.runs
        for name in WORK_SUMS
        if run.details.get(name) is not None
    }


def _processors_used(run: RunRecord) -> float | None:
    share = identities.busy(run)
    return None if share is None else share * run.processors


def _ratio(
    compare: Callable[[Sequence[float], Sequence[float]], Ratio],
    first: Cell,
    second: Cell,
    figure: Callable[[RunRecord], float | None],
) -> Ratio | None:
    a, b = first.values(figure), second.values(figure)
    if len(a) != len(first.runs) or len(b) != len(second.runs) or not a or not b:
        return None
    return compare(a, b)


def _quotient(
    first: Cell, second: Cell, figure: Callable[[RunRecord], float | None]
) -> float | None:
    a, b = first.spread_of(figure), second.spread_of(figure)
    return None if a is None or b is None else b.mean / a.mean


def _floor(cells: Sequence[Cell], given: float | None, *, paired: bool) -> float | None:
    """The largest of what either deviates from itself within its session, and of what was given."""
    found = [noise_floor(cell.values(identities.speed), paired=paired) for cell in cells]
    known = [one for one in (*found, given) if one is not None]
    return max(known) if known else None


def _partners(first: Cell, second: Cell) -> tuple[Cell, Cell]:
    """Only runs whose replicate is there on both sides, in the order of their replicates."""
    by_replicate = [{run.replicate: run for run in cell.runs} for cell in (first, second)]
    common = sorted(by_replicate[0].keys() & by_replicate[1].keys())
    runs = [tuple(one[replicate] for replicate in common) for one in by_replicate]
    return Cell(first.key, runs[0], first.rejected), Cell(second.key, runs[1], second.rejected)
