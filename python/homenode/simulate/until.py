"""Running until the intervals are narrow enough."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from homenode.errors import HomenodeError
from homenode.model.scenario import Scenario
from homenode.simulate.precision import wide
from homenode.simulate.run import Run
from homenode.simulate.runner.job import FrozenScenario
from homenode.simulate.runner.running import run_scenario

LEAST: Final = 3
"""Replications that are run at least before it is said how many it takes: of two the scatter is
hardly known.
"""
MOST: Final = 300
"""Replications that are run at most."""
_MARGIN = 1.1
"""Of the replications that it takes: the scatter is an estimate too."""


def run_until(
    scenario: FrozenScenario | str | Path,
    share: float,
    *,
    replications: int | None = None,
    out: str | Path = "runs",
    doing: Callable[[int], None] = lambda _: None,
    **options: Any,
) -> Run:
    """Run with ever more replications until the figures of `LOOKED_AT` are as narrow: half of each
    interval at most `share` of its mean (0.05 for 5 %).

    Begins with `replications`, or as many as the scenario asks for; `MOST` are the limit, and the
    caller can see by `wide` whether they were enough. Only the last run is kept. `doing` is told
    how many replications the next one has; other options are those of `run_scenario`.
    """
    if not 0 < share < 1:
        problem = f"an interval of {share:g} times its mean cannot be aimed at"
        raise HomenodeError(problem, next_step="ask for a share such as 0.05")
    frozen = Scenario.load(scenario) if isinstance(scenario, str | Path) else scenario
    count = max(LEAST, frozen.replications if replications is None else replications)
    before: Path | None = None
    while True:
        doing(count)
        there = {path.name for path in Path(out).glob("*")} if Path(out).is_dir() else set()
        run = run_scenario(frozen, replications=count, out=out, **options)
        if before is not None:
            shutil.rmtree(before, ignore_errors=True)
        left = wide(run, share)
        if not left or count >= MOST:
            return run
        before = None if run.path.name in there else run.path
        most = max(one.needed or MOST for one in left)
        count = min(MOST, max(count + 1, math.ceil(_MARGIN * most)))
