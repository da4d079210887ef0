"""`solve_scenario`: from a scenario to its steady state, without events."""

from __future__ import annotations

import json
from pathlib import Path

from homenode.errors import HomenodeError
from homenode.simulate.answers import SolvedAnswer
from homenode.simulate.engine import load_engine
from homenode.simulate.runner.job import FrozenScenario, freeze
from homenode.simulate.runner.simulate import ProgressFn
from homenode.simulate.solved.figures import Solved
from homenode.version import program_version

_RUN = "`homenode run` does it"


def solve_scenario(
    scenario: FrozenScenario | str | Path, *, progress: ProgressFn | None = None
) -> Solved:
    """Solve a scenario. Work that is told by the cores it takes is found first, as for a run, and
    `progress` told how far that is.

    Raises `HomenodeError` for what only a simulation can tell.
    """
    engine = load_engine()
    job = freeze(scenario, 1, None, program_version(), progress)
    if job.spec.get("changes"):
        what = "what is changed during the run"
        raise HomenodeError(f"scenario {job.name}: {what} is simulated only; {_RUN}")
    try:
        answer: SolvedAnswer = json.loads(engine.solve(job.spec_text))
    except engine.SpecError as error:
        raise HomenodeError(f"scenario {job.name}: {error}") from error
    return Solved(job, answer)
