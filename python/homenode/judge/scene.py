"""An experiment as a scenario: the same groups on the same host.

What comes from the host is measured alone: how long the generator's turns take, how long the sleep
after a burst really is, and, beside one loop, how often and how long everything else on the host
runs: the kernel's own threads and daemons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from homenode.judge.kinds import Experiment, Group, Limit, Outer
from homenode.judge.loads import Database, Job, OnOff, Spin
from homenode.judge.twin import MACHINE_FILE, Twin, used

BURST_S, SLEEP_S = 0.002, 0.008
"""Of the on/off work that is measured alone, as asked [s]."""
EXCHANGES = 16
"""Requests of a transaction of sysbench's oltp_read_only, each with its answer: begin, ten point
selects, four ranges, commit.
"""
SWITCH_S = 1.5e-6
"""What the model charges for a switch (hypervisors/linux.toml) [s]; a transaction alone has it in
its time, twice an exchange.
"""
FREE_THREADS = 4
"""Threads that share the turns of those that may run on several processors; assumed, 1 to 32. How
often and how long they run is measured.
"""
OUTER = "homenode"
"""The group that the tool puts its own groups into."""
MAKESPAN_ROOM = 4.0
"""A simulated run to the end may last so many times as long as the work itself."""
_MOST_PARTS = 1000
"""Numbers of intervals that are tried: 2.5 s are no three of whole nanoseconds, but four."""


@dataclass(frozen=True)
class Busy:
    """Turns of everything else on the host: the kernel's own threads and daemons."""

    per_s: float = 0.0
    """So many a second [1/s]."""
    run_s: float = 0.0
    """Mean length of one [s]."""


@dataclass(frozen=True)
class Alone:
    """What was measured alone."""

    second_instructions: float
    """Instructions of the model that take a second of processor time."""
    job_stretch: float = 1.0
    """Processor time of a loop that runs alone, over what was asked."""
    run_s: float = 0.002
    """Processor time of a burst [s]."""
    sleep_s: float = 0.008
    """Real length of the sleep after it, alone [s]."""
    bound: Busy = Busy()
    """Threads bound to a processor, beside one loop: of each processor."""
    free: Busy = Busy()
    """Threads that may run on several: of the whole host."""
    transaction_s: float = 0.0
    """Processor time of a database's transaction, alone on one processor [s]."""
    client_share: float = 0.5
    """Share of it that the client takes."""
    wake_interrupt_s: float = 0.0
    """Processor time that a message takes more where it wakes another processor [s]."""
    wake_idle_s: float = 0.0
    """Time that it takes more if that one idled [s]."""


def scenario_text(
    experiment: Experiment,
    twin: Twin,
    processors: Sequence[int],
    alone: Alone,
    seconds: float,
    replications: int,
) -> str:
    """The scenario of an experiment, to be read beside the twin's machine file."""
    parts = [
        f'name = "{_word(experiment.name)}"',
        f'title = "{experiment.title}"',
        f'[machine]\nfile = "{MACHINE_FILE}"\npolicy = "linux"',
        twin.overrides() + _wake_ups(experiment, alone),
        f'[[cgroup]]\nname = "{OUTER}"',
    ]
    named: list[Outer | Group] = [*experiment.outer, *(one for one in experiment.groups if one.own)]
    parts += [_control_group(one, twin, processors) for one in named]
    parts += [_partition(group, alone) for group in experiment.groups]
    parts += _others(used(twin, processors), alone)
    duration_ns = round(1e9 * _duration(experiment, processors, alone, seconds))
    parts.append(
        f'[run]\nwarmup = "0 s"\nduration = "{duration_ns} ns"\n'
        f'interval = "{_interval(duration_ns)} ns"\n'
        f"replications = {replications}\nseed = 1"
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _wake_ups(experiment: Experiment, alone: Alone) -> str:
    """What waking another processor costs, where threads wake each other."""
    if not any(isinstance(group.load, Database) for group in experiment.groups):
        return ""
    told = {"wake_interrupt": alone.wake_interrupt_s, "wake_idle": alone.wake_idle_s}
    why = "two processes that wake each other, alone on one processor and on two"
    lines = [
        f'{name} = {{ value = "{1e9 * max(0.0, seconds):.0f} ns", why = "{why}" }}\n'
        for name, seconds in told.items()
    ]
    return "".join(lines)


def _duration(
    experiment: Experiment, processors: Sequence[int], alone: Alone, seconds: float
) -> float:
    jobs = [group for group in experiment.groups if isinstance(group.load, Job)]
    if not jobs:
        return seconds
    work = sum(g.count * g.load.seconds for g in jobs if isinstance(g.load, Job))
    return float(math.ceil(MAKESPAN_ROOM * alone.job_stretch * max(1.0, work / len(processors))))


def _interval(duration_ns: int) -> int:
    """A whole part of the run, a second if that is one; the run itself if it has none [ns]."""
    least = math.ceil(duration_ns / 1e9)
    parts = range(least, least + _MOST_PARTS)
    return duration_ns // next((many for many in parts if duration_ns % many == 0), 1)


def _control_group(one: Outer | Group, twin: Twin, processors: Sequence[int]) -> str:
    places = range(len(processors)) if one.processors is None else one.processors
    numbers = used(twin, [processors[place] for place in places])
    lines = [
        f'[[cgroup]]\nname = "{one.name}"',
        f'parent = "{one.inside or OUTER}"',
        f"weight = {one.weight}",
        f'cpuset = "{",".join(map(str, sorted(numbers)))}"',
    ]
    if isinstance(one, Group) and one.idle:
        lines.append("idle = true")
    return "\n".join([*lines, *_quota(one.quota)])


def _quota(limit: Limit | None) -> list[str]:
    if limit is None:
        return []
    period = round(1e6 * limit.period_ms)
    lines = [f'quota = "{round(limit.processors * period)} ns"', f'period = "{period} ns"']
    return [*lines, f'burst = "{round(1e6 * limit.burst_ms)} ns"'] if limit.burst_ms else lines


def _partition(group: Group, alone: Alone) -> str:
    virtual = 2 * group.load.clients if isinstance(group.load, Database) else group.count
    words = ['mode = "shared"', f"virtual = {virtual}"]
    words.append(f'cgroup = "{group.name if group.own else group.inside}"')
    if group.nice:
        words.append(f"nice = {group.nice}")
    if group.slice_ms:
        words.append(f'slice = "{round(1e6 * group.slice_ms)} ns"')
    shared = f"{{ {', '.join(words)} }}"
    head = f'[[partition]]\nname = "{group.name}"\nprocessors = {shared}\nmemory = "256 MiB"'
    return f"{head}\n\n[partition.workload]\n{_workload(group, alone)}"


def _workload(group: Group, alone: Alone) -> str:
    second = alone.second_instructions
    match group.load:
        case Spin():
            return _lines("loops", group.count, second, endless="true")
        case Job(seconds=seconds):
            work = seconds * alone.job_stretch * second
            return _lines("loops", group.count, work, endless="false")
        case OnOff(run_s=run, sleep_s=sleep):
            late = alone.sleep_s - SLEEP_S  # the timer's slack, whatever the length
            return _lines(
                "users",
                group.count,
                run / BURST_S * alone.run_s * second,
                think=f'"{(sleep + late) * 1e9:.0f} ns"',
                think_distribution='"constant"',
                burst_work='"constant"',
            )
        case Database(clients=clients):
            work = max(0.1 * alone.transaction_s, alone.transaction_s - 2 * EXCHANGES * SWITCH_S)
            share = min(0.99, max(0.01, alone.client_share))
            return _lines(
                "pairs",
                clients,
                work * second,
                exchanges=str(EXCHANGES),
                client_share=f"{share:.3f}",
                burst_work='"exponential"',
            )


def _lines(kind: str, count: int, instructions: float, **rest: str) -> str:
    why = "measured alone on this host"
    profile = f'{{ base = "xorshift-loop", instructions = {instructions:.6g}, why = "{why}" }}'
    lines = [f'kind = "{kind}"', f"count = {count}", f"profile = {profile}"]
    return "\n".join([*lines, *(f"{key} = {value}" for key, value in rest.items())])


def _others(numbers: Sequence[int], alone: Alone) -> list[str]:
    """One thread bound to each processor, and some that are placed like all others."""
    bound = [
        _other(f"bound-{number}", 1, alone.bound, alone, f'pins = ["{number}"]')
        for number in numbers
    ]
    found = [*bound, _other("free", FREE_THREADS, alone.free, alone)]
    return [text for text in found if text]


def _other(name: str, count: int, busy: Busy, alone: Alone, *words: str) -> str:
    """Threads in the root group that take turns of this kind together; nothing without any."""
    if busy.per_s <= 0 or busy.run_s <= 0:
        return ""
    think = max(1e-6, count / busy.per_s - busy.run_s)
    work = _lines(
        "users",
        count,
        busy.run_s * alone.second_instructions,
        think=f'"{think * 1e9:.0f} ns"',
        burst_work='"constant"',
    )
    shared = ", ".join(['mode = "shared"', f"virtual = {count}", 'cgroup = "/"', *words])
    return (
        f'[[partition]]\nname = "{name}"\nprocessors = {{ {shared} }}\nmemory = "256 MiB"\n\n'
        f"[partition.workload]\n{work}"
    )


def _word(name: str) -> str:
    """A name that a scenario may have."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
