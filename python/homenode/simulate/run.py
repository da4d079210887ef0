"""`Run`: a kept run that can say where its cores went."""

from __future__ import annotations

from homenode.simulate.explain.explanation import Explanation, explain
from homenode.simulate.kept.kept_run import KeptRun


class Run(KeptRun):
    """A run folder that was found complete: what was simulated, its metrics, its interval tables
    and where the cores went. The same object in a notebook and on the command line.
    """

    def explain(
        self,
        partition: str | None = None,
        base: KeptRun | None = None,
        base_partition: str | None = None,
        *,
        by: str = "cores",
    ) -> Explanation:
        """Where the partition's cores went, or what it pays more than a base; see `explain`."""
        return explain(self, partition, base, base_partition, by=by)
