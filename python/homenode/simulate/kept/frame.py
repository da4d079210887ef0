"""A run's frame or host as a whole: what all partitions together used, of how much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.estimate import Estimate, Told, estimate
from homenode.model.spec import capacity_of, cores_of, shared_of

if TYPE_CHECKING:
    from homenode.simulate.kept.figures import Figures

_AT_LIMIT = 0.98
"""Share of a limit from which on it is taken to be reached: what is left over is the hypervisor's
and the last moments of those that wait."""


@dataclass(frozen=True)
class Frame:
    """Capacity in cores, on a Linux or Xen host in processors as it counts them."""

    kind: str
    """`frame` or `host`."""
    unit: str
    """`cores` or `processors`."""
    capacity: float
    used: Estimate
    free: Estimate
    dedicated: int
    entitlement: float
    """Shared entitlement of all partitions; on a host what they get if all want everything."""

    def as_json(self) -> dict[str, str | float | Told]:
        """As `--json` prints it."""
        return {
            "kind": self.kind,
            "unit": self.unit,
            "capacity": self.capacity,
            "used": self.used.as_json(),
            "free": self.free.as_json(),
            "dedicated": self.dedicated,
            "entitlement": self.entitlement,
        }


def frame_of(run: Figures) -> Frame:
    """The frame of a run, with 95 % intervals over its replications."""
    machine, scale = run.spec["machine"], run.spec["duration_ns"]
    hosted = machine["hypervisor"]["policy"] in HOST_POLICIES
    capacity = float(capacity_of(machine))
    used = [
        math.fsum(one["totals"]["busy_ns"] for one in summary["partitions"]) / scale
        for summary in run.raw
    ]
    shared = [run.totals(name)[0].shape for name in run.partitions]
    return Frame(
        kind="host" if hosted else "frame",
        unit="processors" if hosted else "cores",
        capacity=capacity,
        used=estimate(used),
        free=estimate([capacity - one for one in used]),
        dedicated=sum(len(cores_of(one)) for one in run.spec["partitions"]),
        entitlement=math.fsum(one.entitlement for one in shared if one.is_shared),
    )


def limit_of(run: Figures, partition: str, frame: Frame) -> str:
    """Half a sentence on what keeps a partition without a steady state from doing more."""
    spec, physc = run.partition_spec(partition), run.metric(partition, "physc").mean or 0.0
    shared = shared_of(spec)
    if shared is not None and shared["capped"] and physc >= _AT_LIMIT * shared["entitlement"]:
        return f"at its cap of {shared['entitlement']:.2f} cores"
    if (run.metric(partition, "throttled_periods_pct").mean or 0.0) >= 100 * _AT_LIMIT:
        return "throttled by its quota in every period"
    count = len(cores_of(spec)) if shared is None else shared["virtual"]
    if physc >= _AT_LIMIT * count:
        what = "cores" if shared is None else "virtual processors"
        return f"all {count} {what} in use"
    if (frame.used.mean or 0.0) >= _AT_LIMIT * frame.capacity:
        return f"the {frame.kind} is full"
    pool = None if shared is None else run.spec["pools"][shared["pool"]]
    most = None if pool is None else pool["maximum"]
    if pool is not None and most is not None:
        there = run.summary["machine"]["pools"][pool["name"]]["physc"]["mean"] or 0.0
        if there >= _AT_LIMIT * most:
            return f"its pool {pool['name']} of {most:g} cores is full"
    return ""
