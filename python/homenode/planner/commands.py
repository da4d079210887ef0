"""What brings a layout about, and what takes it back: the commands of the two layouts, as they are
exported, without what both have; on a Power server first what running partitions take at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

from homenode.errors import listed
from homenode.model.catalog.policies import HOST_POLICIES
from homenode.planner.advice import Advice, Answer, Change
from homenode.planner.host_commands import on_host
from homenode.planner.mainframe_commands import on_mainframe
from homenode.planner.reasons import plain
from homenode.planner.wishes import VARIANTS
from homenode.records.exporting import hmc, vpars
from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.options import ExportOptions
from homenode.simulate.run import Run

_CREATED = {
    "phyp": ("hmc", "writes the profiles and what activates them."),
    "prsm": ("zvm", "writes what its image profile is to hold, and the directory of a z/VM."),
    "dedicated": (
        "vpars",
        "writes vparcreate and what it has, on a vPars monitor.",
    ),
}
"""By the policy, the form that creates partitions, and what it writes."""
_CREATED_ELSE = ("libvirt", "writes its domain, which virsh define takes, on a KVM host.")
_HEAD = ('SYSTEM="managed system"', 'PROFILE="profile"')
_NEITHER = {
    frozenset({"home"}): "Homes",
    frozenset({"memory"}): "Places of memory",
    frozenset({"home", "memory"}): "Homes and places of memory",
}
_AT_ONCE = {"entitlement": "procunits", "virtual": "procs", "cores": "procs"}


def commands(
    before: Run, after: Run, changes: Sequence[Change], *, back: bool = False
) -> tuple[str, ...]:
    """From one layout to the other; `back` if the other was there before. Where no form of commands
    is known, the changes as comments.
    """
    policy = _policy(before)
    if any(one.word in VARIANTS for one in changes):
        return tuple(_made_anew(before, after, changes))
    if policy == "phyp":
        lines = [*_on_power(before, after, changes, back=back)]
        told = any(not line.startswith("#") for line in lines)
        return (*(_HEAD if told else ()), *lines)
    if policy == "dedicated":
        return tuple(_of_cells(before, after, changes))
    if policy in HOST_POLICIES:
        return tuple(on_host(before, after, changes, back=back))
    return tuple(on_mainframe(before, after) if policy == "prsm" else ()) or _as_comments(changes)


def added(told: Advice, names: Sequence[str], out: str | Path) -> Advice:
    """Advice for partitions that are not there yet, so that no command could move them: those that
    create them, or what writes these. `out` keeps the runs.
    """

    def planned(answer: Answer) -> Answer:
        if not answer.commands:
            return answer
        run = Run.load(str(answer.run), out)
        back = tuple([_HEAD[0], *hmc.removed(names)] if _policy(run) == "phyp" else ())
        return replace(answer, commands=tuple(_created(run, names)), back=back)

    return replace(told, best=tuple(map(planned, told.best)))


def _created(run: Run, names: Sequence[str]) -> Iterator[str]:
    """Partitions that are not there yet; where no commands are known, the export that writes what
    creates them.
    """
    are = "is" if len(names) == 1 else "are"
    yield f"# {listed(names, 6)} {are} not there yet"
    if _policy(run) == "phyp":
        yield from _HEAD
        yield from hmc.created(run, names)
        return
    form, writes = _CREATED.get(_policy(run), _CREATED_ELSE)
    yield f"# `homenode export {run.id} --as {form}` {writes}"


def _policy(run: Run) -> str:
    return str(run.spec["machine"]["hypervisor"]["policy"])


def _made_anew(before: Run, after: Run, changes: Sequence[Change]) -> Iterator[str]:
    """Where partitions come and go, or the machine is another one."""
    if any(one.word == "machine" for one in changes):
        form, writes = _CREATED.get(_policy(after), _CREATED_ELSE)
        yield f"# No command moves partitions to {after.spec['machine']['name']}:"
        yield f"# `homenode export {after.id} --as {form}` {writes}"
        return
    if any(one.word == "granules" for one in changes):
        yield "# Granules are set by the first vparcreate, which makes the database:"
        yield f"# `homenode export {after.id} --as vpars` {_CREATED['dedicated'][1]}"
        yield from _as_comments([one for one in changes if one.word not in VARIANTS])
        return
    gone, new = (
        [name for name in one.partitions if name not in other.partitions]
        for one, other in ((before, after), (after, before))
    )
    yield from _created(after, new)
    yield f"# Then their work moves to them, and {listed(gone, 6)} can be removed."
    if _policy(after) == "phyp":
        yield from hmc.removed(gone)
    others = (one for one in changes if one.word not in VARIANTS)
    # What is new is created as it is to be.
    stays = {*before.partitions} & {*after.partitions}
    yield from _as_comments([one for one in others if one.partition in stays])


def _as_comments(changes: Sequence[Change]) -> tuple[str, ...]:
    return tuple(f"# {one.path}: {plain(one.before)} -> {plain(one.after)}" for one in changes)


def _of_cells(before: Run, after: Run, changes: Sequence[Change]) -> Iterator[str]:
    """What the monitor of virtual partitions is told, where there is one."""
    lines: list[str] = []
    try:
        lines += vpars.changed(before, after)
    except ExportError as error:
        yield f"# No commands: {error.problem}"
    yield from lines
    done = ("home", "cells", "memory", "on", "cores") if lines else ()
    yield from _as_comments([one for one in changes if one.word not in done])


def _new(before: Run, after: Run) -> list[str]:
    """Lines of the one export that the other has not."""
    there = {*_lines(before)}
    return [line for line in _lines(after) if line not in there]


def _lines(run: Run) -> list[str]:
    """The export; nothing where the form does not know the layout."""
    try:
        return [*hmc.commands(run, ExportOptions())]
    except ExportError:
        return []


def _on_power(before: Run, after: Run, changes: Sequence[Change], *, back: bool) -> Iterator[str]:
    at_once = [*dynamic(changes)]
    if at_once:
        yield "# Running partitions: what is taken away first, then what is given"
        yield "# (only within minimum and maximum of the active profile; beyond them write the"
        yield "# profile first and activate the partition anew)"
        yield from at_once
    lines = _new(before, after)
    profiles = [line for line in lines if line.startswith(("chsyscfg", "chhwres"))]
    names = [*after.partitions]
    comments = [line for line in lines if _of(line, names)]
    if profiles:
        yield "# Profiles, so that it lasts"
        yield from profiles
    inside = [line for line in comments if ", home " not in line]
    if inside:
        yield "# In the partitions"
        yield from inside
    yield from _moved(changes, comments, back=back)


def _moved(changes: Sequence[Change], comments: Sequence[str], *, back: bool) -> Iterator[str]:
    """Homes and memory, which are asked for and cannot be commanded: the optimizer brings memory
    and cores together, and takes neither away again.
    """
    to = [one for one in changes if one.word in ("home", "memory")]
    if not to:
        return
    moved = list(dict.fromkeys(one.partition for one in to))
    what = _NEITHER[frozenset(one.word for one in to)]
    if back:
        yield f"# {what} cannot be commanded, and the optimizer, which brings memory and cores"
        yield "# together, will not undo this:"
    else:
        yield f"# {what} cannot be commanded; the optimizer brings memory and cores together:"
    yield from (line for line in comments if ", home " in line and _of(line, moved))
    for one in to:
        if one.word == "memory":
            yield f"# {one.partition}: memory of {plain(one.before)} to {plain(one.after)}"
    if not back:
        yield f'optmem -m "$SYSTEM" -o start -t affinity -p {quote(",".join(moved))}'
        yield 'lsmemopt -m "$SYSTEM" -r lpar -o currscore'


def _of(line: str, names: Iterable[str]) -> bool:
    return any(line.startswith(f"# {name}:") for name in names)


def dynamic(changes: Sequence[Change]) -> Iterator[str]:
    """Entitlement, virtual processors and cores of running partitions; who gives comes first.

    Both are changed at once where both grow or shrink: in between they need not fit each other.
    Else the entitlement goes first, which fits both numbers of virtual processors then.
    """
    steps: list[tuple[float, str]] = []
    for name in dict.fromkeys(one.partition for one in changes):
        more = {
            one.word: float(str(one.after)) - float(str(one.before))
            for one in changes
            if one.partition == name and one.word in _AT_ONCE
        }
        for grows in dict.fromkeys(amount > 0 for amount in more.values()):
            told = [
                f"--{_AT_ONCE[word]} {abs(amount):{'.2f' if word == 'entitlement' else '.0f'}}"
                for word, amount in more.items()
                if (amount > 0) == grows
            ]
            head = f'chhwres -r proc -m "$SYSTEM" -o {"a" if grows else "r"} -p {quote(name)}'
            given = more.get("entitlement", 0.0) + more.get("cores", 0.0)
            steps.append((given, f"{head} {' '.join(told)}"))
    yield from (line for _, line in sorted(steps, key=lambda step: step[0]))
