"""What a profile would have shown: the scenarios of the recording, simulated with it.

All profiles are tried with the same random numbers, other ones than any run's own, so that what
differs between two of them is the profile.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from homenode.catalog.profile import ENGINE_NAMES
from homenode.errors import HomenodeError
from homenode.results.metrics import METRICS
from homenode.results.stats import student_t
from homenode.results.summarize import replication_totals
from homenode.runner.details import machine_facts
from homenode.runner.engine import load_engine
from homenode.scenario import Scenario

Z95 = 1.96
"""Standard errors to either side of a 95 % interval."""
FIRST_REPLICATION = 2_000_000
"""Apart from those of runs and of imports."""


@dataclass(frozen=True)
class Condition:
    """One layout and load under which something was recorded."""

    title: str
    scenario: Scenario
    partition: str


@dataclass(frozen=True)
class Observation:
    """A figure that was recorded."""

    condition: int
    """Index of its condition."""
    metric: str
    """Name of the metric that it is."""
    value: float
    error: float
    """Its standard error, as a share of it."""


@dataclass(frozen=True)
class Recording:
    """All that was recorded, by condition."""

    title: str
    """What it was read from, as it stands in the profile's file."""
    conditions: tuple[Condition, ...]
    observations: tuple[Observation, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Predicted:
    """Logarithms of what would have been seen, an entry an observation, with standard errors."""

    logs: tuple[float, ...]
    errors: tuple[float, ...]


class Model:
    """Simulates all conditions of a recording with a profile."""

    def __init__(
        self,
        recording: Recording,
        profile: Mapping[str, Any],
        replications: int,
        jobs: int,
        done: Callable[[], None] | None = None,
    ) -> None:
        self._recording = recording
        self._profile = dict(profile)
        self._replications = max(1, replications)
        self._jobs = max(1, jobs)
        self._done = done
        self._engine = load_engine()
        self._specs = [self._spec(one) for one in recording.conditions]
        self._facts = [machine_facts(one.scenario) for one in recording.conditions]
        self._kept: dict[tuple[float, ...], Predicted] = {}

    def _spec(self, condition: Condition) -> dict[str, Any]:
        """The condition with the profile in every partition that runs the same work."""
        spec = copy.deepcopy(condition.scenario.spec())
        names = [one["name"] for one in spec["partitions"]]
        work = spec["partitions"][names.index(condition.partition)]["profile"]["name"]
        for one in spec["partitions"]:
            if one["profile"]["name"] == work:
                one["profile"] = {**self._profile, "name": work}
                one["calibrated"] = True
        return spec

    def __call__(self, values: Mapping[str, float]) -> Predicted:
        """What the profile with these numbers in it shows."""
        key = tuple(values.values())
        if key not in self._kept:
            self._kept[key] = self._predict(values)
        return self._kept[key]

    def _predict(self, values: Mapping[str, float]) -> Predicted:
        numbers = {ENGINE_NAMES.get(name, name): value for name, value in values.items()}
        if "footprint_bytes" in numbers:
            numbers["footprint_bytes"] = round(numbers["footprint_bytes"])
        texts = [json.dumps(_filled(spec, numbers)) for spec in self._specs]
        tasks = [
            (text, FIRST_REPLICATION + index)
            for text in texts
            for index in range(self._replications)
        ]
        with ThreadPoolExecutor(self._jobs) as pool:
            summaries = list(pool.map(self._simulate, tasks))
        found = [self._observe(summaries, one) for one in self._recording.observations]
        if self._done is not None:
            self._done()
        return Predicted(tuple(mean for mean, _ in found), tuple(error for _, error in found))

    def _simulate(self, task: tuple[str, int]) -> dict[str, Any]:
        text, replication = task
        try:
            summary = self._engine.simulate(text, replication, lambda _batch: True)
        except (self._engine.SpecError, self._engine.Runaway) as error:
            step = "start from another profile with --base"
            raise HomenodeError(
                f"the recorded load cannot be played with it: {error}", next_step=step
            ) from error
        return {**json.loads(summary), "replication": replication}

    def _observe(
        self, summaries: Sequence[Mapping[str, Any]], one: Observation
    ) -> tuple[float, float]:
        """Mean logarithm of a metric over the replications, and its standard error."""
        condition = self._recording.conditions[one.condition]
        spec = self._specs[one.condition]
        first = one.condition * self._replications
        raw = summaries[first : first + self._replications]
        index = [part["name"] for part in spec["partitions"]].index(condition.partition)
        totals = replication_totals(spec, raw, index, self._facts[one.condition])
        values = [METRICS[one.metric].formula(each) for each in totals]
        logs = [math.log(value) for value in values if value is not None and value > 0]
        if not logs:
            text = f"{condition.title}: played, {condition.partition} has no {one.metric}"
            step = "leave it out of --know, or start from another profile with --base"
            raise HomenodeError(text, next_step=step)
        return mean_error(logs)


def _filled(spec: Mapping[str, Any], numbers: Mapping[str, float]) -> dict[str, Any]:
    partitions = []
    for one in spec["partitions"]:
        own = {key: value for key, value in one.items() if key != "calibrated"}
        if "calibrated" in one:
            own["profile"] = {**one["profile"], **numbers}
        partitions.append(own)
    return {**spec, "partitions": partitions}


def mean_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error; 0 for a single value, whose error nobody knows. That of a few is
    so much greater that 1.96 of it are Student's interval.
    """
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, 0.0
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    wider = student_t(len(values) - 1) / Z95
    return mean, wider * math.sqrt(variance / len(values))
