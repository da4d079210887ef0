"""Running scenarios: replications in threads, results streamed to disk, one folder a run."""

from homenode.simulate.engine import load_engine
from homenode.simulate.runner.job import FrozenScenario, Job
from homenode.simulate.runner.running import InterruptedRun, run_scenario
from homenode.simulate.runner.simulate import ProgressFn

__all__ = ["FrozenScenario", "InterruptedRun", "Job", "ProgressFn", "load_engine", "run_scenario"]
