"""Results of runs: metrics with their uncertainty, interval tables, where the cores went."""

from homenode.results.books import CAUSES, Breakdown
from homenode.results.metric import Metric
from homenode.results.metrics import METRICS
from homenode.results.run import Run
from homenode.results.stats import Estimate

__all__ = ["CAUSES", "METRICS", "Breakdown", "Estimate", "Metric", "Run"]
