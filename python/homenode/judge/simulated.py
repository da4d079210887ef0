"""The same experiments simulated: figures under the same names as the measured ones."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from homenode.judge.judge import interval
from homenode.judge.kinds import Experiment, Group
from homenode.judge.loads import Job
from homenode.judge.scene import Alone, scenario_text
from homenode.judge.twin import MACHINE_FILE, Twin
from homenode.model.scenario import Scenario
from homenode.simulate.runner import run_scenario

if TYPE_CHECKING:
    from homenode.simulate.run import Run

T = TypeVar("T")
REPLICATIONS = (20, 60)
"""The first; the second where the interval of a simulated mean is wide beside its tolerance."""
_NARROW = 0.25
"""Half an interval over the tolerance that is not wide."""
_NAMES = {
    "cpus": "physc",
    "makespan_s": "elapsed_s_max",
    "earliest_s": "elapsed_s_min",
    "voluntary_per_s": "nvcsw_per_s",
    "involuntary_per_s": "nivcsw_per_s",
    "waiting_cpus": "run_delay_cores",
    "throttled_cpus": "throttled_cores",
    "throttled_periods_pct": "throttled_periods_pct",
    "done_per_s": "etr_per_s",
    "cpu_us_each": "cpu_per_tx_us",
    "response_p50_ms": "response_ms_p50",
    "response_p95_ms": "response_ms_p95",
    "response_p99_ms": "response_ms_p99",
}
"""Ours and those of a kept run."""
_OVER_THE_WORK = ("cpus", "voluntary_per_s", "involuntary_per_s", "waiting_cpus")
"""Rates that a run to the end tells over its whole length, of which the work is a part."""

Simulated = Mapping[str, Mapping[str, Sequence[float]]]
"""Of each group and metric the values of the replications."""


class Simulation:
    """Runs experiments on the twin, each in a folder that is thrown away."""

    def __init__(self, twin: Twin, processors: Sequence[int], seconds: float) -> None:
        self._twin = twin
        self._processors = tuple(processors)
        self._seconds = seconds

    def text(self, experiment: Experiment, alone: Alone, count: int = REPLICATIONS[0]) -> str:
        """The scenario of an experiment, to be replicated so often."""
        return scenario_text(experiment, self._twin, self._processors, alone, self._seconds, count)

    def run(self, experiment: Experiment, alone: Alone) -> Simulated:
        """Simulate an experiment, as often as its figures need."""
        found: Simulated = {}
        for count in REPLICATIONS:
            text = self.text(experiment, alone, count)
            found = self._in_folder(text, lambda run: figures_of(run, experiment))
            if narrow(found, experiment):
                break
        return found

    def second_instructions(self) -> float:
        """Instructions of the model's loop that take a second: simulated once, then in proportion.

        The loop misses no cache, so that its time is in proportion to its length.
        """
        guess = 1e9
        job = Experiment("pace", "one loop alone", (Group("a", Job(1.0)),))
        alone = Alone(guess)
        took = self._in_folder(
            self.text(job, alone, 1), lambda run: run.values("a", "elapsed_s_max")[0]
        )
        return guess / took

    def _in_folder(self, text: str, read: Callable[[Run], T]) -> T:
        with tempfile.TemporaryDirectory(prefix="homenode-validate-") as name:
            folder = Path(name)
            (folder / MACHINE_FILE).write_text(self._twin.machine, encoding="utf-8")
            scenario = Scenario.from_toml(text, "experiment.toml", folder)
            return read(run_scenario(scenario, out=folder / "runs"))


def narrow(found: Simulated, experiment: Experiment) -> bool:
    """Whether all judged figures are known well beside their tolerances."""
    for judged in experiment.judged:
        values = found[judged.group].get(judged.metric, ())
        if len(values) < 2:
            continue
        known = interval(values)
        unit = 1.0 if judged.kind == "points" else abs(known.mean) / 100.0
        if (known.half or 0.0) > _NARROW * judged.tolerance * unit:
            return False
    return True


def figures_of(run: Run, experiment: Experiment) -> Simulated:
    """What a simulated experiment gives, replication by replication."""
    groups = [group.name for group in experiment.groups]
    cores = {name: run.values(name, "physc") for name in groups}
    total = [sum(values) for values in zip(*cores.values(), strict=True)]
    found: dict[str, dict[str, Sequence[float]]] = {}
    for group in experiment.groups:
        name = group.name
        shares = [100.0 * one / all_ for one, all_ in zip(cores[name], total, strict=True)]
        mine: dict[str, Sequence[float]] = {"share_pct": shares}
        for metric, theirs in _NAMES.items():
            if run.metric(name, theirs).mean is not None:
                mine[metric] = run.values(name, theirs)
        if isinstance(group.load, Job):
            mine = _over_the_work(mine, float(run.spec["duration_ns"]) / 1e9)
        found[name] = mine
    return found


def _over_the_work(
    mine: Mapping[str, Sequence[float]], duration: float
) -> dict[str, Sequence[float]]:
    """Rates by the time until the work was done."""
    found = dict(mine)
    for metric in _OVER_THE_WORK:
        found[metric] = [
            value * duration / end
            for value, end in zip(mine[metric], mine["makespan_s"], strict=True)
        ]
    return found
