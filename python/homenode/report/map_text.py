"""The map of a machine as text: a line a chip, beside its cores who is at home there and where
memory lies; below it who is who. What has more to say than the width allows goes on in the next
line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape

from homenode.report.places import size_in_words
from homenode.report.tables import plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from homenode.report.machine_map import ChipMap, GuestMap, MachineMap, NodeMap, Tenant

_NARROWEST = 60
"""Columns below which nothing is squeezed any further."""
_GAP = "  "


def map_lines(told: MachineMap, width: int) -> list[str]:
    """The map, no line longer than the width where that can be."""
    lines = textwrap.wrap(_headline(told), width)
    for node in told["nodes"]:
        if node["active"]:
            lines += ["", *textwrap.wrap(_node_line(node, told), width, subsequent_indent="  ")]
            lines += _chips(node, told, max(width, _NARROWEST))
    silent = [node["place"] for node in told["nodes"] if not node["active"]]
    if silent:
        no_core = f"{', '.join(silent)}: no core is active there"
        lines += ["", *textwrap.wrap(no_core, width, subsequent_indent="  ")]
    return [*lines, "", *textwrap.wrap(_legend(told), width)]


def _headline(told: MachineMap) -> str:
    built = f" of {told['built_in']}" if told["built_in"] != told["active"] else ""
    threads = f" ({told['capacity']:g} processors)" if told["capacity"] != told["active"] else ""
    parts = [
        f"{told['title']}: {told['active']}{built} cores active{threads}",
        _promised(told["dedicated"], told["entitlement"], told["free"]),
        *([f"{told['used']:.2f} used"] if told["used"] is not None else []),
    ]
    memory = f"{size_in_words(told['memory_bytes'])} of memory given"
    return f"{', '.join(parts)}; {memory}, the machine holds {size_in_words(told['memory_most'])}"


def _promised(dedicated: int, entitlement: float, free: float) -> str:
    own = f"{dedicated} dedicated, " if dedicated else ""
    rest = f"{free:.2f} free" if free > -0.005 else f"{-free:.2f} more than there are"
    return f"{own}{entitlement:.2f} entitled, {rest}"


def _node_line(node: NodeMap, told: MachineMap) -> str:
    capacity = node["active"] * told["capacity"] / told["active"]
    free = capacity - node["dedicated"] - node["entitlement"]
    parts = [
        f"{node['place']}: {capacity:g} {told['unit']}",
        _promised(node["dedicated"], node["entitlement"], free),
        *([f"{node['used']:.2f} used"] if node["used"] is not None else []),
    ]
    size = node["memory_bytes"]
    memory = f"; {size_in_words(size) if size else 'no memory given'}"
    if node["memory_room"] is not None:
        memory += f" of {size_in_words(node['memory_room'])}"
    keys = _keys(told)
    whose = ", ".join(_of_memory(one, keys) for one in node["tenants"])
    return ", ".join(parts) + memory + (f" ({whose})" if whose else "")


def _chips(node: NodeMap, told: MachineMap, width: int) -> Iterator[str]:
    """A line a chip, or several where many are at home."""
    keys, chips = _keys(told), [chip for chip in node["chips"] if chip["active"]]
    label = max(len(chip["place"]) for chip in chips)
    marks = max(len(chip["cores"]) for chip in chips)
    used = max((len(_used(chip)) for chip in chips), default=0)
    memory = told["memory_beside"] == "chip"
    left = width - sum(len(_GAP) + one for one in (label, marks, used) if one)
    column = (left - 2 * len(_GAP)) // 2 if memory else left - len(_GAP)
    for chip in chips:
        home = [
            f"{keys[one['partition']]} {one['entitlement']:.2f}"
            for one in chip["tenants"]
            if one["entitlement"]
        ]
        stored = [_of_memory(one, keys) for one in chip["tenants"] if one["memory_bytes"]]
        cells = [_wrapped(home, column), _wrapped(stored, column) if memory else []]
        for row in range(max(1, *(len(cell) for cell in cells))):
            first = (chip["place"], chip["cores"], _used(chip)) if not row else ("", "", "")
            sized = zip(first, (label, marks, used), strict=True)
            texts = [f"{text:<{size}}" for text, size in sized if size]
            texts += [f"{cell[row] if row < len(cell) else '':<{column}}" for cell in cells]
            yield f"{_GAP}{_GAP.join(texts)}".rstrip()


def _used(chip: ChipMap) -> str:
    return "" if chip["used"] is None else f"{chip['used']:>6.2f} used"


def _of_memory(one: Tenant, keys: dict[str, str]) -> str:
    return f"{keys[one['partition']]} {size_in_words(one['memory_bytes'])}"


def _wrapped(words: Sequence[str], width: int) -> list[str]:
    """Entries side by side, none of them broken."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(_GAP) + len(word) <= width:
            lines[-1] += _GAP + word
        else:
            lines.append(word)
    return lines


def _keys(told: MachineMap) -> dict[str, str]:
    return {one["partition"]: one["key"] for one in told["partitions"]}


def _legend(told: MachineMap) -> str:
    """What the marks mean that there are, and what stands beside them."""
    words = [f"{mark} {meaning}" for mark, meaning in told["marks"].items()]
    if any(one["processors"] in ("dedicated", "donating") for one in told["partitions"]):
        words.insert(0, "a letter: a core of that partition's own")
    beside = "entitlement, then memory" if told["memory_beside"] == "chip" else "entitlement"
    entitled = "; entitled on a host: what each gets if all want everything"
    return f"({'; '.join(words)}; beside them {beside} at home there" + (
        f"{entitled})" if told["unit"] == "processors" else ")"
    )


def map_tables(told: MachineMap) -> list[Table]:
    """Who is who, where a run's partitions ran, and the guests of z/VM."""
    ran = [] if told["run"] is None else [_ran_table(told)]
    return [_who_table(told), *ran, *([_guest_table(told["guests"])] if told["guests"] else [])]


def _who_table(told: MachineMap) -> Table:
    table = plain_table(
        "", "partition", "processors", "entitled", "virtual", "SMT", "memory", title="Partitions"
    )
    table.columns[1].justify = "left"
    limited = any(one["may_use"] for one in told["partitions"])
    if limited:
        table.add_column("only on")
    for one in told["partitions"]:
        table.add_row(
            one["key"],
            escape(one["partition"]),
            one["processors"],
            f"{one['entitlement']:.2f}",
            str(one["virtual"]),
            str(one["smt"]),
            size_in_words(one["memory_bytes"]),
            *([one["may_use"] or ""] if limited else []),
        )
    return table


def _ran_table(told: MachineMap) -> Table:
    title = f"Where they ran ({told['unit']} used; dispatches per second at home, near, far)"
    table = plain_table("", "partition", "used", "home/s", "near/s", "far/s", "far", title=title)
    table.columns[1].justify = "left"
    for one in told["partitions"]:
        counts = one["dispatches"] or [0.0, 0.0, 0.0]
        far = f"{100 * counts[2] / sum(counts):.1f} %" if sum(counts) else "-"
        used = "-" if one["used"] is None else f"{one['used']:.2f}"
        rates = (f"{count:,.0f}" for count in counts)
        table.add_row(one["key"], escape(one["partition"]), used, *rates, far)
    return table


def _guest_table(guests: Sequence[GuestMap]) -> Table:
    hosts = dict.fromkeys(one["partition"] for one in guests)
    title = f"Virtual machines of z/VM in {', '.join(hosts)}"
    table = plain_table("guest", "count", "CPUs", "memory", title=title)
    several = len(hosts) > 1
    for column in ("role", "share", "switch", *(["partition"] if several else [])):
        table.add_column(column)
    for one in guests:
        names = one["names"]
        table.add_row(
            escape(names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"),
            str(len(names)),
            str(one["cpus"]),
            size_in_words(one["memory_bytes"]),
            one["role"],
            one["share"],
            escape(one["switch"] or ""),
            *([escape(one["partition"])] if several else []),
        )
    return table
