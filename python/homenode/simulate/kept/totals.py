"""Counters of one partition over a stretch of time: the raw material of every metric."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from homenode.model.catalog.core import core_cycles
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.model.spec import (
    KvmSpec,
    MachineSpec,
    PartitionSpec,
    SharedSpec,
    Spec,
    loads_of,
    processors_of,
    shared_of,
    spec_at,
    times_of_change,
    zvm_of,
)
from homenode.simulate.answers import Finished, LoadAnswer, MachineFacts, PartitionAnswer
from homenode.simulate.kept.books import CAUSES, cycles_of

NS_PER_S = 1_000_000_000


class UnknownCounterError(LookupError):
    """What was asked for is not among the counters that are known; a run knows them all."""


@dataclass(frozen=True)
class Shape:
    """What of a partition's configuration the metrics need."""

    name: str
    entitlement: float
    """What it is entitled to: all its cores where they are dedicated [cores]."""
    processors: int
    """Virtual processors, or dedicated cores."""
    smt: int
    """Hardware threads used of each."""
    is_shared: bool
    core_cycles: float = 0.0
    """Cycles of an instruction with an infinite cache and a core to oneself."""
    cycles_of_loads: tuple[float, ...] = ()
    """The same of each of several workloads."""
    runs_guests: bool = False
    """Whether it runs z/VM, whose virtual machines are counted by themselves."""
    volumes: int = 0
    """Paging volumes."""
    on_host: bool = False
    """Whether Linux or Xen dispatches its threads one by one."""
    is_kvm: bool = False
    """Whether these are virtual processors of a KVM guest."""
    line_bytes: int = 0
    """Length of a cache line."""

    @property
    def logical_cpus(self) -> int:
        """Online logical CPUs."""
        return self.processors * self.smt


def shape_of(partition: PartitionSpec, machine: MachineSpec) -> Shape:
    """Read it from a partition and the machine of a frozen spec."""
    shared, count = shared_of(partition), processors_of(partition)
    entitlement = float(count if shared is None else shared["entitlement"])
    zvm = zvm_of(partition)
    paging = None if zvm is None else zvm["paging"]
    return Shape(
        name=str(partition["name"]),
        entitlement=entitlement,
        processors=int(count),
        smt=int(partition["smt"]),
        is_shared=shared is not None,
        core_cycles=core_cycles(partition["profile"], machine),
        cycles_of_loads=tuple(core_cycles(one, machine) for one in loads_of(partition).values()),
        runs_guests=zvm is not None,
        volumes=0 if paging is None else int(paging["volumes"]),
        on_host=shared is not None and machine["hypervisor"]["policy"] in HOST_POLICIES,
        is_kvm=_kvm_of(shared) is not None,
        line_bytes=int(machine["line_bytes"]),
    )


def shape_during(spec: Spec, index: int, start_ns: int = 0, end_ns: int | None = None) -> Shape:
    """A partition's shape over a stretch of the run, all of it if not told [ns]: its mean
    entitlement, and the most processors and threads that were online.
    """
    machine = spec["machine"]
    times = times_of_change(spec)
    if not times:
        return shape_of(spec["partitions"][index], machine)
    end_ns = spec["duration_ns"] if end_ns is None else end_ns
    starts = [start_ns, *(at for at in times if start_ns < at < end_ns)]
    shapes = [shape_of(spec_at(spec, at + 1)["partitions"][index], machine) for at in starts]
    lengths = [until - at for at, until in zip(starts, [*starts[1:], end_ns], strict=True)]
    parts = [shape.entitlement * length for shape, length in zip(shapes, lengths, strict=True)]
    return replace(
        shapes[-1],
        entitlement=math.fsum(parts) / (end_ns - start_ns),
        processors=max(shape.processors for shape in shapes),
        smt=max(shape.smt for shape in shapes),
    )


def _kvm_of(shared: SharedSpec | None) -> KvmSpec | None:
    """What KVM does for virtual processors; None for any others."""
    host = None if shared is None else shared.get("host")
    return None if host is None else host.get("kvm")


@dataclass(frozen=True)
class Totals:
    """Counters summed over `seconds`, with the distributions the engine kept beside them."""

    shape: Shape
    seconds: float
    counters: Mapping[str, float]
    gauges: Mapping[str, float] = field(default_factory=dict)
    """Means of what is read at the end of each interval instead of being counted."""
    response_ns: Mapping[str, float] = field(default_factory=dict)
    dispatch_wait_ns: Mapping[str, float] = field(default_factory=dict)
    finished_ns: Finished | None = None
    """Elapsed times of the loops that ended, if any did."""
    all_busy_ns: float = 0.0
    """Core time of all partitions together [ns]."""
    rni: Mapping[str, float] | None = None
    """The machine's weights of the relative nest intensity; None where it has none."""
    guests: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Counters of the virtual machines by role, and of all switches and paging volumes."""

    def __getitem__(self, counter: str) -> float:
        return float(self.counters.get(counter, 0))

    def sum(self, *counters: str) -> float:
        """Several counters together."""
        told = self.counters.get
        return math.fsum([told(counter, 0) for counter in counters])

    def guest(self, kind: str, counter: str) -> float:
        """A counter of all virtual machines of a role, of all switches or of all volumes."""
        return float(self.guests.get(kind, {}).get(counter, 0))

    @property
    def core_cycles(self) -> float:
        """Cycles of an average instruction that does work, with an infinite cache and a core to
        oneself; an instruction of a loop that waits for a lock does none.
        """
        spinning = ratio(self["spin_instructions"], self["instructions"]) or 0.0
        return self.shape.core_cycles * (1.0 - spinning)

    @functools.cached_property
    def cycles(self) -> dict[str, float] | None:
        """Cycles of an instruction by cause; None where there was none."""
        cpi = ratio(self["cycles"], self["instructions"])
        time = {cause.name: self[f"book_{cause.name}"] for cause in CAUSES}
        return None if cpi is None else cycles_of(time, cpi, self.core_cycles)

    @property
    def denominator_ns(self) -> float:
        """What the tools' percentages refer to: the entitled capacity, or what was consumed if that
        is more [ns].
        """
        return max(self["busy_ns"], self.entitled_ns)

    @property
    def entitled_ns(self) -> float:
        """Core time that it is entitled to [ns]."""
        return self.shape.entitlement * self.seconds * NS_PER_S


def totals_of(
    summary: PartitionAnswer,
    shape: Shape,
    seconds: float,
    machine: MachineFacts,
    all_busy_ns: float = 0.0,
) -> Totals:
    """From one partition of the summary of a replication; `machine` are the facts of the machine
    that the engine need not know.
    """
    return Totals(
        shape=_mixed(shape, summary),
        seconds=seconds,
        counters=summary["totals"],
        gauges=summary.get("gauges") or {},
        response_ns=summary.get("response_ns") or {},
        dispatch_wait_ns=summary.get("dispatch_wait_ns") or {},
        finished_ns=_finished(summary.get("finished")),
        all_busy_ns=all_busy_ns,
        rni=machine.get("rni"),
        guests=summary.get("guests") or {},
    )


def _mixed(shape: Shape, summary: PartitionAnswer) -> Shape:
    """With the cycles of a mean instruction of its workloads, where it has several."""
    done = [one["totals"]["instructions"] for one in summary.get("workloads", ())]
    if not sum(done):
        return shape
    pairs = zip(done, shape.cycles_of_loads, strict=True)
    cycles = math.fsum(count * each for count, each in pairs)
    return replace(shape, core_cycles=cycles / sum(done))


def load_totals(summary: LoadAnswer, shape: Shape, seconds: float, clock_hz: float) -> Totals:
    """From one of several workloads of a partition in a replication."""
    return Totals(
        shape=shape,
        seconds=seconds,
        counters=with_cycles(summary["totals"], clock_hz),
        response_ns=summary["response_ns"],
        finished_ns=_finished(summary["finished"]),
    )


def with_cycles(counters: Mapping[str, float], clock_hz: float) -> dict[str, float]:
    """Counters of a workload with the cycles of its threads."""
    return {**counters, "cycles": counters["thread_ns"] * clock_hz / NS_PER_S}


def _finished(told: Finished | Sequence[int] | None) -> Finished | None:
    """None if no loop ended; runs that were kept earlier list them one by one."""
    if isinstance(told, Sequence):
        told = {
            "count": len(told),
            "sum": sum(told),
            "min": min(told, default=0),
            "max": max(told, default=0),
        }
    return told if told and told["count"] else None


def ratio(part: float, whole: float, scale: float = 1.0) -> float | None:
    """`scale * part / whole`, or None where there is no whole."""
    return scale * part / whole if whole > 0 else None
