"""Places in words, as a scenario names them, and who lies where in a frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape

from homenode.model.scenario.places import node_word
from homenode.model.units import SIZE
from homenode.report.tables import plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from homenode.model.catalog import MachineDescription
    from homenode.model.spec import MemoryPartSpec
    from homenode.tools.frame import FrameRow

EVERYWHERE = "all"
_GIB = 1 << 30
_LONGEST = 7
"""Digits of a size that are read at a glance."""


def size_in_words(size: int) -> str:
    """A size as people write it; one of many digits in six of them."""
    exact = SIZE.format(size)
    number = exact.split(" ")[0]
    return exact if len(number) <= _LONGEST else f"{size / _GIB:.6g} GiB"


def home_in_words(chips: Sequence[int], machine: MachineDescription) -> str:
    """`book5`, `book5.chip0-1`, or `all` of the machine."""
    active = [chip for chip in range(machine.chips) if machine.active_cores_of(chip)]
    if set(chips) >= set(active) and machine.nodes > 1:
        return EVERYWHERE
    word, each = node_word(machine), machine.chips_per_node
    said = []
    for node in sorted({chip // each for chip in chips}):
        there = [chip for chip in active if chip // each == node]
        named = [chip for chip in chips if chip // each == node]
        if set(named) >= set(there):
            said.append(f"{word}{node}")
        else:
            said += [f"{word}{node}.chip{part}" for part in spans([c % each for c in named])]
    return ", ".join(said)


def spans(numbers: Sequence[int]) -> list[str]:
    """Rising numbers, those that follow each other by their ends: `0-3`, `5`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    return [f"{one[0]}-{one[-1]}" if len(one) > 1 else str(one[0]) for one in spans]


def memory_in_words(
    parts: Iterable[MemoryPartSpec], beside: str, machine: MachineDescription
) -> dict[str, int]:
    """Bytes by place: a node, or several over which lines are interleaved."""
    found: dict[str, int] = {}
    each = machine.chips_per_node if beside == "chip" else 1
    for part in parts:
        nodes = sorted({domain // each for domain in part["domains"]})
        place = "+".join(f"{node_word(machine)}{node}" for node in nodes)
        if len(nodes) == machine.nodes > 1:
            place = EVERYWHERE
        found[place] = found.get(place, 0) + int(part["bytes"])
    return found


def frame_table(rows: Sequence[FrameRow], machine: MachineDescription) -> Table:
    """Who lies where: a row for each partition at each chip, the place told once."""
    table = plain_table("place", "entitled", "memory", title="Who lies where")
    table.add_column("partition")
    before = ""
    for row in rows:
        place = f"{node_word(machine)}{row['node']}"
        if row["chip"] is not None:
            place += f".chip{row['chip'] % machine.chips_per_node}"
        capacity, size = row["entitlement"], row["memory_bytes"]
        table.add_row(
            "" if place == before else place,
            f"{capacity:.2f}" if capacity else "",
            size_in_words(size) if size else "",
            escape(row["partition"]),
        )
        before = place
    return table
