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
    from homenode.calibrate import fit_profile
    from homenode.results import METRICS, Run
    from homenode.results.explain import explain
    from homenode.results.query import query
    from homenode.runner import run_scenario
    from homenode.scenario import Scenario
    from homenode.scenario import load as load_scenario
    from homenode.study import calibrate, list_studies, load_study, run_study

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
    "METRICS": "homenode.results:METRICS",
    "Run": "homenode.results:Run",
    "Scenario": "homenode.scenario:Scenario",
    "calibrate": "homenode.study:calibrate",
    "explain": "homenode.results.explain:explain",
    "fit_profile": "homenode.calibrate:fit_profile",
    "list_studies": "homenode.study:list_studies",
    "load_scenario": "homenode.scenario:load",
    "load_study": "homenode.study:load_study",
    "query": "homenode.results.query:query",
    "run_scenario": "homenode.runner:run_scenario",
    "run_study": "homenode.study:run_study",
}
"""Where the rest is; imported when it is first used, so that a command starts at once."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module homenode has no attribute {name}")
    import importlib

    module, _, there = _LATER[name].partition(":")
    return getattr(importlib.import_module(module), there)
