"""Metrics by name, of a partition and of a run: dictionaries that know what they hold, so that a
wrong name is answered with the nearest.
"""

from __future__ import annotations

from collections.abc import Mapping

from homenode.errors import NoSuchNameError, nearest
from homenode.model.estimate import Estimate
from homenode.model.numbers import significant_with_interval
from homenode.simulate.kept.grid import Grid
from homenode.simulate.kept.metrics import METRICS


class PartitionMetrics(dict[str, Estimate]):
    """Every metric of a partition by name."""

    def __init__(
        self,
        run: str,
        partition: str,
        metrics: Mapping[str, Estimate],
        workloads: Mapping[str, Mapping[str, Estimate]] | None = None,
    ) -> None:
        super().__init__(metrics)
        self.run = run
        self.partition = partition
        self.workloads = _Workloads(run, partition, workloads or {})
        """Where it has several workloads, the metrics of each, by name; else empty."""

    def __missing__(self, name: object) -> Estimate:
        """A metric that is not there: `NotFoundError` and `KeyError` in one."""
        raise NoSuchNameError(f"there is no metric {name}{nearest(str(name), self)}")

    def _repr_html_(self) -> str:
        """What a notebook shows: those that have a value."""
        rows = [
            (name, significant_with_interval(one), METRICS[name].unit, METRICS[name].meaning)
            for name, one in self.items()
            if one.mean is not None and name in METRICS
        ]
        title = f"{self.partition} of {self.run}"
        return Grid(title, ("metric", "mean (95 %)", "unit", "meaning"), rows).html()


class _Workloads(dict[str, PartitionMetrics]):
    """The metrics of each of several workloads of a partition."""

    def __init__(
        self, run: str, partition: str, workloads: Mapping[str, Mapping[str, Estimate]]
    ) -> None:
        super().__init__(
            {
                name: PartitionMetrics(run, f"{name} in {partition}", metrics)
                for name, metrics in workloads.items()
            }
        )
        self.partition = partition

    def __missing__(self, name: object) -> PartitionMetrics:
        """A workload that is not there: `NotFoundError` and `KeyError` in one."""
        if not self:
            raise NoSuchNameError(
                f"{self.partition} has one workload",
                next_step="its figures are those of the partition",
            )
        raise NoSuchNameError(f"{self.partition} has no workload {name}{nearest(str(name), self)}")


class RunMetrics(dict[str, PartitionMetrics]):
    """The metrics of every partition of a run, by partition."""

    def __init__(
        self,
        run: str,
        partitions: Mapping[str, Mapping[str, Estimate]],
        workloads: Mapping[str, Mapping[str, Mapping[str, Estimate]]] | None = None,
    ) -> None:
        beside = workloads or {}
        super().__init__(
            {
                name: PartitionMetrics(run, name, metrics, beside.get(name))
                for name, metrics in partitions.items()
            }
        )
        self.run = run

    def __missing__(self, name: object) -> PartitionMetrics:
        """A partition that is not there: `NotFoundError` and `KeyError` in one."""
        step = None
        if name in METRICS and self:
            step = f"metrics stand by partition: metrics[{next(iter(self))!r}][{name!r}]"
        raise NoSuchNameError(
            f"run {self.run} has no partition {name}{nearest(str(name), self)}", next_step=step
        )

    def grid(self, names: tuple[str, ...] = (), title: str = "") -> Grid:
        """These metrics, a row each, and a column a partition; all that have a value if none is
        named.
        """
        shown = [
            name
            for name in names or METRICS
            if any(name in one and one[name].mean is not None for one in self.values())
        ]
        rows = [
            (
                name,
                *(significant_with_interval(one[name]) for one in self.values()),
                METRICS[name].unit,
            )
            for name in shown
        ]
        return Grid(title or self.run, ("metric", *self, "unit"), rows)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return self.grid().html()
