"""What Linux in a partition of a Power server would have counted by a moment: sums over the kept
intervals up to there. Between the ends of intervals nothing is known, so a moment is always one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from homenode.model.spec import MachineSpec
from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.linux_power.dispersion import dispersions
from homenode.tools import SystemConfiguration, from_spec, samples

if TYPE_CHECKING:
    from homenode.records.exporting.linux_power.dispersion import Dispersion
    from homenode.records.exporting.options import ExportOptions
    from homenode.simulate.run import Run

Counters = Mapping[str, int]

TIMEBASE_HZ = 512_000_000
"""Rate of the timebase register since POWER5 [Hz]; PURR and the idle time of the pool count in it.
"""
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Partition:
    """What does not change during a run."""

    configuration: SystemConfiguration
    machine: MachineSpec
    """Of the frozen scenario."""
    model: str
    """Machine type and model, such as 9117-MMC; empty where it is not known."""
    interval_ns: int

    @property
    def threads_per_core(self) -> int:
        """Hardware threads of each core, whether used or not."""
        return int(self.machine["threads_per_core"])

    @cached_property
    def possible(self) -> list[int]:
        """Numbers that Linux has for logical processors; unused threads have theirs too."""
        return list(range(self.configuration.vps * self.threads_per_core))

    @cached_property
    def online(self) -> list[int]:
        """Numbers of the threads that are used: the first ones of each core."""
        smt, most = self.configuration.smt, self.threads_per_core
        return [cpu for cpu in self.possible if cpu % most < smt]

    def core_of(self, cpu: int) -> int:
        """The virtual processor of a logical one."""
        return cpu // self.threads_per_core

    def threads_of(self, core: int) -> list[int]:
        """Numbers of the threads used of a virtual processor."""
        first = core * self.threads_per_core
        return list(range(first, first + self.configuration.smt))

    def number(self, cpu: int) -> int:
        """What Linux calls the logical processor that the run numbers by the threads it had."""
        step = self.configuration.cpu_step
        return cpu // step * self.threads_per_core + cpu % step


@dataclass(frozen=True)
class State:
    """What was counted by a moment, since the measured time began."""

    elapsed_ns: int
    counted: Counters
    """Of the partition."""
    cpus: Mapping[int, Counters]
    """By number of the logical processor, as Linux counts them."""
    pool: Counters
    dispersion: Mapping[int, Dispersion] | None = None
    """By virtual processor; none where the run kept no single dispatches."""
    dispersion_before: Mapping[int, Dispersion] = field(default_factory=dict)
    """What of it was counted before somebody asked Linux to count."""


def ticks(core_ns: int) -> int:
    """Core time in ticks of the timebase."""
    return core_ns * (TIMEBASE_HZ // 1_000_000) // (_NS_PER_S // 1_000_000)


def partition_of(run: Run, options: ExportOptions) -> Partition:
    """The partition asked for; without a name the only one. `NotFoundError` if there are several,
    `ExportError` on a machine that is no Power server.
    """
    machine = run.spec["machine"]
    if machine["hypervisor"]["policy"] != "phyp":
        raise ExportError(
            f"run {run.id} is of {machine['name']}, which is no Power server",
            next_step="export trees of IBM Z with --as s390x",
        )
    name = run.partition(options.partition)
    return Partition(
        configuration=from_spec(run.spec, name, options.view(run).details.get(name)),
        machine=machine,
        model=str(run.machine_facts.get("model", "")),
        interval_ns=int(run.spec["interval_ns"]),
    )


def states(run: Run, partition: Partition, options: ExportOptions) -> Iterator[State]:
    """The state at the end of each kept interval, in order."""
    name = partition.configuration.name
    view = options.view(run)
    kept = samples(view, name, view.interval_ns, None, ("partition", "cpu", "pool"))
    by_moment = dispersions(run, name, options.replication or 0, len(kept))
    counted: dict[str, int] = {}
    pool: dict[str, int] = {}
    cpus: dict[int, dict[str, int]] = {cpu: {} for cpu in partition.online}
    for index, sample in enumerate(kept):
        _add(counted, sample.partition)
        _add(pool, sample.pool)
        for cpu in sample.cpus:
            if partition.configuration.has(cpu):
                _add(cpus[partition.number(cpu["cpu"])], cpu)
        yield State(
            elapsed_ns=sample.end_ns,
            counted=dict(counted),
            cpus={number: dict(counters) for number, counters in cpus.items()},
            pool=dict(pool),
            dispersion=None if by_moment is None else by_moment[index],
        )


def _add(total: dict[str, int], counted: Counters) -> None:
    for name, value in counted.items():
        total[name] = total.get(name, 0) + value
