"""Places of a machine by name: `book5`, `book5.chip2`, `chip17`.

Nodes are counted from 0, as `lssrad` counts them (REF1); a chip within its node likewise, `chip17`
alone is counted over the whole machine. Besides the machine's own word for a node (book, drawer,
block) `node` is always understood.
"""

from __future__ import annotations

import re

from homenode.model.catalog import MachineDescription

_PLACE = re.compile(
    r"\s*(?P<word>[a-z]+)\s*(?P<index>[0-9]{1,6})(?:\s*\.\s*chip\s*(?P<chip>[0-9]{1,6}))?\s*"
)


class PlaceError(ValueError):
    """A text names no place of the machine; says what there is and what to write."""

    def __init__(self, there: str, next_step: str) -> None:
        self.there = there
        self.next_step = next_step
        super().__init__(f"{there}; {next_step}")


def node_word(machine: MachineDescription) -> str:
    """The word for a node in a place: `book`, `drawer`, `block`."""
    return machine.node_name.split()[-1].lower()


def find_place(text: str, machine: MachineDescription) -> list[int]:
    """The chips of a place that have at least one active core, counted over the whole machine."""
    word = node_word(machine)
    found = _PLACE.fullmatch(text.lower())
    if found is None or found["word"] not in (
        "node",
        "chip",
        word,
        machine.node_name.lower().replace(" ", ""),
    ):
        raise PlaceError(f'"{text}" is no place', f"write {word}0, {word}0.chip1 or chip3")
    index = int(found["index"])
    if found["word"] == "chip" and found["chip"] is None:
        chips = [_within(index, machine.chips, "chip", machine)]
    else:
        node = _within(index, machine.nodes, word, machine)
        first = node * machine.chips_per_node
        if found["chip"] is None:
            chips = list(range(first, first + machine.chips_per_node))
        else:
            chips = [first + _within(int(found["chip"]), machine.chips_per_node, "chip", machine)]
    active = [chip for chip in chips if machine.active_cores_of(chip)]
    if not active:
        last = (machine.active_cores - 1) // machine.cores_per_chip
        where = f"{word}{last // machine.chips_per_node}.chip{last % machine.chips_per_node}"
        raise PlaceError(
            f"no core is active there; the {machine.active_cores} active ones end at {where}",
            "name a place up to there",
        )
    return active


def find_cell(text: str, machine: MachineDescription) -> int:
    """The number of a node by name, such as `cell1`."""
    word = node_word(machine)
    found = _PLACE.fullmatch(text.lower())
    if found is None or found["word"] not in ("node", word) or found["chip"] is not None:
        raise PlaceError(f'"{text}" is no {word}', f"write {word}0 to {word}{machine.nodes - 1}")
    return _within(int(found["index"]), machine.nodes, word, machine)


def _within(index: int, count: int, word: str, machine: MachineDescription) -> int:
    if index >= count:
        what = f"{word} 0 only" if count == 1 else f"{word}s 0 to {count - 1}"
        where = " in a node" if word == "chip" and count == machine.chips_per_node else ""
        raise PlaceError(
            f"{machine.title} has {what}{where}",
            f"write {word}0 to {word}{count - 1}" if count > 1 else f"write {word}0",
        )
    return index


def name_of_chip(chip: int, machine: MachineDescription) -> str:
    """The name of a chip: `book5.chip2`."""
    return (
        f"{node_word(machine)}{chip // machine.chips_per_node}.chip{chip % machine.chips_per_node}"
    )
