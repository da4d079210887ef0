"""A solved layout beside its simulation: how far apart, and whether chance explains it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from homenode.model.estimate import Estimate, Told
from homenode.simulate.kept.figures import Figures

COMPARED = ("physc", "etr_per_s", "cpu_per_tx_us", "response_ms_mean")
"""Metrics that are compared if none are named."""


@dataclass(frozen=True)
class Beside:
    """One metric of one partition, both ways."""

    partition: str
    metric: str
    solved: float
    simulated: Estimate

    @property
    def deviation(self) -> float | None:
        """Of the solved from the simulated mean, as a share of that."""
        mean = self.simulated.mean
        return self.solved / mean - 1.0 if mean else None

    @property
    def is_within(self) -> bool | None:
        """Whether it lies within the 95 % interval; None where there is none."""
        mean, ci95 = self.simulated.mean, self.simulated.ci95
        return None if mean is None or ci95 is None else abs(self.solved - mean) <= ci95

    def as_json(self) -> dict[str, str | float | bool | Told | None]:
        """As `--json` prints it."""
        return {
            "partition": self.partition,
            "metric": self.metric,
            "solved": self.solved,
            "simulated": self.simulated.as_json(),
            "deviation": self.deviation,
            "within": self.is_within,
        }


def beside(solved: Figures, run: Figures, metrics: Sequence[str] = COMPARED) -> list[Beside]:
    """The metrics that both have, partition by partition."""
    found = []
    for name in solved.partitions:
        for metric in metrics:
            own, other = solved.metric(name, metric), run.metric(name, metric)
            if own.mean is not None and other.mean is not None:
                found.append(Beside(name, metric, own.mean, other))
    return found
