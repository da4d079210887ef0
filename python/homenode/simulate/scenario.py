"""`Scenario` with the means to run it: what `homenode.load_scenario` gives."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, cast

from homenode.errors import ScenarioError
from homenode.model import scenario as model
from homenode.model.spec import Spec
from homenode.simulate.run import Run
from homenode.simulate.runner.running import SeenFn, run_scenario
from homenode.simulate.runner.simulate import ProgressFn
from homenode.simulate.seek.look import Found, look_for, sought_of
from homenode.simulate.seek.users import UsersFound
from homenode.simulate.seek.warehouses import ScoreFound
from homenode.simulate.settle.work import settled
from homenode.simulate.solved.figures import Solved
from homenode.simulate.solved.solve import solve_scenario


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
        look: SeenFn | None = None,
    ) -> Run:
        """Simulate it and keep the results in a folder of `out`.

        `replications` and `seed` replace the scenario's own; `jobs` is the number of threads, all
        cores if not given. `progress` is told the share that is done and the seconds left; once
        `stop` is set, what has finished is kept and `InterruptedRun` raised. `look` is called with
        the spec, the replication and the columns of each table as rows of intervals come.
        """
        return run_scenario(
            self,
            replications=replications,
            seed=seed,
            jobs=jobs,
            out=out,
            progress=progress,
            stop=stop,
            look=look,
        )

    def solve(self, *, progress: ProgressFn | None = None) -> Solved:
        """Its steady state without simulating it: the metrics of a run that follow from it, without
        intervals; nothing is kept. Raises `HomenodeError` for what only a simulation can tell.
        """
        return solve_scenario(self, progress=progress)

    def spec(self, *, seed: int | None = None) -> Spec:
        """The engine's input as a dictionary. Work that is told by the cores it takes is found
        first, by simulating, unless it was kept.
        """
        return super(Scenario, settled(self)).spec(seed=seed)

    def find(self, **options: Any) -> Found:
        """What its table `[find]` asks for, with the options of `find_users`."""
        wanted = sought_of(self)
        if wanted is None:
            raise ScenarioError(
                f"{self.source} looks for nothing", next_step="add a table [find] to it"
            )
        return look_for(self, wanted, **options)

    def find_users(
        self, response: str | None = None, partition: str | None = None, **options: Any
    ) -> UsersFound:
        """The most users of a partition whose mean response is under a limit, such as `"2 s"`; what
        is not given is taken from the scenario's table `[find]`. With the options of `run`, and
        `doing`, which is told what each run is. Every run on the way is kept.
        """
        told = self.file.find
        before = {} if told is None or told.of != "users" else self.data["find"]
        given = {"response": response, "partition": partition}
        asking = self.with_({"find": {**before, **_given(given), "of": "users"}})
        return cast("UsersFound", asking.find(**options))

    def find_score(self, partition: str | None = None, **options: Any) -> ScoreFound:
        """The mean throughput over N to 2N warehouses, as SPECjbb's score is defined; N is the
        scenario's own number. With the options of `run`, and `doing`. Every run is kept.
        """
        asking = self.with_({"find": {**_given({"partition": partition}), "of": "score"}})
        return cast("ScoreFound", asking.find(**options))


def _given(values: dict[str, str | None]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not None}


def load(path: str | Path) -> Scenario:
    """Read and check a scenario file: the second of the six stops from the command line to the
    engine.
    """
    return Scenario.load(path)
