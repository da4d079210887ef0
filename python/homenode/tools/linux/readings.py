"""What Linux counts over an interval: shares of its processors' time, threads, switches; and the
same of each group of threads of a host.

In a guest, `%steal` is time in which it had work and no processor, where its hypervisor tells so;
of single processors only the sum is kept, so each has a part in proportion to its unused time. On
a host all time in KVM guests is `%guest`, what KVM itself takes `%sys`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from homenode.model.spec import shared_of
from homenode.tools.intervals import Sample
from homenode.tools.linux.switches import linux_switches
from homenode.tools.linux.system import Group, LinuxSystem, Places
from homenode.tools.usage import Request

_NS_PER_S = 1_000_000_000
FULL = 100.0


@dataclass(frozen=True)
class States:
    """Shares of the time of one processor, or of all [%]; they add up to 100."""

    usr: float
    sys: float
    iowait: float
    steal: float
    guest: float
    idle: float


@dataclass(frozen=True)
class Reading:
    """A system over an interval."""

    start_ns: int
    end_ns: int
    all: States
    cpus: tuple[States, ...]
    """In order of their numbers; of a host only if they are asked for and the run recorded its
    dispatches, for over time the sum alone is kept.
    """
    runnable: float
    """Threads that ran or waited for a processor, mean."""
    switches_per_s: float
    interrupts_per_s: float

    @property
    def seconds(self) -> float:
        """Length of the interval [s]."""
        return (self.end_ns - self.start_ns) / _NS_PER_S


@dataclass(frozen=True)
class GroupReading:
    """A group of threads of a host over an interval; percentages of one processor."""

    group: Group
    usr: float
    sys: float
    guest: float
    wait: float
    cpu_ns: int
    voluntary_per_s: float
    involuntary_per_s: float

    @property
    def cpu(self) -> float:
        """All that it used [% of one processor]."""
        return self.usr + self.sys + self.guest


Counters = Mapping[str, int]


def readings(system: LinuxSystem, request: Request) -> list[Reading]:
    """The intervals asked for; without one, all that was kept."""
    asked = (request.interval_ns, request.count)
    if system.partition is not None:
        found = system.samples(system.partition, *asked, "partition", "cpu")
        return [_of_guest(system, sample) for sample in found]
    by_group = [system.samples(group.name, *asked, "partition") for group in system.groups]
    windows = list(zip(*by_group, strict=True))
    apart = "P" in request.flags and system.has_dispatches
    places = system.dispatched(windows[0][0].elapsed_ns, len(windows)) if apart else {}
    return [
        _of_host(system, parts, places.get(window, {} if apart else None))
        for window, parts in enumerate(windows)
    ]


def groups(system: LinuxSystem, request: Request) -> list[tuple[Sample, list[GroupReading]]]:
    """Every group in each interval asked for."""
    asked = (request.interval_ns, request.count)
    by_group = [system.samples(group.name, *asked, "partition") for group in system.groups]
    return [
        (
            parts[0],
            [_of_group(group, part) for group, part in zip(system.groups, parts, strict=True)],
        )
        for parts in zip(*by_group, strict=True)
    ]


def mean(reports: list[Reading]) -> Reading:
    """All intervals together, which are equally long."""
    count = len(reports)

    def states(parts: list[States]) -> States:
        names = ("usr", "sys", "iowait", "steal", "guest", "idle")
        return States(*(sum(getattr(one, name) for one in parts) / count for name in names))

    return Reading(
        start_ns=reports[0].start_ns,
        end_ns=reports[-1].end_ns,
        all=states([one.all for one in reports]),
        cpus=tuple(states(list(parts)) for parts in zip(*(r.cpus for r in reports), strict=True)),
        runnable=sum(one.runnable for one in reports) / count,
        switches_per_s=sum(one.switches_per_s for one in reports) / count,
        interrupts_per_s=sum(one.interrupts_per_s for one in reports) / count,
    )


def _of_guest(system: LinuxSystem, sample: Sample) -> Reading:
    counted, seconds = sample.partition, sample.elapsed_ns / _NS_PER_S
    ticks = [counted[f"ticks_{state}"] for state in ("user", "sys", "wait", "idle")]
    whole = float(sum(ticks)) or 1.0
    user, system_ns, wait, idle = ticks
    stolen = min(_stolen(system.own, counted), idle)
    shares = (user, system_ns, wait, stolen, 0, idle - stolen)
    part = stolen / idle if idle else 0.0
    return Reading(
        start_ns=sample.start_ns,
        end_ns=sample.end_ns,
        all=States(*(FULL * one / whole for one in shares)),
        cpus=tuple(_of_cpu(cpu, sample.elapsed_ns, part) for cpu in sample.cpus),
        runnable=counted["runq_ns"] / sample.elapsed_ns,
        switches_per_s=linux_switches(counted) / seconds,
        interrupts_per_s=counted["interrupts"] / seconds,
    )


def _stolen(group: Group, counted: Counters) -> int:
    """Time of its logical processors ready but without a processor [ns]; KVM tells of each thread,
    elsewhere a waiting virtual processor keeps all its threads.
    """
    if group.is_guest:
        return counted["steal_ns"]
    return counted["ready_ns"] * int(group.spec["smt"]) if shared_of(group.spec) else 0


def _of_cpu(cpu: Counters, elapsed_ns: int, stolen_part: float) -> States:
    busy = min(FULL * cpu["ticks_busy_ns"] / elapsed_ns, FULL)
    charged = cpu["user_ns"] + cpu["sys_ns"]
    sys = busy * cpu["sys_ns"] / charged if charged else 0.0
    rest = FULL - busy
    return States(busy - sys, sys, 0.0, rest * stolen_part, 0.0, rest * (1.0 - stolen_part))


def _of_host(system: LinuxSystem, parts: tuple[Sample, ...], places: Places | None) -> Reading:
    elapsed_ns = parts[0].elapsed_ns
    seconds = elapsed_ns / _NS_PER_S
    found = [_of_group(group, part) for group, part in zip(system.groups, parts, strict=True)]
    usr, sys, guest = (
        sum(getattr(one, name) for one in found) / system.cpus for name in ("usr", "sys", "guest")
    )
    counted = [part.partition for part in parts]
    cpus = () if places is None else range(system.cpus)
    return Reading(
        start_ns=parts[0].start_ns,
        end_ns=parts[0].end_ns,
        all=_host_states(usr, sys, guest),
        cpus=tuple(_host_cpu(found, (places or {}).get(cpu, {}), elapsed_ns) for cpu in cpus),
        runnable=sum(one["busy_ns"] + one["ready_ns"] for one in counted) / elapsed_ns,
        switches_per_s=sum(one["nvcsw"] + one["nivcsw"] for one in counted) / seconds,
        interrupts_per_s=0.0,
    )


def _host_cpu(groups: list[GroupReading], here: Mapping[int, int], elapsed_ns: int) -> States:
    """A processor that groups used for so long [ns]: each as it spends all its time."""
    times = dict.fromkeys(("usr", "sys", "guest"), 0.0)
    for one in groups:
        used = FULL * here.get(one.group.index, 0) / elapsed_ns
        for name in times:
            times[name] += used * getattr(one, name) / one.cpu if one.cpu else 0.0
    return _host_states(**times)


def _host_states(usr: float, sys: float, guest: float) -> States:
    return States(usr, sys, 0.0, 0.0, guest, max(FULL - usr - sys - guest, 0.0))


def _of_group(group: Group, sample: Sample) -> GroupReading:
    """KVM's exits, entries and polling are the kernel's time; so is the host's own scheduling."""
    counted, elapsed_ns = sample.partition, sample.elapsed_ns
    seconds = elapsed_ns / _NS_PER_S
    busy = counted["busy_ns"]
    kernel = min(counted["hypervisor_ns"] + counted["halt_poll_ns"], busy)
    charged = counted["user_ns"] + counted["sys_ns"]
    work = busy - kernel
    own = work * counted["sys_ns"] / charged if charged and not group.is_guest else 0.0
    scale = FULL / elapsed_ns
    return GroupReading(
        group=group,
        usr=0.0 if group.is_guest else scale * (work - own),
        sys=scale * (kernel + own),
        guest=scale * work if group.is_guest else 0.0,
        wait=scale * counted["ready_ns"],
        cpu_ns=busy,
        voluntary_per_s=counted["nvcsw"] / seconds,
        involuntary_per_s=counted["nivcsw"] / seconds,
    )
