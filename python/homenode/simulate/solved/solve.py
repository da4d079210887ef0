"""`solve_scenario`: from a scenario to its steady state, without events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from homenode.errors import HomenodeError
from homenode.model.spec import Spec, shared_of
from homenode.simulate.answers import SolvedAnswer
from homenode.simulate.engine import load_engine
from homenode.simulate.runner.job import FrozenScenario, freeze
from homenode.simulate.runner.simulate import ProgressFn
from homenode.simulate.solved.figures import Solved
from homenode.version import program_version

_CAPS = {"cap": "an absolute cap", "group": "a group's cap", "defined_capacity": "defined capacity"}
"""Of PR/SM, by their keys; the solver knows none of them."""
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
    unsolved = next(_unsolved(job.spec), None)
    if unsolved is not None:
        raise HomenodeError(f"scenario {job.name}: {unsolved} is simulated only; {_RUN}")
    try:
        answer: SolvedAnswer = json.loads(engine.solve(job.spec_text))
    except engine.SpecError as error:
        raise HomenodeError(f"scenario {job.name}: {error}") from error
    return Solved(job, answer)


def _unsolved(spec: Spec) -> Iterator[str]:
    """What a scenario asks for that the solver would pass over in silence."""
    if spec.get("changes"):
        yield "what is changed during the run"
    for one in spec["partitions"]:
        shared = shared_of(one)
        limits = {} if shared is None else shared.get("prsm", {})
        found = [name for key, name in _CAPS.items() if limits.get(key) is not None]
        yield from (f"partition {one['name']}: {name}" for name in found)
