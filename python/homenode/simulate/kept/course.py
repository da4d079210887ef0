"""What a run did over time: cores used by each partition in each kept interval, held against what
it was entitled to, its pool and the whole machine; and how long work took.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from homenode.errors import NotFoundError
from homenode.model.estimate import mean_of
from homenode.simulate.kept.frame import frame_of
from homenode.simulate.kept.rows import select
from homenode.simulate.kept.totals import NS_PER_S, shape_during

if TYPE_CHECKING:
    from homenode.simulate.kept.kept_run import KeptRun

QUANTILES = ("p50", "p95", "p99", "max")


class PartitionCourse(TypedDict):
    """One partition, a value an interval."""

    partition: str
    pool: str | None
    used: list[float]
    """Cores, on a host its processors."""
    entitled: list[float]
    response_ms: list[float | None]
    """Mean of what was done in the interval; None where nothing was."""
    spread_ms: dict[str, float]
    """Median, percentiles and the longest response, means over the replications; empty of none."""
    wait_us: dict[str, float]
    """The same of how long a ready virtual processor waits for a core; empty where none waited."""
    steady: bool
    """Whether responses have a distribution that lasts."""


class PoolCourse(TypedDict):
    """A shared pool, a value an interval."""

    pool: str
    used: list[float]
    cores: list[float]
    """What its partitions can use together."""
    limited: bool
    """Whether it has a limit of its own."""


class Course(TypedDict):
    """One replication of a run."""

    run: str
    replication: int
    unit: str
    capacity: float
    seconds: list[float]
    """Ends of the intervals, from the end of the warm-up."""
    partitions: list[PartitionCourse]
    pools: list[PoolCourse]


def course_of(run: KeptRun, replication: int = 0) -> Course:
    """The course of one replication, which is rougher than a mean over several and is what a system
    would show. Raises `NotFoundError` for one that was not kept.
    """
    kept = run.provenance["replications"]
    if replication not in kept:
        raise NotFoundError(
            f"run {run.id} has no replication {replication}",
            there=f"it kept {', '.join(map(str, kept[:8]))}{', ...' if len(kept) > 8 else ''}",
        )
    frame = frame_of(run)
    what = "time_ns, partition, busy_ns, response_ns, tx_done"
    rows = select(
        what,
        run.table_file("partition"),
        "WHERE replication = $replication ORDER BY time_ns",
        replication=replication,
    )
    ends = sorted({row[0] for row in rows})
    spans = list(zip([0, *ends], ends, strict=False))
    return Course(
        run=run.id,
        replication=replication,
        unit=frame.unit,
        capacity=frame.capacity,
        seconds=[end / NS_PER_S for end in ends],
        partitions=[
            _partition(run, index, [row[2:] for row in rows if row[1] == index], spans)
            for index in range(len(run.partitions))
        ],
        pools=_pools(run, replication, spans),
    )


Spans = list[tuple[int, int]]
"""Begin and end of each interval [ns]."""


def _partition(
    run: KeptRun, index: int, rows: list[tuple[int, int, int]], spans: Spans
) -> PartitionCourse:
    processors = run.spec["partitions"][index]["processors"]
    pool = run.spec["pools"][processors["pool"]] if processors["mode"] == "shared" else None
    waits = _spread(run, index, "dispatch_wait_ns", 1e3)
    return PartitionCourse(
        partition=run.partitions[index],
        pool=None if pool is None else str(pool["name"]),
        used=[row[0] / (end - begin) for row, (begin, end) in zip(rows, spans, strict=True)],
        entitled=[shape_during(run.spec, index, *span).entitlement for span in spans],
        response_ms=[row[1] / row[2] / 1e6 if row[2] else None for row in rows],
        spread_ms=_spread(run, index, "response_ns", 1e6),
        wait_us=waits if waits.get("max") else {},
        steady=run.unsteady_reason(run.partitions[index]) is None,
    )


def _spread(
    run: KeptRun, index: int, what: Literal["response_ns", "dispatch_wait_ns"], unit_ns: float
) -> dict[str, float]:
    known = [told for one in run.raw if (told := one["partitions"][index][what]).get("count")]
    return {name: mean_of([one[name] for one in known]) / unit_ns for name in QUANTILES if known}


def _pools(run: KeptRun, replication: int, spans: Spans) -> list[PoolCourse]:
    """Pools in which any partition is."""
    rows = select(
        "pool, busy_ns, cores",
        run.table_file("pool"),
        "WHERE replication = $replication ORDER BY time_ns",
        replication=replication,
    )
    found = []
    for index, pool in enumerate(run.spec["pools"]):
        here = [row for row in rows if row[0] == index]
        most = pool["maximum"]
        found.append(
            PoolCourse(
                pool=str(pool["name"]),
                used=[
                    row[1] / (end - begin) for row, (begin, end) in zip(here, spans, strict=True)
                ],
                cores=[float(row[2] if most is None else min(most, row[2])) for row in here],
                limited=most is not None,
            )
        )
    return found
