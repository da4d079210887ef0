"""An experiment as a scenario: the same groups on the same host.

Three numbers come from the host, all of them measured alone: how long the generator's turns take,
how long the sleep after a burst really is, and how often a loop that is alone on a processor is
switched from, which is the work of the kernel's own threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from homenode.measure.validate.experiments import Experiment, Group
from homenode.measure.validate.loads import Database, Job, OnOff, Spin
from homenode.measure.validate.twin import MACHINE_FILE, Twin, used

KERNEL_WORK_S = 20e-6
"""Length of a turn of the kernel's own threads [s]; assumed, 5 to 100 us. Only how often counts."""
OUTER = "homenode"
"""The group that the tool puts its own groups into."""
MAKESPAN_ROOM = 4.0
"""A simulated run to the end may last so many times as long as the work itself."""


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
    switches_per_s: float = 0.0
    """Involuntary switches of a loop that is alone on its processor [1/s]."""
    transaction_s: float = 0.0
    """Processor time of a database's transaction, alone [s]."""


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
        twin.overrides(),
        f'[[cgroup]]\nname = "{OUTER}"',
    ]
    parts += [_control_group(group, twin, processors) for group in experiment.groups]
    parts += [_partition(group, alone) for group in experiment.groups]
    parts.append(_kernel_threads(used(twin, processors), alone))
    duration = _duration(experiment, processors, alone, seconds)
    parts.append(
        f'[run]\nwarmup = "0 s"\nduration = "{duration * 1e9:.0f} ns"\n'
        f'interval = "{_interval(duration) * 1e9:.0f} ns"\n'
        f"replications = {replications}\nseed = 1"
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _duration(
    experiment: Experiment, processors: Sequence[int], alone: Alone, seconds: float
) -> float:
    jobs = [group for group in experiment.groups if isinstance(group.load, Job)]
    if not jobs:
        return seconds
    work = sum(g.count * g.load.seconds for g in jobs if isinstance(g.load, Job))
    return float(math.ceil(MAKESPAN_ROOM * alone.job_stretch * max(1.0, work / len(processors))))


def _interval(duration: float) -> float:
    """A whole part of the run, a second if that is one [s]."""
    return duration / math.ceil(duration)


def _control_group(group: Group, twin: Twin, processors: Sequence[int]) -> str:
    places = range(len(processors)) if group.processors is None else group.processors
    numbers = used(twin, [processors[place] for place in places])
    lines = [
        f'[[cgroup]]\nname = "{group.name}"',
        f'parent = "{OUTER}"',
        f"weight = {group.weight}",
        f'cpuset = "{",".join(map(str, sorted(numbers)))}"',
    ]
    if group.quota is not None:
        lines += [f'quota = "{group.quota * 1e8:.0f} ns"', 'period = "100 ms"']
    return "\n".join(lines)


def _partition(group: Group, alone: Alone) -> str:
    virtual = group.load.clients if isinstance(group.load, Database) else group.count
    shared = f'{{ mode = "shared", virtual = {virtual}, cgroup = "{group.name}" }}'
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
        case OnOff():
            return _lines(
                "users",
                group.count,
                alone.run_s * second,
                think=f'"{alone.sleep_s * 1e9:.0f} ns"',
                think_distribution='"constant"',
                burst_work='"constant"',
            )
        case Database(clients=clients):
            work = alone.transaction_s * second
            return _lines("users", clients, work, think='"0 ns"', burst_work='"exponential"')


def _lines(kind: str, count: int, instructions: float, **rest: str) -> str:
    why = "measured alone on this host"
    profile = f'{{ base = "xorshift-loop", instructions = {instructions:.6g}, why = "{why}" }}'
    lines = [f'kind = "{kind}"', f"count = {count}", f"profile = {profile}"]
    return "\n".join([*lines, *(f"{key} = {value}" for key, value in rest.items())])


def _kernel_threads(numbers: Sequence[int], alone: Alone) -> str:
    """One bound to each processor, each waking as often as a loop alone was switched from."""
    if alone.switches_per_s <= 0:
        return ""
    parts = []
    for number in numbers:
        name = f"kernel-{number}"
        think = max(1e-6, 1.0 / alone.switches_per_s - KERNEL_WORK_S)
        work = _lines(
            "users",
            1,
            KERNEL_WORK_S * alone.second_instructions,
            think=f'"{think * 1e9:.0f} ns"',
            burst_work='"constant"',
        )
        shared = f'{{ mode = "shared", virtual = 1, cgroup = "/", pins = ["{number}"] }}'
        parts.append(
            f'[[partition]]\nname = "{name}"\nprocessors = {shared}\nmemory = "256 MiB"\n\n'
            f"[partition.workload]\n{work}"
        )
    return "\n\n".join(parts)


def _word(name: str) -> str:
    """A name that a scenario may have."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
