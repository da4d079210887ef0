"""Running scenarios: replications in threads, results streamed to disk, one folder a run."""

from homenode.runner.engine import load_engine
from homenode.runner.job import FrozenScenario, Job
from homenode.runner.run import InterruptedRun, run_scenario
from homenode.runner.simulate import ProgressFn

__all__ = ["FrozenScenario", "InterruptedRun", "Job", "ProgressFn", "load_engine", "run_scenario"]
