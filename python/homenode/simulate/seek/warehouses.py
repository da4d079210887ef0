"""A benchmark's score as SPECjbb defines it: the mean throughput of runs with N, N + 1 and so on to
2N warehouses, where N is the scenario's number of them.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from homenode.model.estimate import Estimate, estimate, mean_of
from homenode.model.scenario.sought import Sought
from homenode.simulate.run import Run
from homenode.simulate.runner import InterruptedRun, ProgressFn, run_scenario
from homenode.simulate.seek.users import At, Doing


@dataclass(frozen=True)
class ScoreFound:
    """The mean throughput, and the runs it is of."""

    partition: str
    trials: tuple[tuple[int, Run], ...]
    """Each with its warehouses, the fewest first; all are kept."""

    @property
    def run(self) -> Run:
        """The run with the scenario's own number of warehouses."""
        return self.trials[0][1]

    @property
    def runs(self) -> tuple[Run, ...]:
        """All of them."""
        return tuple(run for _, run in self.trials)

    @property
    def rate_per_s(self) -> Estimate:
        """Transactions a second, mean over all runs, replication by replication."""
        told = [run.metric(self.partition, "etr_per_s") for _, run in self.trials]
        without = next((one for one in told if one.mean is None), None)
        if without is not None:
            return without
        every = [run.values(self.partition, "etr_per_s") for _, run in self.trials]
        return estimate([mean_of(values) for values in zip(*every, strict=False)])

    def as_json(self) -> dict[str, object]:
        """What `homenode run --find score --json` prints of it."""
        return {
            "of": "score",
            "partition": self.partition,
            "etr_per_s": self.rate_per_s.as_json(),
            "run": self.run.id,
            "trials": [
                {
                    "warehouses": count,
                    "etr_per_s": run.metric(self.partition, "etr_per_s").as_json(),
                    "run": run.id,
                }
                for count, run in self.trials
            ],
        }

    def __repr__(self) -> str:
        return f"ScoreFound({self.partition!r}, {len(self.trials)} runs)"


def find_score(
    sought: Sought,
    at: At,
    *,
    replications: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    out: str | Path = "runs",
    progress: ProgressFn | None = None,
    doing: Doing | None = None,
    stop: threading.Event | None = None,
) -> ScoreFound:
    """Run a scenario with N to 2N warehouses. Ctrl-C raises `InterruptedRun`, which names the runs
    that were complete.
    """
    fewest = sought.workload.count
    runs: list[tuple[int, Run]] = []
    for count in range(fewest, 2 * fewest + 1):
        if doing is not None:
            doing(f"{sought.partition.name}: {count} of {fewest} to {2 * fewest} warehouses")
        try:
            run = run_scenario(
                at(count),
                replications=replications,
                seed=seed,
                jobs=jobs,
                out=out,
                progress=progress,
                stop=stop,
            )
        except InterruptedRun as stopped:
            stopped.earlier = tuple(run.id for _, run in runs)
            raise
        runs.append((count, run))
    return ScoreFound(sought.partition.name, tuple(runs))
