"""Results of runs: metrics with their uncertainty, interval tables, where the cores went."""

from homenode.later import TYPE_CHECKING, later

if TYPE_CHECKING:
    from homenode.model.estimate import Estimate
    from homenode.simulate.kept.books import CAUSES, Breakdown
    from homenode.simulate.kept.kept_run import KeptRun
    from homenode.simulate.kept.metric import Metric
    from homenode.simulate.kept.metrics import METRICS

__all__ = ["CAUSES", "METRICS", "Breakdown", "Estimate", "KeptRun", "Metric"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Breakdown": "books",
            "CAUSES": "books",
            "Estimate": "homenode.model.estimate",
            "KeptRun": "kept_run",
            "METRICS": "metrics",
            "Metric": "metric",
        },
    )
