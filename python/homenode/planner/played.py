"""Layouts of machines whose dispatcher is not solved, only simulated: Linux and Xen hosts, z/VM.

One replication of each, briefly, with the same random numbers in all: some layouts a second in
place of thousands, so few are tried.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homenode.model.spec import Spec
from homenode.planner.solver import Figures, Solver, features_of
from homenode.simulate.answers import Answer
from homenode.simulate.engine import load_engine
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.kept.summarize import replication_totals

MOST = 200
"""Layouts that are tried."""
_DURATION_NS = 4_000_000_000
"""At most so much of each, after the whole warm-up: paging sets in when memory is full."""
_NS_PER_MS = 1e6
_NONE = (0.0, np.inf, np.inf, 0.0, 0.0, 0.0)
"""Of a partition of a layout that the engine does not bring to an end."""


class Played(Solver):
    """Layouts that are simulated as a whole: what one partition has depends on all others."""

    whole = True

    def __init__(self, spec: Spec) -> None:
        self._start(spec)
        self._specs = [_brief(spec)]
        self._found: dict[int, list[tuple[float, ...]]] = {}

    def add_whole(self, spec: Spec) -> int:
        """Another layout; its number, which is that of each partition's form too."""
        for features, form in zip(self.features.of, spec["partitions"], strict=True):
            features.append(features_of(self.spec["machine"], form))
        self._specs.append(_brief(spec))
        return len(self._specs) - 1

    def solve(self, options: NDArray[np.int64]) -> Figures:
        """Figures of rows of options, which are alike for all partitions."""
        numbers = [int(row[0]) for row in options]
        new = [one for one in dict.fromkeys(numbers) if one not in self._found]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            played = pool.map(_played, (self._specs[one] for one in new))
            self._found.update(zip(new, played, strict=True))
        self.solved += len(new)
        shape = (len(numbers), len(self.spec["partitions"]), len(_NONE))
        told = np.array([self._found[one] for one in numbers], dtype=np.float64).reshape(shape)
        return Figures(*(told[:, :, at] for at in range(len(_NONE))))


def _brief(spec: Spec) -> Spec:
    """The spec with a short run after its warm-up, and no rows but the last."""
    duration = min(spec["duration_ns"], _DURATION_NS)
    short: Spec = {**spec, "duration_ns": duration, "interval_ns": duration}
    short["record_dispatches"] = False
    return short


def _played(spec: Spec) -> list[tuple[float, ...]]:
    """Of each partition what `Figures` has."""
    engine = load_engine()
    try:
        answer: Answer = json.loads(engine.simulate(json.dumps(spec), 0, lambda _: True))
    except engine.Runaway:
        return [_NONE] * len(spec["partitions"])
    return [_figures(spec, answer, index) for index in range(len(spec["partitions"]))]


def _figures(spec: Spec, answer: Answer, index: int) -> tuple[float, ...]:
    (totals,) = replication_totals(spec, [answer], index, {})
    told: dict[str, Any] = {
        name: METRICS[name].formula(totals)
        for name in ("physc", "response_ms_mean", "response_ms_p95", "etr_per_s", "far_share")
    }
    each = spec["partitions"][index]["profile"]["instructions_per_unit"]
    done = (totals["instructions"] - totals["spin_instructions"]) / totals.seconds / each
    mean, p95 = (
        np.nan if told[name] is None else told[name] * _NS_PER_MS
        for name in ("response_ms_mean", "response_ms_p95")
    )
    steady = float(answer["partitions"][index]["steady"]["is_steady"])
    rate = told["etr_per_s"] or done
    return told["physc"] or 0.0, mean, p95, rate, steady, told["far_share"] or 0.0
