"""`Solved`: a layout that was solved, with the metrics of a run as far as they are known."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import cast

from homenode.model.estimate import Estimate, Told
from homenode.model.numbers import significant
from homenode.model.spec import Spec, shared_cores, shared_of
from homenode.simulate.answers import (
    Answer,
    MachineFigures,
    PoolFigures,
    RunFiles,
    RunSummary,
    SolvedAnswer,
    Steadiness,
)
from homenode.simulate.kept.figures import CHIEF, Figures
from homenode.simulate.kept.loads import LOAD_METRICS
from homenode.simulate.kept.metric import Metric
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.kept.nest_metrics import categories
from homenode.simulate.kept.summarize import is_managed, metric_of, steadiness
from homenode.simulate.kept.totals import NS_PER_S, Totals, UnknownCounterError
from homenode.simulate.runner.job import Job
from homenode.simulate.solved.counters import as_answer, is_limited, is_recorded
from homenode.simulate.solved.crowded import (
    kept_from,
    looked_for_late,
    waits_behind,
    wanting_all,
)
from homenode.simulate.solved.sureness import ZVM, Sureness, platform_of, sureness

SIMULATED_ONLY = "only a simulation tells it"
HISTORY = "which of them comes about hangs on what was before"
_SCANS = 2
"""Scans of NUMA balancing after the first by which most threads are beside their memory: on a host
whose processors are short those that hardly run were there after three seconds.
"""
_Find = Callable[[Spec, dict[str, float], dict[str, bool]], dict[str, tuple[str, ...]]]


class Solved(Figures):
    """Metrics of a layout in its steady state, without intervals: nothing in them is by chance.

    `metrics`, `partitions`, `metric`, `breakdown` and the like are those of a run.
    """

    def __init__(self, job: Job, answer: SolvedAnswer, run: str | None = None) -> None:
        raw = as_answer(job.spec, answer)
        files = {
            "spec.json": job.spec,
            "machine.json": job.machine,
            "details.json": job.details,
            "replications.json": [raw],
            "provenance.json": _provenance(job),
        }
        super().__init__(cast("RunFiles", files))
        self._job, self._run = job, run
        self._told: dict[tuple[str, str], Estimate] = {}
        self.answer = answer
        """As the engine gave it: rates and shares that are no metric of a run are here."""

    @property
    def id(self) -> str:
        """What it is called: as was said, else from what was solved."""
        return self._run or f"solved-{self._job.id}"

    @functools.cached_property
    def summary(self) -> RunSummary:
        """Every metric, as a run has them; worked out when all are asked for."""
        partitions = {
            name: {metric: self.metric(name, metric).as_json() for metric in METRICS}
            for name in self.partitions
        }
        summary: RunSummary = {
            "run": self.id,
            "scenario": self.name,
            "seed": self.seed,
            "replications": 1,
            "partitions": partitions,
            "machine": _machine(self.spec, self.raw[0]),
            "steady": self.steady,
        }
        if workloads := self._workloads():
            summary["workloads"] = workloads
        if found := categories(partitions):
            summary["workload_category"] = found
        return summary

    def _workloads(self) -> dict[str, dict[str, dict[str, Told]]]:
        """Metrics of each of several workloads by partition."""
        found: dict[str, dict[str, dict[str, Told]]] = {}
        seconds = self.spec["duration_ns"] / NS_PER_S
        for name, of in zip(self.partitions, self.raw[0]["partitions"], strict=True):
            unsteady, shape = self.steady[name]["reason"], self.totals(name)[0].shape
            for one in of.get("workloads", ()):
                totals = Totals(
                    shape=shape,
                    seconds=seconds,
                    counters=one["totals"],
                    response_ns=one["response_ns"],
                )
                found.setdefault(name, {})[one["name"]] = {
                    metric.name: _figure(metric, totals, unsteady).as_json()
                    for metric in LOAD_METRICS
                }
        return found

    @functools.cached_property
    def steady(self) -> dict[str, Steadiness]:
        """Of each partition, whether all its work is done and, if not, the reason."""
        return {name: steadiness(self.raw, at) for at, name in enumerate(self.partitions)}

    @property
    def settles_late(self) -> bool:
        """Whether threads are drawn to their memory for longer than a run of it warms up."""
        machine = self.spec["machine"]
        hypervisor = machine["hypervisor"]
        numa = hypervisor["linux"]["numa_balancing"] if hypervisor["policy"] == "linux" else None
        chips = machine["chips_per_node"] if machine["memory_beside"] == "chip" else 1
        several = machine["nodes"] * chips > 1
        if numa is None or not several:
            return False
        scanned = numa["scan_delay_ns"] + _SCANS * numa["scan_period_min_ns"]
        return self.spec["warmup_ns"] < scanned

    def metric(self, partition: str | None, name: str) -> Estimate:
        """One metric of a partition, of the only one if none is named."""
        partition = self.partition(partition)
        if name not in METRICS:
            return super().metric(partition, name)  # which says what there is
        if (partition, name) not in self._told:
            self._told[partition, name] = self._figure(partition, METRICS[name])
        return self._told[partition, name]

    def means(self, partition: str, names: Sequence[str]) -> list[float | None]:
        """Several metrics of a partition: as `metric` tells each, and sooner."""
        if self.balances.get(self.partition(partition)):
            return [None for _ in names]
        (totals,) = self._totals[partition]
        unsteady = self.steady[partition]["reason"]
        told = [METRICS[name] for name in names]
        return [
            self.metric(partition, one.name).mean
            if one.needs_steady and unsteady is not None
            else one.of(totals)
            for one in told
        ]

    def _figure(self, partition: str, metric: Metric) -> Estimate:
        if between := self.balances.get(partition):
            low, high = map(significant, between)
            return Estimate(None, None, f"two balances, of {low} and {high} cores: {HISTORY}")
        (totals,) = self._totals[partition]
        return _figure(metric, totals, self.steady[partition]["reason"])

    @functools.cached_property
    def _totals(self) -> dict[str, list[Totals]]:
        return {name: Figures.totals(self, name) for name in self.partitions}

    def totals(self, partition: str | None = None) -> list[Totals]:
        """A partition's counters."""
        return self._totals[self.partition(partition)]

    @functools.cached_property
    def left_out(self) -> tuple[str, ...]:
        """Metrics of a run that are not known of every partition, in the order they are shown."""
        totals = [one for name in self.partitions for one in self.totals(name)]
        return tuple(
            name
            for name, metric in METRICS.items()
            if not all(metric.is_known(one) for one in totals)
        )

    @functools.cached_property
    def balances(self) -> dict[str, tuple[float, float]]:
        """Cores of the least and of the greatest balance of partitions that have several, of which
        no figure is told: cold caches make work longer and homes full, which leaves caches cold.
        """
        told = {one["name"]: one.get("balances") for one in self.answer["partitions"]}
        return {name: (of[0], of[1]) for name, of in told.items() if of}

    @functools.cached_property
    def recorded(self) -> tuple[str, ...]:
        """Partitions of whose demand only the mean was solved."""
        return tuple(one["name"] for one in self.spec["partitions"] if is_recorded(one))

    @functools.cached_property
    def limited(self) -> tuple[str, ...]:
        """Partitions that a cap may hold up: what their work waits is not known."""
        partitions = self.spec["partitions"]
        return tuple(one["name"] for one in partitions if is_limited(self.spec, one))

    @functools.cached_property
    def _used(self) -> dict[str, float]:
        return {name: self.metric(name, "physc").mean or 0.0 for name in self.partitions}

    @functools.cached_property
    def looked_for_late(self) -> tuple[str, ...]:
        """Pinned domains of Xen that get less in a run than the share that is told."""
        return looked_for_late(self.spec, self._used)

    @functools.cached_property
    def crowded(self) -> dict[str, tuple[str, ...]]:
        """Partitions that answer somebody and share all of their processors with others that always
        want more, and who these are: what work waits for a processor is in its response in part at
        best.
        """
        return self._answering(waits_behind)

    @functools.cached_property
    def kept_from(self) -> dict[str, tuple[str, ...]]:
        """Partitions that answer somebody and to whom others that always have work leave fewer
        processors than it has virtual ones, and who these are: their response is told too short.
        """
        return self._answering(kept_from)

    @functools.cached_property
    def wanting_all(self) -> dict[str, tuple[str, ...]]:
        """Partitions whose response is left out because they want nearly all that others leave them
        that always want more, and who these are.
        """
        silent = {*self.limited, *self.recorded, *self.balances}
        solved = zip(self.partitions, self.raw[0]["partitions"], strict=True)
        # What answers nobody has nothing there, what is not known a table without entries.
        silent |= {name for name, of in solved if not of["response_ns"]}
        return {
            name: others
            for name, others in self._found(wanting_all).items()
            if name not in silent and self.metric(name, "response_ms_mean").mean is None
        }

    def _answering(self, find: _Find) -> dict[str, tuple[str, ...]]:
        found = self._found(find)
        told = (name for name in found if self.metric(name, "response_ms_mean").mean is not None)
        return {name: found[name] for name in told}

    def _found(self, find: _Find) -> dict[str, tuple[str, ...]]:
        unsteady = {name: of["reason"] is not None for name, of in self.steady.items()}
        return find(self.spec, self._used, unsteady)

    @functools.cached_property
    def sureness(self) -> dict[str, Sureness]:
        """How near cores of partitions like these were to simulated ones; those are left out of
        which nothing was compared, or no figure is told. Of z/VM beside others that always want
        more too little was: what it waits is in its cores.
        """
        pairs = zip(self.spec["partitions"], self.answer["partitions"], strict=True)
        each = {
            one["name"]: sureness(self.spec, one, of)
            for one, of in pairs
            if platform_of(self.spec, one) != ZVM or one["name"] not in self.crowded
        }
        return {name: of for name, of in each.items() if of and name not in self.balances}

    def __repr__(self) -> str:
        return f"Solved({self.name!r}, partitions {', '.join(self.partitions)})"

    def _repr_html_(self) -> str:
        """What a notebook shows: its chief figures."""
        return self.metrics.grid(CHIEF, f"{self.name}, solved").html()


def _figure(metric: Metric, totals: Totals, unsteady: str | None) -> Estimate:
    if metric.needs_steady and unsteady is not None:
        return metric_of(metric, [metric.of(totals)], (), unsteady)
    try:
        return Estimate(metric.formula(totals))
    except UnknownCounterError:
        return Estimate(None, None, SIMULATED_ONLY)


def _machine(spec: Spec, raw: Answer) -> MachineFigures:
    return {
        "model": spec["machine"]["name"],
        "active_cores": spec["machine"]["active_cores"],
        "simulated_s": 0.0,
        "events": 0,
        "pools": {pool["name"]: _pool(spec, raw, at) for at, pool in enumerate(spec["pools"])},
    }


def _pool(spec: Spec, raw: Answer, pool: int) -> PoolFigures:
    """Cores that are nobody's own; pools of a core type have theirs, others share all of them. On a
    host, its processors.
    """
    own = spec["pools"][pool].get("cores")
    cores = shared_cores(spec, pool)
    used = {pool: 0.0}
    for one, of in zip(spec["partitions"], raw["partitions"], strict=True):
        shared = shared_of(one)
        if shared is not None:
            place = shared["pool"]
            used[place] = used.get(place, 0.0) + of["totals"]["busy_ns"] / spec["duration_ns"]
    taken = used[pool] if own is not None else math.fsum(used.values())
    found: PoolFigures = {
        "cores": cores,
        "physc": Estimate(used[pool]).as_json(),
        "app": Estimate(max(cores - taken, 0.0)).as_json(),
    }
    if is_managed(spec):
        found["management"] = Estimate(None, None, SIMULATED_ONLY).as_json()
    return found


def _provenance(job: Job) -> dict[str, object]:
    """Of a run's as much as a comparison asks for; nothing was kept."""
    return {"replications": [0], **({"point": job.point} if job.point else {})}
