"""lssrad -av: on which nodes (REF1) and chips (SRAD) a partition's memory and processors have
their home.

It is the view that AIX has since its start; where processors really ran is in mpstat's columns
and in `homenode explain`. Nodes and chips are numbered from 0 in the order of their place in the
machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from homenode.tools.configuration import Srad
from homenode.tools.text_columns import page
from homenode.tools.usage import Grammar, parse
from homenode.tools.view import RunView

__all__ = ["GRAMMAR", "ranges", "render", "rows"]

GRAMMAR = Grammar(
    tool="lssrad",
    synopsis="-av",
    flags="av",
    absent={"s": "single domains: use -av"},
    combine=True,
    takes_interval=False,
)
HEADING = "REF1   SRAD        MEM      CPU"
_WIDTH = 11
_GAP = " " * 5


def render(view: RunView, argv: Sequence[str]) -> str:
    """What the tool would print: a line a node, beneath it a line a chip."""
    lines = [HEADING]
    shown = None
    for srad in _domains(view, argv):
        if srad.ref1 != shown:
            shown = srad.ref1
            lines.append(str(shown))
        cpus = "".join(f" {part}" for part in ranges(srad.cpus))
        lines.append(f"{srad.srad:>{_WIDTH}}{srad.mem_mb:>{_WIDTH}.2f}{_GAP}{cpus}")
    return page(lines)


def rows(view: RunView, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same as numbers, a dict a chip."""
    return [
        {"REF1": srad.ref1, "SRAD": srad.srad, "MEM": srad.mem_mb, "CPU": list(srad.cpus)}
        for srad in _domains(view, argv)
    ]


def _domains(view: RunView, argv: Sequence[str]) -> tuple[Srad, ...]:
    request = parse(GRAMMAR, argv)
    if set(request.flags) != {"a", "v"}:
        raise GRAMMAR.refuse("both -a and -v are needed")
    return view.partition(request.partition).srads


def ranges(cpus: Iterable[int]) -> list[str]:
    """Numbers in a row as `first-last`, single ones as they are."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1][1:] = [cpu]
        else:
            runs.append([cpu])
    return ["-".join(map(str, run)) for run in runs]
