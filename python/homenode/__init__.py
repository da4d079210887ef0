"""homenode tells you what a partition layout costs.

>>> import homenode
>>> scenario = homenode.load_scenario("examples/p795-shared-book.toml")  # doctest: +SKIP
>>> run = scenario.run()  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.errors import (
    DamagedRunError,
    EngineError,
    EngineMissingError,
    HomenodeError,
    InputError,
    Interrupted,
    MachineError,
    NotFoundError,
    ProfileError,
    RunError,
    ScenarioError,
    StoreError,
    StudyError,
    Where,
)

if TYPE_CHECKING:
    from homenode.evidence.study import calibrate, list_studies, load_study, run_study
    from homenode.records.calibrate import fit_profile
    from homenode.simulate.explain.explanation import explain
    from homenode.simulate.kept import METRICS
    from homenode.simulate.kept.query import query
    from homenode.simulate.run import Run
    from homenode.simulate.runner import run_scenario
    from homenode.simulate.scenario import Scenario
    from homenode.simulate.scenario import load as load_scenario

__all__ = [
    "METRICS",
    "DamagedRunError",
    "EngineError",
    "EngineMissingError",
    "HomenodeError",
    "InputError",
    "Interrupted",
    "MachineError",
    "NotFoundError",
    "ProfileError",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "StoreError",
    "StudyError",
    "Where",
    "calibrate",
    "explain",
    "fit_profile",
    "list_studies",
    "load_scenario",
    "load_study",
    "query",
    "run_scenario",
    "run_study",
]

_LATER = {
    "METRICS": "homenode.simulate.kept.metrics:METRICS",
    "Run": "homenode.simulate.run:Run",
    "Scenario": "homenode.simulate.scenario:Scenario",
    "calibrate": "homenode.evidence.study:calibrate",
    "explain": "homenode.simulate.explain.explanation:explain",
    "fit_profile": "homenode.records.calibrate:fit_profile",
    "list_studies": "homenode.evidence.study:list_studies",
    "load_scenario": "homenode.simulate.scenario:load",
    "load_study": "homenode.evidence.study:load_study",
    "query": "homenode.simulate.kept.query:query",
    "run_scenario": "homenode.simulate.runner:run_scenario",
    "run_study": "homenode.evidence.study:run_study",
}
"""Where the rest is; imported when it is first used, so that a command starts at once."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module homenode has no attribute {name}")
    import importlib

    module, _, there = _LATER[name].partition(":")
    return getattr(importlib.import_module(module), there)
