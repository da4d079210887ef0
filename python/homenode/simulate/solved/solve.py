"""`solve_scenario`: from a scenario to its steady state, without events."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from homenode.errors import HomenodeError
from homenode.model.scenario import Scenario
from homenode.simulate.answers import SolvedAnswer
from homenode.simulate.engine import load_engine
from homenode.simulate.runner.details import partition_details
from homenode.simulate.runner.job import FrozenScenario, freeze
from homenode.simulate.runner.simulate import ProgressFn
from homenode.simulate.settle.work import settled
from homenode.simulate.solved.figures import Solved
from homenode.version import program_version

_RUN = "`homenode run` does it"


def solve_scenario(
    scenario: FrozenScenario | str | Path,
    *,
    progress: ProgressFn | None = None,
    run: str | None = None,
) -> Solved:
    """Solve a scenario. Work that is told by the cores it takes is found first, as for a run, and
    `progress` told how far that is. `run` is what it is called, from what was solved if not told.

    Raises `HomenodeError` for what only a simulation can tell.
    """
    engine = load_engine()
    known = Scenario.load(scenario) if isinstance(scenario, str | Path) else scenario
    if isinstance(known, Scenario):
        known = settled(known, progress)
    job = freeze(known, 1, None, program_version(), kept=False)
    job = replace(job, details=partition_details(known))
    if job.spec.get("changes"):
        what = "what is changed during the run"
        raise HomenodeError(f"scenario {job.name}: {what} is simulated only; {_RUN}")
    try:
        answer: SolvedAnswer = json.loads(engine.solve(known.spec_json()))
    except engine.SpecError as error:
        raise HomenodeError(f"scenario {job.name}: {error}") from error
    return Solved(job, answer, run)
