"""`Scenario` with the means to run it: what `homenode.load_scenario` gives."""

from __future__ import annotations

import threading
from pathlib import Path

from homenode.model import scenario as model
from homenode.simulate.run import Run
from homenode.simulate.runner.running import run_scenario
from homenode.simulate.runner.simulate import ProgressFn


class Scenario(model.Scenario):
    """A partition layout with its workloads: loaded once, checked once, never changed, run as often
    as one likes.

    Make one with `load`, `from_toml` or `with_`. Two scenarios are equal if their texts are.
    """

    def run(
        self,
        *,
        replications: int | None = None,
        seed: int | None = None,
        jobs: int | None = None,
        out: str | Path = "runs",
        progress: ProgressFn | None = None,
        stop: threading.Event | None = None,
    ) -> Run:
        """Simulate it and keep the results in a folder of `out`.

        `replications` and `seed` replace the scenario's own; `jobs` is the number of threads, all
        cores if not given. `progress` is told the share that is done and the seconds left; once
        `stop` is set, what has finished is kept and `InterruptedRun` raised.
        """
        return run_scenario(
            self,
            replications=replications,
            seed=seed,
            jobs=jobs,
            out=out,
            progress=progress,
            stop=stop,
        )


def load(path: str | Path) -> Scenario:
    """Read and check a scenario file: the second of the six stops from the command line to the
    engine.
    """
    return Scenario.load(path)
