"""Why a change: what it brings by itself, and where the cores of its partition went before and
after, from the books of the runs that confirm it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import partial
from statistics import fmean

from homenode.errors import listed
from homenode.model.document.positions import split_key
from homenode.model.numbers import number, signed
from homenode.planner.advice import Change
from homenode.planner.confirm import Groups, cores_of
from homenode.planner.variables import Variable
from homenode.simulate.explain.control_program import dispatch_waits
from homenode.simulate.explain.explanation import Explanation, explain
from homenode.simulate.run import Run

_TOLD = 2
"""Causes that are named."""
_SHOWN = 0.005
"""Cores that are printed as something."""
_FAR = 0.005
"""Difference of a share of dispatches that is worth a word."""
_WAIT_US, _TIMES = 10.0, 2.0
"""Waits for a core below which, and of which less than so many times as long, is no difference."""
UNITS = {"cores": "cores", "money": "", "response": "ms", "headroom": "cores of headroom"}


_WORDED = {
    "home": "{name} to {value}",
    "memory": "memory of {name} to {value}{before}",
    "cells": "cores of {name}: {value}{before}",
    "on": "memory of {name} to {value}{before}",
    "entitlement": "{name} entitled to {value} cores{before}",
    "virtual": "{name} with {value} virtual processors{before}",
    "smt": "{name} with {value} threads a core{before}",
    "cores": "{name} with {value} cores{before}",
    "tiles": "virtual machines of {name} on {value} switches {kind}{before}",
    "switches": "switch {kind} of {name} of layer {value}{before}",
    "guests": "{value} virtual machines {kind} in {name}{before}",
    "split": "{name} as {value} partitions{before}",
    "merge": "{name} as {value} partitions{before}",
    "machine": "{name} on {value}{before}",
    "granules": "memory of {name} in granules of {value}{before}",
    "clm": "cell-local memory of {name} in granules of {value}{before}",
}
"""Changes by their word."""


_SEVERAL_OF_ONE = re.compile(
    r"(?<![\d.,])1 ((?:virtual )?(?:processor|partition|core|machine|thread)|switch(?=es))e?s\b"
)


def in_words(name: str, variable: Variable, after: object) -> str:
    """`lpar4 to book7`, `lpar1 with 12 virtual processors (30)`."""
    before = "" if variable.now is None else f" ({plain(variable.now)})"
    match variable.word:
        case "capped":
            return f"{name} {'capped' if after else 'uncapped'}"
        case "folding":
            return f"{name} {'with' if after else 'without'} folding"
    by_cell = variable.word == "home" and isinstance(after, Mapping)
    cell_local = variable.path.endswith(".clm_granule")
    word = "cells" if by_cell else "clm" if cell_local else variable.word
    told = _WORDED.get(word, "{name}: {word} {value}{before}")
    words = {"name": name, "word": variable.word, "kind": _kind(variable)}
    text = told.format(**words, value=plain(after), before=before)
    return _SEVERAL_OF_ONE.sub(r"1 \1", text)


def _kind(variable: Variable) -> str:
    """The name of what there are several of, the last but one of a path."""
    return (split_key(variable.path) or (variable.path,) * 2)[-2]


def told_change(change: Change) -> str:
    """The same of a change that is told."""
    variable = Variable(0, change.word, change.path, change.before, ())
    return in_words(change.partition, variable, change.after)


def plain(value: object) -> str:
    """A value as people write it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return listed(f"{count} of {place}" for place, count in value.items())
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def alone(worth: float, goal: str, currency: str | None) -> str:
    """What a layout costs more without a change, by the solver: `4.60 cores more`."""
    unit = (currency or "") if goal == "money" else UNITS[goal]
    return f"{number(worth)} {unit} {'less' if goal == 'headroom' else 'more'}"


def why(worth: str, partition: str, run: Run | None, base: Run | None) -> str:
    """`without it 4.60 cores more; lpar1 17.69 -> 14.61 cores; memory, other book -1.10`, of which
    `worth` is the first, if anything.
    """
    parts = [worth] if worth else []
    if run is not None and base is not None:
        parts += _from_books(partition, run, base)
    return "; ".join(parts)


def of_groups(groups: Groups, run: Run, base: Run, held: Collection[str] = ()) -> str:
    """Cores before and after of those in some groups, for the work of before:
    `db 5.60 -> 5.10 cores`.
    """
    as_they_are = [(old, old) for old, _ in groups]
    before = fmean(cores_of(base, base, held, as_they_are))
    after = fmean(cores_of(run, base, held, groups))
    whose = listed((name for old, _ in groups for name in old), 3)
    return f"{whose} {number(before)} -> {number(after)} cores"


def _from_books(partition: str, run: Run, base: Run) -> list[str]:
    told = explain(run, partition, base, partition)
    parts = []
    scale = _to_the_work_of_now(told)
    total = scale * told.total
    before = None if told.equal_total is None else scale * told.equal_total
    if before is not None and abs(total - before) >= _SHOWN:
        parts.append(f"{partition} {number(before)} -> {number(total)} cores")
    rows = [(row.label, scale * (row.difference or 0.0)) for row in told.rows]
    rows.sort(key=lambda row: -abs(row[1]))
    parts += [f"{label} {signed(by)}" for label, by in rows[:_TOLD] if abs(by) >= 2 * _SHOWN]
    far = [one.metrics[partition]["far_share"].mean for one in (base, run)]
    if None not in far and abs((far[0] or 0.0) - (far[1] or 0.0)) >= _FAR:
        there, here = (100 * (share or 0.0) for share in far)
        parts.append(f"far from home {there:.0f} % -> {here:.0f} % of the time")
    here, away = (one.metrics[partition]["dispatch_wait_us"].mean or 0.0 for one in (run, base))
    if max(here, away) > max(_WAIT_US, _TIMES * min(here, away)):
        parts.append(f"a dispatch waits {away:,.0f} -> {here:,.0f} us")
    mine, theirs = (partial(_mean, one, partition) for one in (run, base))
    waits = dispatch_waits(mine, theirs)
    parts += [
        f"{whose} wait {away:,.2f} -> {here:,.2f} us" for whose, (here, away) in waits.items()
    ]
    if waits:
        parts.append("compare ETR, response times and dispatch waits before and after")
    return parts


def _to_the_work_of_now(told: Explanation) -> float:
    """What cores for the work of the other layout are multiplied by, so that they are for that of
    the layout as it is, as all that is told of cores: of a closed load both differ.
    """
    works = [None if of is None else of.work for of in (told.breakdown, told.base)]
    closed = any(work is not None and work.closed for work in works)
    return 1 / told.factor if closed and told.factor else 1.0


def _mean(run: Run, partition: str, metric: str) -> float:
    return run.metric(partition, metric).mean or 0.0
