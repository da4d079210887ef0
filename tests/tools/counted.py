"""Counters made by hand: all columns of the interval tables, zero unless told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from homenode.errors import NotFoundError, nearest
from homenode.tools import Sample, SystemConfiguration
from homenode.tools.summing import Rows
from homenode.tools.view import Table

SECOND = 1_000_000_000


@dataclass(frozen=True)
class FrameView:
    """A run in memory: configurations and frames by name."""

    interval_ns: int
    configurations: Mapping[str, SystemConfiguration]
    frames: Mapping[tuple[Table, str], pl.DataFrame] = field(default_factory=dict)

    def partition(self, name: str | None) -> SystemConfiguration:
        """See `RunView.partition`."""
        if name is None and len(self.configurations) == 1:
            return next(iter(self.configurations.values()))
        if name is None or name not in self.configurations:
            hint = nearest(name or "", self.configurations)
            raise NotFoundError(f"there is no partition {name or 'chosen'}{hint}")
        return self.configurations[name]

    def rows(self, table: Table, partition: str) -> Rows:
        """See `RunView.rows`; the pool's frame stands under the empty name."""
        return Rows(self.frames[table, "" if table == "pool" else partition])


PARTITION_COLUMNS = str.split(
    "busy_ns entitled_ns excess_ns donated_ns user_ns sys_ns wait_ns idle_ns suser_ns ssys_ns "
    "swait_ns sidle_ns ticks_user ticks_sys ticks_wait ticks_idle vcsw ilcs vlcs phint "
    "hypervisor_ns cede_calls cede_ns cede_max_ns confer_calls confer_ns prod_calls prod_ns "
    "dispatches runq_ns blocked_ns context_switches interrupts syscalls tx_inside vps_unfolded"
)
CPU_COLUMNS = str.split(
    "user_ns sys_ns wait_ns idle_ns ticks_busy_ns ilcs vlcs cs ics runq_ns s0rd s1rd s2rd s3rd "
    "s4rd s5rd s3hrd s4hrd s5hrd migrations interrupts"
)


def partition(**counted: float) -> dict[str, int]:
    """A partition's counters; SPURR equals PURR unless told."""
    row = dict.fromkeys(PARTITION_COLUMNS, 0)
    for state in ("user", "sys", "wait", "idle"):
        row[f"s{state}_ns"] = int(counted.get(f"{state}_ns", 0))
    return row | _known(row, counted)


def cpu(number: int, vp: int = 0, **counted: float) -> dict[str, int]:
    """A logical processor's counters."""
    row = dict.fromkeys(CPU_COLUMNS, 0)
    return {"cpu": number, "vp": vp, **row, **_known(row, counted)}


def _known(row: Mapping[str, int], counted: Mapping[str, float]) -> dict[str, int]:
    assert set(counted) <= set(row), set(counted) - set(row)
    return {name: round(value) for name, value in counted.items()}


def sample(
    counted: Mapping[str, int] | None = None,
    cpus: Sequence[Mapping[str, int]] = (),
    elapsed_ns: int = SECOND,
    **pool: int,
) -> Sample:
    """One interval of a second."""
    return Sample(elapsed_ns, elapsed_ns, counted or partition(), tuple(cpus), pool)


def shared(**facts: Any) -> SystemConfiguration:
    """A shared, uncapped partition of 2 virtual processors and the entitlement 1.00."""
    usual: dict[str, Any] = {
        "name": "testpar", "smt": 2, "vps": 2, "ent": 1.0, "mem_mb": 2048, "psize": 9,
        "clock_hz": 3.6e9,
    }  # fmt: skip
    return SystemConfiguration(**(usual | facts))


def dedicated(**facts: Any) -> SystemConfiguration:
    """Two dedicated cores with 8 threads each."""
    usual: dict[str, Any] = {
        "name": "testpar", "kind": "Dedicated", "mode": "Capped", "smt": 8, "vps": 2, "ent": 2.0,
        "mem_mb": 4096, "level": "7.2",
    }  # fmt: skip
    return SystemConfiguration(**(usual | facts))


def view(configuration: SystemConfiguration, samples: Sequence[Sample]) -> FrameView:
    """A run that kept these samples, one after another, as rows of interval tables."""
    interval_ns = samples[0].elapsed_ns
    ends = [(index + 1) * interval_ns for index in range(len(samples))]
    partitions = [
        {"time_ns": end, "partition": 0, **s.partition}
        for end, s in zip(ends, samples, strict=True)
    ]
    cpus = [
        {"time_ns": end, "partition": 0, **counted}
        for end, s in zip(ends, samples, strict=True)
        for counted in s.cpus
    ]
    pools = [
        {"time_ns": end, "pool": 0, "cores": 0, "busy_ns": 0, "idle_ns": 0, **s.pool}
        for end, s in zip(ends, samples, strict=True)
    ]
    name = configuration.name
    return FrameView(
        interval_ns,
        {name: configuration},
        {
            ("partition", name): pl.DataFrame(partitions),
            ("cpu", name): pl.DataFrame(cpus) if cpus else pl.DataFrame({"time_ns": [], "cpu": []}),
            ("pool", ""): pl.DataFrame(pools),
        },
    )
