"""`numastat -c`: on which NUMA nodes the memory of each group of threads or guest of a host lies.

`numastat [ -c ] [ -p NAME ]`. It is where the scenario puts it; interleaved memory is told evenly.
Hits and misses of allocations are not modelled.
"""

from __future__ import annotations

from collections.abc import Sequence

from homenode.tools.linux.system import Group, LinuxSystem, refuse_foreign
from homenode.tools.text_columns import page
from homenode.tools.usage import Grammar, parse

GRAMMAR = Grammar(
    tool="numastat",
    synopsis="[ -c ]",
    flags="c",
    absent={
        "m": "memory of the system itself is not modelled",
        **dict.fromkeys("nszvV", "the compact form is shown"),
    },
    takes_interval=False,
)
_LABEL = 15
_MIB = 1 << 20


def by_node(system: LinuxSystem, group: Group) -> list[float]:
    """Memory of a group on each node [MiB]."""
    machine = system.run.spec["machine"]
    beside_chips = machine["memory_beside"] == "chip"
    count = machine["nodes"] * (machine["chips_per_node"] if beside_chips else 1)
    found = [0.0] * count
    for part in group.spec["memory"]:
        for domain in part["domains"]:
            found[domain] += int(part["bytes"]) / len(part["domains"]) / _MIB
    return found


def render(system: LinuxSystem, argv: Sequence[str]) -> str:
    """What the tool would print."""
    shown = _shown(system, argv)
    table = [by_node(system, group) for group in shown]
    sums = [sum(values) for values in zip(*table, strict=True)]
    heads = [f"Node {node}" for node in range(len(sums))] + ["Total"]
    names = [_label(group) for group in shown]
    body = [[*values, sum(values)] for values in [*table, sums]]
    widths = [
        max(len(head), *(len(f"{row[at]:.0f}") for row in body)) for at, head in enumerate(heads)
    ]
    dashes = _row("-" * _LABEL, ["-" * width for width in widths], widths)
    lines = ["", "Per-node process memory usage (in MBs)", _row("PID", heads, widths), dashes]
    lines += [
        _row(name, [f"{value:.0f}" for value in values], widths)
        for name, values in zip([*names, "Total"], body, strict=True)
    ]
    lines.insert(len(lines) - 1, dashes)
    return page(lines)


def _label(group: Group) -> str:
    return f"{group.pid} ({group.name})"[:_LABEL]


def _row(label: str, cells: Sequence[str], widths: Sequence[int]) -> str:
    words = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return f"{label:<{_LABEL}}  {' '.join(words)}"


def rows(system: LinuxSystem, argv: Sequence[str]) -> list[dict[str, object]]:
    """The same as unrounded numbers [MiB], a dict a group."""
    return [
        {"PID": group.pid, "name": group.name}
        | {f"Node {node}": value for node, value in enumerate(by_node(system, group))}
        for group in _shown(system, argv)
    ]


def _shown(system: LinuxSystem, argv: Sequence[str]) -> list[Group]:
    if system.is_esxi:
        refuse_foreign(system, GRAMMAR.tool)
    only = parse(GRAMMAR, argv).partition
    return [group for group in system.groups if only in (None, group.name)]
