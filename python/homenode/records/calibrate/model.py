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
from typing import cast

from homenode.errors import HomenodeError
from homenode.model.catalog.profile_model import ENGINE_NAMES
from homenode.model.estimate import mean_of, student_t
from homenode.model.scenario import Scenario
from homenode.model.spec import PartitionSpec, ProfileSpec, Spec
from homenode.records.calibrate.levels import Counting, Levels, played_levels
from homenode.records.calibrate.placement import PRICED, Placed, priced
from homenode.simulate.answers import Answer, Batch
from homenode.simulate.engine import load_engine
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.kept.summarize import replication_totals
from homenode.simulate.kept.totals import NS_PER_S, Totals
from homenode.simulate.runner.details import machine_facts

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
    levels: Levels | None = None
    """How near its threads were dispatched; None where it is as played."""
    alone: bool = False
    """Whether other partitions with a profile of the same name do work of their own."""
    rate: float | None = None
    """Units of work done [1/s], where they arrive at that rate however long each takes."""


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
    instruction_ns: tuple[float | None, ...] = ()
    """Core time of an instruction in each condition; None where nothing ran [ns]."""
    placed: tuple[Placed, ...] = ()
    """Of each condition of which it was recorded where threads were dispatched."""


class Model:
    """Simulates all conditions of a recording with a profile."""

    def __init__(
        self,
        recording: Recording,
        profile: Mapping[str, float | int | str],
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

    def _spec(self, condition: Condition) -> Spec:
        """The condition with the profile in every partition that runs the same work."""
        spec = copy.deepcopy(condition.scenario.spec())
        for one in _calibrated(spec, condition):
            own = {**self._profile, "name": one["profile"]["name"]}
            one["profile"] = cast(ProfileSpec, own)
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
        conditions = self._recording.conditions
        specs = [_filled(*pair, numbers) for pair in zip(self._specs, conditions, strict=True)]
        tasks = [
            (json.dumps(spec), FIRST_REPLICATION + index, self._counting(place))
            for place, spec in enumerate(specs)
            for index in range(self._replications)
        ]
        with ThreadPoolExecutor(self._jobs) as pool:
            summaries = list(pool.map(self._simulate, tasks))
        places = range(len(conditions))
        every = [self._totals(place, specs[place], summaries) for place in places]
        watches = [watch for _, _, watch in tasks]
        told = {
            place: self._place(place, specs[place], every[place], watches)
            for place in places
            if conditions[place].levels is not None
        }
        found = [self._observe(every[one.condition], one) for one in self._recording.observations]
        logs = [
            mean + (math.log(told[one.condition].factor) if _is_priced(one, told) else 0.0)
            for one, (mean, _) in zip(self._recording.observations, found, strict=True)
        ]
        if self._done is not None:
            self._done()
        times = [
            _instruction_ns(every[place][_index(self._specs[place], one)])
            for place, one in enumerate(conditions)
        ]
        errors = tuple(error for _, error in found)
        return Predicted(tuple(logs), errors, tuple(times), tuple(told.values()))

    def _totals(self, place: int, spec: Spec, summaries: Sequence[Answer]) -> list[list[Totals]]:
        """Counters of each partition in each replication of a condition."""
        first = place * self._replications
        raw = summaries[first : first + self._replications]
        return [
            replication_totals(spec, raw, index, self._facts[place])
            for index in range(len(spec["partitions"]))
        ]

    def _counting(self, place: int) -> Counting | None:
        """What counts dispatches, where those recorded are known."""
        condition = self._recording.conditions[place]
        if condition.levels is None:
            return None
        return Counting(_index(self._specs[place], condition))

    def _place(
        self,
        place: int,
        spec: Spec,
        totals: Sequence[Sequence[Totals]],
        watches: Sequence[Counting | None],
    ) -> Placed:
        """A condition's dispatches as recorded and as played."""
        condition = self._recording.conditions[place]
        mine = slice(place * self._replications, (place + 1) * self._replications)
        counts = [watch.sums for watch in watches[mine] if watch is not None]
        played = played_levels(counts, spec["duration_ns"] / NS_PER_S)
        index = _index(spec, condition)
        assert condition.levels is not None  # noqa: S101 - the caller asks for no other
        return priced(condition.title, self._engine, spec, index, totals, condition.levels, played)

    def _simulate(self, task: tuple[str, int, Counting | None]) -> Answer:
        text, replication, counting = task
        try:
            summary = self._engine.simulate(text, replication, counting or _go_on)
        except (self._engine.SpecError, self._engine.Runaway) as error:
            step = "start from another profile with --base"
            raise HomenodeError(
                f"the recorded load cannot be played with it: {error}", next_step=step
            ) from error
        answer: Answer = json.loads(summary)
        return {**answer, "replication": replication}

    def _observe(self, totals: Sequence[Sequence[Totals]], one: Observation) -> tuple[float, float]:
        """Mean logarithm of a metric over the replications, and its standard error."""
        condition = self._recording.conditions[one.condition]
        own = totals[_index(self._specs[one.condition], condition)]
        values = [METRICS[one.metric].formula(each) for each in own]
        logs = [math.log(value) for value in values if value is not None and value > 0]
        if not logs:
            text = f"{condition.title}: played, {condition.partition} has no {one.metric}"
            step = "leave it out of --know, or start from another profile with --base"
            raise HomenodeError(text, next_step=step)
        return mean_error(logs)


def _go_on(_batch: Batch) -> bool:
    return True


def _index(spec: Spec, condition: Condition) -> int:
    """The place of a condition's partition in its spec."""
    return [one["name"] for one in spec["partitions"]].index(condition.partition)


def _instruction_ns(totals: Sequence[Totals]) -> float | None:
    """Core time of an instruction, over all replications."""
    done = math.fsum(one["instructions"] for one in totals)
    return math.fsum(one["busy_ns"] for one in totals) / done if done > 0 else None


def _is_priced(one: Observation, told: Mapping[int, Placed]) -> bool:
    return one.condition in told and one.metric in PRICED


def _calibrated(spec: Spec, condition: Condition) -> list[PartitionSpec]:
    """The partitions whose profile is looked for: the condition's own, and those of its work."""
    own = spec["partitions"][_index(spec, condition)]
    work = own["profile"]["name"]
    same = () if condition.alone else spec["partitions"]
    return [own, *(one for one in same if one is not own and one["profile"]["name"] == work)]


def _filled(spec: Spec, condition: Condition, numbers: Mapping[str, float]) -> Spec:
    """The spec with these numbers in the profile that is looked for."""
    mine = [one["name"] for one in _calibrated(spec, condition)]
    partitions: list[PartitionSpec] = []
    for one in spec["partitions"]:
        profile = {**one["profile"], **numbers} if one["name"] in mine else one["profile"]
        partitions.append({**one, "profile": cast(ProfileSpec, profile)})
    return {**spec, "partitions": partitions}


def mean_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error; 0 for a single value, whose error nobody knows. That of a few is
    so much greater that 1.96 of it are Student's interval.
    """
    mean = mean_of(values)
    if len(values) < 2:
        return mean, 0.0
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    wider = student_t(len(values) - 1) / Z95
    return mean, wider * math.sqrt(variance / len(values))
