"""Points of a sweep, or any runs, beside each other: chosen metrics of each partition, how far each
is from the first, which is best.

Replications of the same number of runs of one scenario and seed see the same random numbers, so
differences are taken replication by replication; the chance that both share drops out (common
random numbers). Of other runs the interval of a difference is Welch's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homenode.errors import NotFoundError, closest
from homenode.model.estimate import Estimate, Told, estimate, mean_of, student_t
from homenode.model.spec import PartitionSpec
from homenode.simulate.kept.metrics import METRICS
from homenode.simulate.kept.work import kinds_of

if TYPE_CHECKING:
    from homenode.simulate.kept.figures import Figures

USUAL = ("physc", "etr_per_s", "response_ms_p95", "elapsed_s")
"""Metrics that are shown if none are named, those without any value left out."""
_MOST_CHANGES = 4
_LONGEST = 40
BEST, LIKE_BEST = "best", "like best"
_MORE = frozenset({"etr_per_s", "itr_per_s", "home_share"})
"""Metrics of which more is better."""
_LESS = (
    "response_ms", "elapsed_s", "cpu_per_tx_us", "dispatch_wait_us", "run_delay", "far_share",
    "cpi", "eicpi", "efcpi", "instructions_per_tx", "memory_wait_ns", "steal_pct", "throttled",
    "client_wait_us", "page_wait_ms",
)  # fmt: skip
"""Beginnings of those of which less is better."""
_CORES = frozenset({"physc", "entc_pct"})
"""Less is better where the same work comes at every point."""
_FROM_OUTSIDE = frozenset({"transactions", "trace"})
"""Workloads of which the same comes however fast it is done."""

Values = Mapping[int, float]
"""A metric by replication."""


@dataclass(frozen=True)
class Point:
    """What a comparison needs of a run, little enough to be kept of thousands."""

    run: str
    axes: Mapping[str, object]
    chance: tuple[str, int]
    """Scenario and seed: runs that share both share their random numbers."""
    partitions: tuple[str, ...]
    offered: frozenset[str]
    """Partitions whose work comes from outside."""
    told: Mapping[tuple[str, str], Estimate]
    """By partition and metric."""
    values: Mapping[tuple[str, str], Values]


@dataclass(frozen=True)
class Cell:
    """One metric of one partition at one point."""

    estimate: Estimate
    change: Estimate
    """Against the first point; without a mean where there is nothing to compare."""
    mark: str
    """`best`, `like best` (not told apart from it), or nothing."""


@dataclass(frozen=True)
class Row:
    """One partition at one point."""

    run: str
    axes: Mapping[str, object]
    partition: str
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Comparison:
    """Points beside each other."""

    axes: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: tuple[Row, ...]
    paired: bool
    """Whether all changes were taken replication by replication."""

    def as_json(self) -> list[dict[str, object]]:
        """A dictionary a row."""
        return [
            {
                "run": row.run,
                "point": dict(row.axes),
                "partition": row.partition,
                "metrics": {name: _cell_json(cell) for name, cell in row.cells.items()},
            }
            for row in self.rows
        ]


def _cell_json(cell: Cell) -> dict[str, Told | str]:
    told: dict[str, Told | str] = {**cell.estimate.as_json()}  # type: ignore[dict-item]
    return {**told, "change": cell.change.as_json(), "mark": cell.mark}


def point_in_words(axes: Mapping[str, object]) -> str:
    """`virtual = 4, throttled = 2`, each axis by the end of its path that tells it from others."""
    names = short_names(tuple(axes))
    return ", ".join(f"{names[axis]} = {value}" for axis, value in axes.items())


def changes_in_words(changes: Mapping[str, object]) -> str:
    """`lpar4.home = book7, lpar3.processors.virtual = 16`; of many the first."""
    told = [f"{_of(path)} = {_plain(value)}" for path, value in changes.items()]
    more = [f"{len(told) - _MOST_CHANGES} more"] if len(told) > _MOST_CHANGES else []
    return ", ".join([*told[:_MOST_CHANGES], *more])


def _of(path: str) -> str:
    """A path without the word that most begin with."""
    return path.removeprefix("partition.")


def _plain(value: object) -> str:
    """A value; of one that is long, such as a course of steps, that it is another one."""
    text = "none" if value is None else str(value)
    return text if len(text) <= _LONGEST else "another"


def short_names(axes: Sequence[str]) -> dict[str, str]:
    """Of each path so much of its end as tells it from the others."""
    found = {}
    for axis in axes:
        parts = axis.split(".")
        ends = [".".join(parts[-count:]) for count in range(1, len(parts) + 1)]
        others = [other for other in axes if other != axis]
        found[axis] = next(
            (end for end in ends if not any(f".{other}".endswith(f".{end}") for other in others)),
            axis,
        )
    return found


def chosen_metrics(words: str | None) -> tuple[str, ...]:
    """The metrics of a list with commas; the usual ones without. Raises `NotFoundError` for a name
    that is no metric, and says which there are.
    """
    if words is None:
        return USUAL
    names = tuple(dict.fromkeys(word.strip() for word in words.split(",") if word.strip()))
    for name in names:
        if name not in METRICS:
            near = closest(name, METRICS)
            raise NotFoundError(
                f"there is no metric {name}{f'; did you mean {near}?' if near else ''}",
                there=f"the metrics are {', '.join(METRICS)}",
            )
    if not names:
        raise NotFoundError(
            "--show names no metric", next_step="write it as --show physc,response_ms_p95"
        )
    return names


def point_of(run: Figures, metrics: Sequence[str]) -> Point:
    """What is compared of a run."""
    indices = run.provenance["replications"]
    told, values = {}, {}
    for partition in run.partitions:
        steady = run.unsteady_reason(partition) is None
        totals = run.totals(partition)
        for name in metrics:
            metric = METRICS[name]
            told[partition, name] = run.metrics[partition][name]
            found = [metric.of(one) for one in totals]
            values[partition, name] = {
                index: value
                for index, value in zip(indices, found, strict=True)
                if value is not None and (steady or not metric.needs_steady)
            }
    return Point(
        run=run.id,
        axes=run.point,
        chance=(run.name, run.seed),
        partitions=tuple(run.partitions),
        offered=frozenset(
            str(one["name"]) for one in run.spec["partitions"] if comes_from_outside(one)
        ),
        told=told,
        values=values,
    )


def comes_from_outside(partition: PartitionSpec) -> bool:
    """Whether the same work comes to it however fast it is done."""
    return all(kind in _FROM_OUTSIDE for kind in kinds_of(partition))


def compared(
    points: Sequence[Point], metrics: Sequence[str], only: Iterable[str] = ()
) -> Comparison:
    """At least one point beside each other; metrics that no partition has are left out of the usual
    ones.
    """
    wanted = tuple(only)
    places = [
        (point, name)
        for point in points
        for name in point.partitions
        if not wanted or name in wanted
    ]
    shown = tuple(
        metric
        for metric in metrics
        if tuple(metrics) != USUAL
        or any(point.told[name, metric].mean is not None for point, name in places)
    )
    best = {
        (name, metric): _best(points, name, metric)
        for name in dict.fromkeys(name for _, name in places)
        for metric in shown
    }
    rows = [
        Row(
            run=point.run,
            axes=point.axes,
            partition=name,
            cells={
                metric: Cell(
                    point.told[name, metric],
                    Estimate(None)
                    if point is points[0]
                    else difference(points[0], point, name, metric),
                    _mark(point, best[name, metric], name, metric),
                )
                for metric in shown
            },
        )
        for point, name in places
    ]
    axes = tuple(dict.fromkeys(axis for point in points for axis in point.axes))
    paired = all(point.chance == points[0].chance for point in points)
    return Comparison(axes, shown, tuple(rows), paired)


def difference(base: Point, other: Point, partition: str, metric: str) -> Estimate:
    """How much more the other has, with its 95 % interval: of pairs of replications that share
    their random numbers, else Welch's. No mean where either has none.
    """
    place = (partition, metric)
    before, after = base.values.get(place, {}), other.values.get(place, {})
    if not before or not after:
        return Estimate(None)
    both = sorted(set(before) & set(after))
    if base.chance == other.chance and both:
        return estimate([after[index] - before[index] for index in both])
    return _apart([*before.values()], [*after.values()])


def _apart(before: Sequence[float], after: Sequence[float]) -> Estimate:
    """Welch's interval for the difference of two means of independent values."""
    mean = mean_of(after) - mean_of(before)
    if min(len(before), len(after)) < 2:
        return Estimate(mean)
    parts = [_variance(one) / len(one) for one in (before, after)]
    total = math.fsum(parts)
    weighed = math.fsum(
        part**2 / (len(one) - 1) for part, one in zip(parts, (before, after), strict=True)
    )
    degrees = max(int(total**2 / weighed), 1) if weighed else len(before) + len(after) - 2
    return Estimate(mean, student_t(degrees) * math.sqrt(total))


def _variance(values: Sequence[float]) -> float:
    mean = mean_of(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _sign(metric: str, partition: str, points: Sequence[Point]) -> int:
    """1 where more is better, -1 where less is, 0 where neither."""
    if metric in _MORE:
        return 1
    same = all(partition in point.offered for point in points if partition in point.partitions)
    return -1 if metric.startswith(_LESS) or (metric in _CORES and same) else 0


def _best(points: Sequence[Point], partition: str, metric: str) -> Point | None:
    """The point that is best in a metric of a partition; None where none is, or they are alike."""
    sign = _sign(metric, partition, points)
    place = (partition, metric)
    means = [
        (mean, point)
        for point in points
        if place in point.told and (mean := point.told[place].mean) is not None
    ]
    if not sign or len(means) < 2 or len({mean for mean, _ in means}) == 1:
        return None
    return max(means, key=lambda pair: sign * pair[0])[1]


def _mark(point: Point, best: Point | None, partition: str, metric: str) -> str:
    if best is None or point.told[partition, metric].mean is None:
        return ""
    if point is best:
        return BEST
    found = difference(best, point, partition, metric)
    alike = found.mean is not None and found.ci95 is not None and abs(found.mean) <= found.ci95
    return LIKE_BEST if alike else ""
