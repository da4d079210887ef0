"""What brings a layout about, and what takes it back: the commands of the two layouts, as they are
exported, without what both have; on a Power server first what running partitions take at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from shlex import quote

from homenode.planner.advice import Change
from homenode.records.exporting.commands import Commands
from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.options import ExportOptions
from homenode.records.exporting.registry import exporter
from homenode.simulate.run import Run

_FORMS = {"phyp": "hmc", "prsm": "zvm", "dedicated": "vpars"}
"""Form of commands by the hypervisor's policy."""
_HEAD = ('SYSTEM="managed system"', 'PROFILE="profile"')
_AT_ONCE = {"entitlement": "procunits", "virtual": "procs"}


def commands(before: Run, after: Run, changes: Sequence[Change]) -> tuple[str, ...]:
    """From one layout to the other. Where no form of commands is known, the changes as comments."""
    policy = str(before.spec["machine"]["hypervisor"]["policy"])
    if policy == "phyp":
        return (*_HEAD, *_on_power(before, after, changes))
    told = tuple(_new(before, after, policy))
    return told or tuple(f"# {one.path}: {one.before} -> {one.after}" for one in changes)


def _new(before: Run, after: Run, policy: str) -> Iterator[str]:
    """Lines of the one export that the other has not."""
    form = exporter(_FORMS[policy]) if policy in _FORMS else None
    if not isinstance(form, Commands):
        return
    try:
        there = set(form.make(before, ExportOptions()))
        yield from (line for line in form.make(after, ExportOptions()) if line not in there)
    except ExportError:
        return


def _on_power(before: Run, after: Run, changes: Sequence[Change]) -> Iterator[str]:
    at_once = [*dynamic(changes)]
    if at_once:
        yield "# Running partitions: what is taken away first, then what is given"
        yield from at_once
    lines = [*_new(before, after, "phyp")]
    profiles = [line for line in lines if line.startswith(("chsyscfg", "chhwres"))]
    comments = [line for line in lines if line.startswith("#")]
    if profiles:
        yield "# Profiles, so that it lasts"
        yield from profiles
    yield from (line for line in comments if ", home " not in line)
    moved = list(dict.fromkeys(one.partition for one in changes if one.word == "home"))
    if moved:
        yield "# Homes cannot be commanded; the optimizer brings memory and cores together:"
        yield from (line for line in comments if ", home " in line and _of(line, moved))
        yield f'optmem -m "$SYSTEM" -o start -t affinity -p {quote(",".join(moved))}'
        yield 'lsmemopt -m "$SYSTEM" -r lpar -o currscore'


def _of(line: str, names: Iterable[str]) -> bool:
    return any(line.startswith(f"# {name}:") for name in names)


def dynamic(changes: Sequence[Change]) -> Iterator[str]:
    """Entitlement and virtual processors of running partitions; who gives comes first.

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
            steps.append((more.get("entitlement", 0.0), f"{head} {' '.join(told)}"))
    yield from (line for _, line in sorted(steps, key=lambda step: step[0]))
