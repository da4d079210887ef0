"""A scaling set that was run: its verdict, its table, its JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homenode.errors import RunError
from homenode.evidence.capability import Curve
from homenode.evidence.scaling.capability import how
from homenode.evidence.scaling.causes import Costs, costs_of
from homenode.evidence.scaling.scaled import Scaled, Size
from homenode.evidence.scaling.telling import tell
from homenode.model.scaling_curve import (
    FRACTION,
    Point,
    Step,
    capability_ratios,
    first_bend,
    itr_ratios,
    steps,
)
from homenode.simulate.run import Run

if TYPE_CHECKING:
    import polars as pl

_TOLD = ("etr_per_s", "itr_per_s", "busy_pct", "cpu_per_tx_us", "cpi", "unparked", "tv_ratio")


@dataclass(frozen=True)
class ScalingResult(Scaled):
    """A whole set with what it says."""

    @property
    def verdict(self) -> list[str]:
        """Sentences: whether and where the curve bends, and what grows there."""
        return tell(self)

    def frame(self) -> pl.DataFrame:
        """A row a size as a polars frame."""
        import polars as pl

        return pl.DataFrame([self._size_json(size) for size in self.sizes])

    def as_json(self) -> dict[str, object]:
        """What `homenode scaling --json` prints."""
        return {
            "scenario": self.scenario,
            "partition": self.partition,
            "capability": self.curve.source,
            "rule": {"fraction": FRACTION},
            "sizes": [self._size_json(size) for size in self.sizes],
            "steps": [self._step_json(step) for step in self.steps],
            "inflection": None if self.bend is None else self._step_json(self.bend),
            "verdict": self.verdict,
        }

    def _size_json(self, size: Size) -> dict[str, object]:
        return {
            "processors": size.processors,
            "run": size.run.id,
            **{name: size.metric(self.partition, name) for name in _TOLD},
            "itrr": size.itr_ratio,
            "capability_ratio": size.capability_ratio,
            "capability_from": size.capability_from,
            **{f"us_per_tx_{k.replace(' ', '_')}": v for k, v in size.costs.kinds.items()},
            **{f"us_per_tx_{name}": v for name, v in size.costs.classes.items()},
            "response_ms_mean": size.costs.response_ms,
            "page_wait_ms_per_tx": size.costs.page_wait_ms,
        }

    def _step_json(self, step: Step) -> dict[str, object]:
        return {
            "from": step.start.processors,
            "to": step.end.processors,
            "itrr_gain": step.gain,
            "capability_gain": step.offered,
            "fraction": step.fraction,
            "inflection": step.bends,
            "growth": [
                {"kind": g.kind, "before_us": g.before_us, "after_us": g.after_us, "share": g.share}
                for g in self.growth(step)
            ],
        }


def result_of(
    scenario: str, partition: str, curve: Curve, runs: Sequence[tuple[int, Run]]
) -> ScalingResult:
    """What the runs of a set say; `runs` rise in processors."""
    points = [
        Point(processors, _itr(run, partition, processors), curve.capability(processors))
        for processors, run in runs
    ]
    ratios, offered = itr_ratios(points), capability_ratios(points)
    sizes = tuple(
        Size(n, run, ratios[i], offered[i], how(curve, n), _costs(run, partition, n))
        for i, (n, run) in enumerate(runs)
    )
    return ScalingResult(
        scenario, partition, curve, sizes, tuple(steps(points)), first_bend(points)
    )


def _itr(run: Run, partition: str, processors: int) -> float:
    found = run.metric(partition, "itr_per_s")
    if not found.mean:
        why = f" ({found.reason})" if found.reason else ""
        raise RunError(
            f"with {processors} processors partition {partition} did no transactions{why}",
            next_step="lengthen [run] duration, or look at the run alone with `homenode run`",
        )
    return found.mean


def _costs(run: Run, partition: str, processors: int) -> Costs:
    costs = costs_of(run, partition)
    if costs is None:
        raise RunError(
            f"with {processors} processors partition {partition} did no transactions",
            next_step="lengthen [run] duration",
        )
    return costs
