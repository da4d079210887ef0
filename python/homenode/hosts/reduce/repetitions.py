"""Repetitions gathered into cells: the records of one system, one case, one number of processors
and one load, which are alike but for chance.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from homenode.errors import listed
from homenode.hosts.errors import MeasureError
from homenode.hosts.record import Better, RunRecord
from homenode.hosts.reduce import identities
from homenode.hosts.reduce.sane import refuse_senseless
from homenode.hosts.statistics import Spread, log_mean, slope_of_rest, spread, warm_up
from homenode.hosts.statistics.samples import exponential
from homenode.model.estimate import mean_of

WARM_UP_SHIFT = 0.01
"""By which a warm-up may move a run's figure; more is told (assumed)."""
SLOPE = 0.05
"""Of a run's last third; more is not steady (assumed)."""


class Key(NamedTuple):
    """What the runs of a cell have in common."""

    system: str
    case: str
    processors: int
    load: float

    @property
    def area(self) -> str:
        """The adapter, the part of the case before the stroke."""
        return area_of(self.case)


def area_of(case: str) -> str:
    """The adapter of a case: `sysbench` of `sysbench/read-only`."""
    return case.partition("/")[0]


@dataclass(frozen=True)
class Cell:
    """Runs of one kind."""

    key: Key
    runs: tuple[RunRecord, ...]
    """Those that count, in the order in which they were made."""
    rejected: tuple[RunRecord, ...] = ()

    @property
    def unit(self) -> str:
        """Of the score."""
        return self._any.unit

    @property
    def metric(self) -> str:
        """What work is counted in."""
        return self._any.metric

    @property
    def better(self) -> Better:
        """Direction of the score."""
        return self._any.better

    @property
    def _any(self) -> RunRecord:
        return (self.runs or self.rejected)[0]

    def values(self, figure: Callable[[RunRecord], float | None]) -> list[float]:
        """A figure of each run that has it."""
        found = (figure(run) for run in self.runs)
        return [value for value in found if value is not None]

    def spread_of(self, figure: Callable[[RunRecord], float | None]) -> Spread | None:
        """Middle and spread of a figure; None unless every run has it."""
        values = self.values(figure)
        if len(values) != len(self.runs) or any(not value > 0.0 for value in values):
            return None
        return spread(values)

    @property
    def score(self) -> Spread | None:
        """The case's own figure."""
        return self.spread_of(lambda run: run.score)

    @property
    def busy(self) -> float | None:
        """Share of the processors in use [0..1]; None unless every run has it. The geometric mean,
        as those of ETR and ITR, so that `ITR = ETR / busy` holds of the means too.
        """
        values = self.values(identities.busy)
        if not values or len(values) != len(self.runs):
            return None
        return exponential(log_mean(values)) if min(values) > 0.0 else 0.0

    @property
    def unknown_cpu(self) -> int:
        """Runs whose processor time is not known."""
        return sum(run.cpu is None for run in self.runs)

    @property
    def cpu_shares(self) -> dict[str, float]:
        """Parts of the processor time by the kernel's account [ratio]: `user`, `system`, and by who
        used it (`server`, `client`, ...) where a case has several; those that every run tells.
        """
        known = [run.cpu for run in self.runs if run.cpu is not None]
        total = math.fsum(one.total for one in known)
        if not known or not total > 0.0:
            return {}
        parts: dict[str, list[float | None]] = {
            "user": [one.user for one in known],
            "system": [one.system for one in known],
        }
        roles = dict.fromkeys(role for one in known for role in one.by_role)
        parts |= {role: [one.by_role.get(role, 0.0) for one in known] for role in roles}
        return {
            name: math.fsum(v for v in values if v is not None) / total
            for name, values in parts.items()
            if None not in values
        }

    @property
    def reasons(self) -> Mapping[str, int]:
        """Why runs were rejected, and how many."""
        return Counter(run.rejected or "" for run in self.rejected)

    @property
    def unsettled(self) -> int:
        """Runs whose own series says that they were still warming up."""
        return sum(not _settled(run) for run in self.runs)

    @property
    def warm_up_shift(self) -> float | None:
        """By how much the runs' own seconds are higher once their warm-up is left out (MSER-5)
        [ratio less one]; None where no run's series is long enough to tell.
        """
        found = [(run.series, warm_up(run.series)) for run in self.runs]
        means = [(mean_of(series), rest.mean) for series, rest in found if rest is not None]
        whole, rest = (math.fsum(one[i] for one in means) for i in (0, 1))
        return rest / whole - 1.0 if whole > 0.0 else None

    def mean_of(self, values: Callable[[RunRecord], float | None]) -> float | None:
        """Plain mean over the runs that have it."""
        found = self.values(values)
        return mean_of(found) if found else None

    def latency(self, name: str) -> float | None:
        """Mean over the runs of a latency that the tool tells [ms]."""
        return self.mean_of(lambda run: run.latency_ms.get(name))

    def as_json(self) -> dict[str, object]:
        """A row of `--json`."""
        score = self.score
        return {
            **self.key._asdict(),
            "metric": self.metric,
            "unit": self.unit,
            "better": self.better,
            "runs": len(self.runs),
            "rejected": dict(self.reasons),
            "unsettled": self.unsettled,
            "warm_up_shift_pct": _scaled(self.warm_up_shift, 100.0),
            "cpu_unknown": self.unknown_cpu,
            "score": None if score is None else _spread_json(score),
            "scores": self.values(lambda run: run.score),
            "scores_rejected": [run.score for run in self.rejected],
            "etr_per_s": _middle(self.spread_of(identities.etr)),
            "busy_pct": None if self.busy is None else 100.0 * self.busy,
            "itr_per_s": _middle(self.spread_of(identities.itr)),
            "cpu_per_unit_us": _scaled(_middle(self.spread_of(identities.cpu_per_unit)), 1e6),
            "cpu_shares": self.cpu_shares,
            "instructions_per_unit": _middle(self.spread_of(identities.instructions_per_unit)),
            "nvcsw_per_s": self.mean_of(identities.voluntary_switches_per_s),
            "nivcsw_per_s": self.mean_of(identities.involuntary_switches_per_s),
            "run_delay_cores": self.mean_of(identities.run_delay_cores),
            "latency_ms": {name: self.latency(name) for name in self._latencies()},
            "foreign_pct_max": 100.0 * max((run.foreign for run in self.runs), default=0.0),
            "steal_pct_max": 100.0 * max((run.steal for run in self.runs), default=0.0),
        }

    def _latencies(self) -> list[str]:
        return list(dict.fromkeys(name for run in self.runs for name in run.latency_ms))


def _settled(run: RunRecord) -> bool:
    found = warm_up(run.series)
    if found is None:
        return True
    return found.settled and abs(slope_of_rest(run.series)) <= SLOPE


def _middle(found: Spread | None) -> float | None:
    return None if found is None else found.mean


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _spread_json(found: Spread) -> dict[str, float | None]:
    return {
        "mean": found.mean,
        "cv_pct": _scaled(found.cv, 100.0),
        "low": found.low,
        "high": found.high,
    }


def cells_of(records: Iterable[RunRecord]) -> list[Cell]:
    """Every cell, in the order in which its case first appears; runs by their order."""
    gathered: dict[Key, list[RunRecord]] = {}
    for record in sorted(records, key=lambda one: one.order):
        refuse_senseless(record)
        key = Key(record.system, record.case, record.processors, record.load)
        gathered.setdefault(key, []).append(record)
    cells = []
    for key, runs in gathered.items():
        _alike(key, runs)
        good = tuple(run for run in runs if run.rejected is None)
        cells.append(Cell(key, good, tuple(run for run in runs if run.rejected is not None)))
    return cells


def _alike(key: Key, runs: Sequence[RunRecord]) -> None:
    """Refuse runs of one case that do not measure the same."""
    for name in ("metric", "unit", "better"):
        there = {str(getattr(run, name)) for run in runs}
        if len(there) > 1:
            raise MeasureError(
                f"runs of {key.case} on {key.system} differ in their {name}: {listed(there)}",
                next_step="measure the case again in one session",
            )


def systems_of(records: Iterable[RunRecord]) -> list[str]:
    """Names of the systems, in the order in which they were first measured."""
    return list(dict.fromkeys(r.system for r in sorted(records, key=lambda one: one.order)))
