"""Records made up for tests: what they hold is said where they are made."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from homenode.hosts.record import CpuTime, RunRecord
from homenode.hosts.result import Result


def record(**given: Any) -> RunRecord:
    """2 s on 2 processors, 1,000 units, 3.8 processor seconds."""
    plain = RunRecord(
        system="old",
        case="fio/read",
        metric="reads",
        better="higher",
        processors=2,
        load=1.0,
        replicate=0,
        order=0,
        work=1000.0,
        seconds=2.0,
        score=500.0,
        unit="1/s",
        cpu=CpuTime(total=3.8),
    )
    return replace(plain, **given)


def runs(rates: Sequence[float], *, busy: float = 0.95, **given: Any) -> list[RunRecord]:
    """One record a rate [1/s], in order, all as busy."""
    made = record(**given)
    return [
        replace(
            made,
            replicate=i,
            order=i,
            work=rate * made.seconds,
            score=rate,
            cpu=CpuTime(total=busy * made.seconds * made.processors),
        )
        for i, rate in enumerate(rates)
    ]


def noisy(seed: int, middle: float, cv: float, count: int) -> list[float]:
    """A lognormal sample."""
    chance = random.Random(seed)
    return [middle * chance.lognormvariate(0.0, cv) for _ in range(count)]


def result(records: Sequence[RunRecord], **given: Any) -> Result:
    """A result file of such records, all alike otherwise."""
    cases = {
        one.case: {
            "title": f"title of {one.case}",
            "metric": one.metric,
            "unit": one.unit,
            "better": one.better,
            "seconds": one.seconds,
        }
        for one in records
    }
    fields: dict[str, Any] = {
        "suite": {"name": "made", "title": "Made", "sha256": "0"},
        "settings": {"gate": {"foreign": 0.03}, "repeats": 8},
        "systems": {one.system: {} for one in records},
        "cases": cases,
        "versions": {"fio": "3.33", "kernels": "1"},
        "environment": {"kernel": {"release": "6.18"}},
        "records": list(records),
    }
    return Result(**(fields | given))
