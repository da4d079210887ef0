"""homenode tells you what a partition layout costs.

>>> import homenode
>>> scenario = homenode.load_scenario("examples/p795-shared-book.toml")  # doctest: +SKIP
>>> run = scenario.run()  # doctest: +SKIP
"""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
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
    from homenode.evidence.study import calibrate_study, list_studies, load_study, run_study
    from homenode.planner.consolidation import consolidate
    from homenode.planner.front import advise
    from homenode.records.calibrate import fit_profile
    from homenode.report.widgets import LayoutWidget
    from homenode.simulate.affinity.frame import affinity
    from homenode.simulate.explain.explanation import explain
    from homenode.simulate.kept import METRICS
    from homenode.simulate.kept.query import query
    from homenode.simulate.run import Run
    from homenode.simulate.runner import run_scenario
    from homenode.simulate.scenario import Scenario
    from homenode.simulate.scenario import load as load_scenario
    from homenode.simulate.sweep import run_sweep

__all__ = [
    "METRICS",
    "DamagedRunError",
    "EngineError",
    "EngineMissingError",
    "HomenodeError",
    "InputError",
    "Interrupted",
    "LayoutWidget",
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
    "advise",
    "affinity",
    "calibrate_study",
    "consolidate",
    "explain",
    "fit_profile",
    "list_studies",
    "load_scenario",
    "load_study",
    "query",
    "run_scenario",
    "run_study",
    "run_sweep",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            **dict.fromkeys((name for name in __all__ if name[-5:] == "Error"), "errors"),
            "Interrupted": "errors",
            "LayoutWidget": "report.widgets",
            "METRICS": "simulate.kept.metrics",
            "Run": "simulate.run",
            "Scenario": "simulate.scenario",
            "Where": "errors",
            "advise": "planner.front",
            "affinity": "simulate.affinity.frame",
            "calibrate_study": "evidence.study",
            "consolidate": "planner.consolidation",
            "explain": "simulate.explain.explanation",
            "fit_profile": "records.calibrate",
            "list_studies": "evidence.study",
            "load_scenario": "simulate.scenario:load",
            "load_study": "evidence.study",
            "query": "simulate.kept.query",
            "run_scenario": "simulate.runner",
            "run_study": "evidence.study",
            "run_sweep": "simulate.sweep",
        },
    )
