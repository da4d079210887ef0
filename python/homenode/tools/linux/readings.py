"""What Linux counts over an interval: shares of its processors' time, threads, switches; and the
same of each group of threads of a host.

In a guest, `%steal` is time in which it had work and no processor, where its hypervisor tells so;
of single processors only the sum is kept, so each has a part in proportion to its unused time. On
a host all time in KVM guests is `%guest`, what KVM itself takes `%sys`, what devices' interrupts
take `%irq` and `%soft`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from homenode.model.spec import shared_of
from homenode.tools.intervals import Sample
from homenode.tools.linux.interrupts import NONE, ByCpu, Taken, all_of, interrupts
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
    irq: float = 0.0
    """For devices' interrupts."""
    soft: float = 0.0
    """For the work that follows these."""

    @property
    def kernel(self) -> float:
        """All of the kernel's, as tools have it that do not tell interrupts apart [%]."""
        return self.sys + self.irq + self.soft


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
    cpu_interrupts_per_s: Mapping[int, float] = field(default_factory=dict)
    """Those of devices, by the processors that take any."""

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
        taken = interrupts(system, found[0].elapsed_ns, len(found))
        return [_of_guest(system, one, taken.get(at, {})) for at, one in enumerate(found)]
    by_group = [system.samples(group.name, *asked, "partition") for group in system.groups]
    windows = list(zip(*by_group, strict=True))
    apart = "P" in request.flags and system.has_dispatches
    shape = (windows[0][0].elapsed_ns, len(windows))
    places = system.dispatched(*shape) if apart else {}
    taken = interrupts(system, *shape)
    return [
        _of_host(system, parts, places.get(window, {} if apart else None), taken.get(window, {}))
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
        names = ("usr", "sys", "iowait", "steal", "guest", "idle", "irq", "soft")
        return States(*(sum(getattr(one, name) for one in parts) / count for name in names))

    return Reading(
        start_ns=reports[0].start_ns,
        end_ns=reports[-1].end_ns,
        all=states([one.all for one in reports]),
        cpus=tuple(states(list(parts)) for parts in zip(*(r.cpus for r in reports), strict=True)),
        runnable=sum(one.runnable for one in reports) / count,
        switches_per_s=sum(one.switches_per_s for one in reports) / count,
        interrupts_per_s=sum(one.interrupts_per_s for one in reports) / count,
        cpu_interrupts_per_s={
            cpu: sum(one.cpu_interrupts_per_s.get(cpu, 0.0) for one in reports) / count
            for cpu in reports[0].cpu_interrupts_per_s
        },
    )


def _of_guest(system: LinuxSystem, sample: Sample, taken: ByCpu) -> Reading:
    counted, seconds = sample.partition, sample.elapsed_ns / _NS_PER_S
    ticks = [counted[f"ticks_{state}"] for state in ("user", "sys", "wait", "idle")]
    whole = float(sum(ticks)) or 1.0
    user, system_ns, wait, idle = ticks
    stolen = min(_stolen(system.own, counted), idle)
    every = all_of(taken)
    hard, soft = _of_kernel(system_ns, every)
    shares = (user, system_ns - hard - soft, wait, stolen, 0, idle - stolen, hard, soft)
    part = stolen / idle if idle else 0.0
    return Reading(
        start_ns=sample.start_ns,
        end_ns=sample.end_ns,
        all=States(*(FULL * one / whole for one in shares)),
        cpus=tuple(
            _of_cpu(cpu, sample.elapsed_ns, part, taken.get(cpu["cpu"], NONE))
            for cpu in sample.cpus
        ),
        runnable=counted["runq_ns"] / sample.elapsed_ns,
        switches_per_s=linux_switches(counted) / seconds,
        interrupts_per_s=counted["interrupts"] / seconds,
        cpu_interrupts_per_s={cpu["cpu"]: cpu["interrupts"] / seconds for cpu in sample.cpus},
    )


def _of_kernel(sys: float, taken: Taken) -> tuple[float, float]:
    """What interrupts and the work after them have of a guest's kernel time, in which they are."""
    whole = taken.hard_ns + taken.soft_ns
    part = min(sys / whole, 1.0) if whole else 0.0
    return taken.hard_ns * part, taken.soft_ns * part


def _stolen(group: Group, counted: Counters) -> int:
    """Time of its logical processors ready but without a processor [ns]; KVM tells of each thread,
    elsewhere a waiting virtual processor keeps all its threads.
    """
    if group.is_guest:
        return counted["steal_ns"]
    return counted["ready_ns"] * int(group.spec["smt"]) if shared_of(group.spec) else 0


def _of_cpu(cpu: Counters, elapsed_ns: int, stolen_part: float, taken: Taken) -> States:
    busy = min(FULL * cpu["ticks_busy_ns"] / elapsed_ns, FULL)
    charged = cpu["user_ns"] + cpu["sys_ns"]
    sys = busy * cpu["sys_ns"] / charged if charged else 0.0
    rest = FULL - busy
    hard, soft = (FULL / elapsed_ns * ns for ns in _of_kernel(sys * elapsed_ns / FULL, taken))
    return States(
        usr=busy - sys,
        sys=sys - hard - soft,
        iowait=0.0,
        steal=rest * stolen_part,
        guest=0.0,
        idle=rest * (1.0 - stolen_part),
        irq=hard,
        soft=soft,
    )


def _of_host(
    system: LinuxSystem, parts: tuple[Sample, ...], places: Places | None, taken: ByCpu
) -> Reading:
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
        all=_host_states(usr, sys, guest, all_of(taken), elapsed_ns * system.cpus),
        cpus=tuple(
            _host_cpu(found, (places or {}).get(cpu, {}), taken.get(cpu, NONE), elapsed_ns)
            for cpu in cpus
        ),
        runnable=sum(one["busy_ns"] + one["ready_ns"] for one in counted) / elapsed_ns,
        switches_per_s=sum(one["nvcsw"] + one["nivcsw"] for one in counted) / seconds,
        interrupts_per_s=all_of(taken).count / seconds,
        cpu_interrupts_per_s={cpu: one.count / seconds for cpu, one in taken.items()},
    )


def _host_cpu(
    groups: list[GroupReading], here: Mapping[int, int], taken: Taken, elapsed_ns: int
) -> States:
    """A processor that groups used for so long [ns]: each as it spends all its time. Interrupts,
    which come by chance, hold up whoever is there: so much of that time was not theirs.
    """
    times = dict.fromkeys(("usr", "sys", "guest"), 0.0)
    own = 1.0 - (taken.hard_ns + taken.soft_ns) / elapsed_ns
    for one in groups:
        used = FULL * own * here.get(one.group.index, 0) / elapsed_ns
        for name in times:
            times[name] += used * getattr(one, name) / one.cpu if one.cpu else 0.0
    return _host_states(**times, taken=taken, whole_ns=elapsed_ns)


def _host_states(usr: float, sys: float, guest: float, taken: Taken, whole_ns: int) -> States:
    hard, soft = FULL * taken.hard_ns / whole_ns, FULL * taken.soft_ns / whole_ns
    idle = max(FULL - usr - sys - guest - hard - soft, 0.0)
    return States(usr, sys, 0.0, 0.0, guest, idle, hard, soft)


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
