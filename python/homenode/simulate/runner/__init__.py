"""Running scenarios: replications in threads, results streamed to disk, one folder a run."""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.simulate.runner.job import FrozenScenario, Job
    from homenode.simulate.runner.running import InterruptedRun, run_scenario
    from homenode.simulate.runner.simulate import ProgressFn

__all__ = ["FrozenScenario", "InterruptedRun", "Job", "ProgressFn", "run_scenario"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "FrozenScenario": "job",
            "InterruptedRun": "running",
            "Job": "job",
            "ProgressFn": "simulate",
            "run_scenario": "running",
        },
    )
