"""Layouts that are known as a whole only.

On a host what one partition has hangs on control groups that it shares with others, under z/VM on
what they leave when it parks, so each layout is solved by itself (`Together`). What is not solved
is simulated (`Played`): one replication of
each, briefly, with the same random numbers in all; some layouts a second in place of thousands, so
few are tried.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homenode.model.spec import Spec
from homenode.planner.solver import (
    COLUMNS,
    NONE,
    Figures,
    Floats,
    Solver,
    features_of,
    most_of_pools,
)
from homenode.simulate.answers import Answer
from homenode.simulate.engine import load_engine
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.kept.summarize import replication_totals

DURATION_NS = 4_000_000_000
"""At most so much of each, after the whole warm-up: paging sets in when memory is full."""
_NS_PER_MS = 1e6


class Together(Solver):
    """Layouts that are solved as a whole: what one partition has depends on all others."""

    whole = True
    most: int | None = 2_000

    def __init__(self, spec: Spec) -> None:
        self._start(spec)
        self._specs = [self._as_asked(spec)]
        self._texts: dict[int, str] = {}
        """By number, the engine's input as JSON, until it is solved."""
        self._found: dict[int, list[tuple[float, ...]]] = {}
        if not self.simulates:
            self._ask(spec, json.dumps(spec))

    def add_whole(self, spec: Spec, text: str) -> int:
        """Another layout, and the same as JSON; its number, which is that of each partition's form
        too.
        """
        for features, form in zip(self.features.of, spec["partitions"], strict=True):
            features.append(features_of(self.spec["machine"], form))
        self._specs.append(self._as_asked(spec))
        self._texts[len(self._specs) - 1] = text
        return len(self._specs) - 1

    def near(self, options: NDArray[np.int64]) -> None:
        """Nothing of the kind: each is solved by itself."""

    def solve(self, options: NDArray[np.int64]) -> Figures:
        """Figures of rows of options, which are alike for all partitions."""
        numbers = [int(row[0]) for row in options]
        new = [one for one in dict.fromkeys(numbers) if one not in self._found]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            found = pool.map(self._figures_of, new)
            self._found.update(zip(new, found, strict=True))
        self.solved += len(new)
        return self._table([self._found[one] for one in numbers])

    def layout(self, options: Iterable[int]) -> Spec:
        """The engine's input of a layout."""
        return self._specs[next(iter(options))]

    def most_of_pools(self, options: NDArray[np.int64]) -> Floats:
        """Of each row: who has cores of its own leaves fewer, or more, to a pool."""
        return most_of_pools([self._specs[int(row[0])] for row in options])

    def exactly(self, options: NDArray[np.int64]) -> Figures:
        """The same: each is solved by itself."""
        return self.solve(options)

    def _figures_of(self, number: int) -> list[tuple[float, ...]]:
        spec, text = self._specs[number], self._texts.pop(number, None)
        return self._figures(spec, json.dumps(spec) if text is None else text)

    def _as_asked(self, spec: Spec) -> Spec:
        return spec


class Played(Together):
    """Layouts that are simulated, for a reason in words."""

    simulates = True
    most = 200
    each_s = 0.0
    """What the first of them took."""

    def __init__(self, spec: Spec, why: str, replications: range = range(1)) -> None:
        super().__init__(spec)
        self.why = why
        self.replications = replications
        """Those of each layout, of which the mean is taken."""
        self._each: dict[int, list[list[tuple[float, ...]]]] = {}
        """By number, the figures of each replication."""

    def solve(self, options: NDArray[np.int64]) -> Figures:
        """The same as of layouts that are solved."""
        began = time.monotonic()
        found = super().solve(options)
        self.each_s = self.each_s or time.monotonic() - began
        return found

    def further(self, options: NDArray[np.int64], count: int) -> list[Figures]:
        """So many replications more of rows that were solved, and of each row the figures of all of
        its replications, a row each; those of the same number see the same arrivals.
        """
        numbers = [int(row[0]) for row in options]
        first = [self.replications.start + len(self._each[one]) for one in numbers]
        asked = [
            (number, begin + at)
            for number, begin in zip(numbers, first, strict=True)
            for at in range(count)
        ]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            found = pool.map(lambda one: _played(self._specs[one[0]], one[1]), asked)
            for (number, _), told in zip(asked, found, strict=True):
                self._each[number].append(told)
        return [self._table(self._each[one]) for one in numbers]

    def notice(self, *, searched: bool = True) -> str:
        """What whoever waits for the answer should know before: of a search, which simulates some
        at once and so many at most, or of amounts, of which the next hangs on the one before.
        """
        at_once = (os.cpu_count() or 1) if searched else 1
        pace = float(f"{at_once / max(self.each_s, 1e-3):.2g}")
        most = f", {self.most} at most" if searched else ""
        return (
            f"each layout is simulated, about {pace:g} a second{most}: {self.why}."
            " A scenario without it is solved, in milliseconds each"
        )

    def _as_asked(self, spec: Spec) -> Spec:
        return _brief(spec)

    def _figures_of(self, number: int) -> list[tuple[float, ...]]:
        each = [_played(self._specs[number], one) for one in self.replications]
        self._each[number] = each
        mean = np.mean(np.array(each), axis=0)
        steady = COLUMNS.index("steady")
        mean[:, steady] = mean[:, steady] == 1.0
        return [tuple(map(float, one)) for one in mean]


Saying = Callable[[str], None]
"""Is told a remark in words."""


def say_if_played(solver: Solver, say: Saying, *, searched: bool = True) -> None:
    """Say before it that the layouts of a search, or of amounts, are simulated, and why."""
    if isinstance(solver, Played):
        say(solver.notice(searched=searched))


def say_nothing(_: str) -> None:
    """Where nobody is there to be told."""


def _brief(spec: Spec) -> Spec:
    """The spec with a short run after its warm-up, and no rows but the last."""
    duration = min(spec["duration_ns"], DURATION_NS)
    short: Spec = {**spec, "duration_ns": duration, "interval_ns": duration}
    short["record_dispatches"] = False
    return short


def _played(spec: Spec, replication: int) -> list[tuple[float, ...]]:
    """Of each partition what `Figures` has."""
    engine = load_engine()
    try:
        answer: Answer = json.loads(engine.simulate(json.dumps(spec), replication, lambda _: True))
    except engine.Runaway:
        return [NONE] * len(spec["partitions"])
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
