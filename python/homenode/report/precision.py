"""Figures whose intervals are wide, and how many replications would make them narrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.errors import listed
from homenode.model.numbers import with_interval
from homenode.simulate.precision import SHOWN, WIDE, wide, width

if TYPE_CHECKING:
    from homenode.model.estimate import Estimate
    from homenode.simulate.kept.kept_run import KeptRun

MARK = "?"


def marked(estimate: Estimate, digits: int) -> str:
    """A mean with its interval, marked if that is wide."""
    share = width(estimate)
    mark = f" {MARK}" if share is not None and share > WIDE else ""
    return f"{with_interval(estimate, digits)}{mark}"


def wide_line(run: KeptRun) -> list[str]:
    """One line on all of them; nothing if there are none."""
    found = wide(run, metrics=SHOWN)
    if not found:
        return []
    several = listed(list(dict.fromkeys(one.partition for one in found)), 4)
    text = f"{MARK} an interval of more than {100 * WIDE:g} % of its mean ({several})"
    if run.replications == 1:
        return [f"{text}: several replications tell more than parts of one"]
    counts = [one.needed for one in found]
    most = max((one for one in counts if one is not None), default=None)
    if most is None or None in counts:
        return [f"{text}: it varies too much for replications to narrow it"]
    return [f"{text}: {most} replications would narrow it, these are {run.replications}"]


def missed_lines(run: KeptRun, share: float) -> list[str]:
    """What is not as narrow as was asked for, a line each."""
    return [
        f"{one.partition}: {one.metric} is ± {100 * one.share:.1f} % with {run.replications}"
        " replications"
        for one in wide(run, share)
    ]
