"""`run_scaling`: from a scenario and some sizes to the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.evidence.capability import capability_of
from homenode.evidence.scaling.result import ScalingResult, result_of
from homenode.evidence.scaling.runs import run_all
from homenode.evidence.scaling.sizes import base_of, rising
from homenode.model.scenario import Scenario
from homenode.simulate.runner import ProgressFn, run_scenario

if TYPE_CHECKING:
    from homenode.model.scenario import Scenario


def run_scaling(
    scenario: Scenario | str | Path,
    processors: Sequence[int],
    *,
    replications: int | None = None,
    jobs: int | None = None,
    out: str | Path = "runs",
    progress: ProgressFn | None = None,
) -> ScalingResult:
    """Simulate a scenario's z/VM partition with each of these numbers of logical processors and
    hold its ITR against the capability curve of the machine.

    The scenario's `[scaling]` says what grows with the processors: `by = "tiles"` or `"guests"`.
    Sizes that cannot be made, and a scenario without such a partition, raise a `HomenodeError`;
    Ctrl-C raises `InterruptedRun`, which names the runs that were complete.
    """
    loaded = Scenario.load(scenario) if isinstance(scenario, (str, Path)) else scenario
    base = base_of(loaded)
    scaled = {size: base.scaled(size) for size in rising(processors)}
    runs = run_all(
        scaled, run_scenario, replications=replications, jobs=jobs, out=out, progress=progress
    )
    curve = capability_of(loaded.machine)
    return result_of(loaded.name, base.partition, curve, list(runs.items()))
