"""A partition with z/VM whose virtual machines were recorded: each has work that takes as many
processors as it was seen to use, and the Control Program runs them, which has its part in that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from homenode.records.importing.assemble.plan import Line, Planned, Value, names_of
from homenode.records.importing.facts import MachineFacts
from homenode.records.importing.opening.sources import Notice
from homenode.records.importing.shared.words import counted

_MEMORY = 1 << 30
_MOST_OF_USE = 0.9
"""Of what processors did, the least part that virtual machines account for as a rule."""
_LEAST_CORES = 5e-5
"""Less is shown as nothing, and is done by nobody."""


def set_machines(planned: Sequence[Planned], notices: list[Notice]) -> None:
    """Partitions of a mainframe whose virtual machines are told run z/VM with these. What such a
    partition used by interval is left out: its machines tell what they used over all of the time.
    """
    for one in planned:
        told = one.facts.machines
        if not told:
            continue
        _remark_use(one, notices)
        names = names_of([(each.name.value, each.name.where) for each in told], notices)
        one.machines = tuple(map(_machine, names, told))
        one.inside = _settings(one)
        one.processors.pop("polarization", None)
        where = told[0].name.where
        one.guest = Value("zvm", str(where))
        one.smt, one.recorded = None, None
        one.memory = Value(len(told) * _MEMORY, "assumed: 1 GiB of each virtual machine")
        text = f"{one.name} runs z/VM with {counted(len(told), 'virtual machine')}: what each used"
        notices.append(Notice(f"{text} on the whole; shares and memory are not told", where))


def _remark_use(one: Planned, notices: list[Notice]) -> None:
    """Says it where virtual machines used much less than the processors of their z/VM, or more
    than these can have given them: of a core with SMT-2 each of two has raw time.
    """
    used = sum(told.cores.value for told in one.facts.machines)
    mean = one.recorded.mean if one.recorded is not None else 0.0
    threads = one.smt.value if one.smt is not None else 1
    text = f"virtual machines of {one.name} used {used:.2f} of the {mean:.2f} cores that its"
    if used < _MOST_OF_USE * mean:
        text += (
            " processors did; what CP did for nobody and machines that are not listed are left out"
        )
    elif 0.0 < mean * threads < _MOST_OF_USE * used:
        text = f"virtual machines of {one.name} used {used:.2f} cores, its processors {mean:.2f}:"
        text += " these are of different times, or threads are counted in one and cores in the"
        text += " other; the virtual machines count"
    else:
        return
    notices.append(Notice(text, one.facts.machines[0].name.where))


def leave_machines(planned: Sequence[Planned], notices: list[Notice]) -> None:
    """On a machine without z/VM they are left out; what their partition used is there."""
    for one in planned:
        if told := one.facts.machines:
            text = f"virtual machines of {one.name} are left out: this machine runs no z/VM"
            notices.append(Notice(text, told[0].name.where))
            one.facts = replace(one.facts, machines=())


def _machine(name: str, told: MachineFacts) -> tuple[Line, ...]:
    used, origin = told.cores.value, str(told.name.where)
    least = max(1, ceil(used - 1e-9))
    cpus = least if told.virtual is None else max(least, told.virtual.value)
    counted_by = "assumed: by what it used" if told.virtual is None else origin
    work: Line = ("role", Value("idle", f"{origin}: it used nothing"))
    if used >= _LEAST_CORES:
        work = ("workload", Value({"kind": "cores", "use": f"{used:.4f}"}, origin))
    return (
        ("name", Value(name, origin)),
        ("cpus", Value(cpus, counted_by)),
        ("memory", Value("1 GiB", "assumed")),
        work,
    )


def _settings(one: Planned) -> tuple[Line, ...]:
    """Settings that are told, and threads of a core where it uses two."""
    facts = one.facts
    told = (
        ("polarization", facts.polarization),
        ("unparking", facts.unparking),
        ("cpupad", facts.cpupad),
    )
    lines: list[Line] = [
        (key, Value(value.value, str(value.where))) for key, value in told if value is not None
    ]
    if one.smt is not None and one.smt.value == 2:
        lines.append(("smt", replace(one.smt, value="smt-2")))  # type: ignore[arg-type]
    return tuple(lines)
