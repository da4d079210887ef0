"""Commands from one layout of IBM Z to another: what the export of a partition has that it had not
before, and of virtual switches what has to go first, or in the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from homenode.errors import listed
from homenode.records.exporting import zvm
from homenode.records.exporting.errors import ExportError
from homenode.records.exporting.options import ExportOptions
from homenode.simulate.run import Run

_SWITCH = re.compile(r"DEFINE VSWITCH (?P<name>\S+) ")
_POOL = re.compile(r"DEFINE CPUPOOL (?P<name>\S+) ")
_GRANT = re.compile(r"SET VSWITCH (?P<name>\S+) GRANT")
_USER = re.compile(r"USER (?P<name>\S+) ")
_NIC = re.compile(r" NICDEF ")
_MANY = 12


class _Line(NamedTuple):
    head: str
    """Of an indented line the statement that it belongs to."""
    text: str


def on_mainframe(before: Run, after: Run) -> list[str]:
    """The lines; none where nothing of what is exported changes."""
    then, *others = _blocks(after)
    old = {_title(block): block for block in _blocks(before)}
    told = [[*_changed(old.get(_title(block), []), block)] for block in others]
    return [line for part in ([then[0].text], *told) for line in part] if any(told) else []


def _blocks(run: Run) -> list[list[_Line]]:
    """The export, a block a partition; the first one is its title."""
    try:
        lines = [*zvm.commands(run, ExportOptions())]
    except ExportError:
        return [[_Line("", "")]]
    blocks = [[*part] for is_block, part in groupby(lines, key=bool) if is_block]
    return [[*_with_heads(block)] for block in blocks]


def _with_heads(block: Sequence[str]) -> Iterator[_Line]:
    head = ""
    for text in block:
        head = head if text.startswith(" ") else text
        yield _Line(head if text.startswith(" ") else "", text)


def _title(block: Sequence[_Line]) -> str:
    """Whose block it is."""
    return block[0].text.partition(":")[0]


def _named(pattern: re.Pattern[str], block: Sequence[_Line]) -> dict[str, str]:
    """By name, the lines that are of this pattern."""
    found = ((pattern.match(line.text), line.text) for line in block)
    return {match["name"]: text for match, text in found if match}


def _changed(old: Sequence[_Line], block: Sequence[_Line]) -> Iterator[str]:
    """What is new of a block, with the comments and statements above it."""
    was, now = _named(_SWITCH, old), _named(_SWITCH, block)
    # A switch's layer is that of its definition, and with it go those who may couple to it.
    again = {name for name, text in now.items() if was.get(name, text) != text}
    grants = ((line, _GRANT.match(line.text)) for line in old)
    there = {*old} - {line for line, match in grants if match and match["name"] in again}
    new = [line for line in block if line not in there]
    users = [name for name in _named(_USER, old) if name not in _named(_USER, block)]
    gone = [name for name in was if name not in now]
    if not (new or users or gone):
        return
    pools = _named(_POOL, old)
    heads, last = {line.head for line in new}, block.index(new[-1]) if new else 0
    for line in block[: last + 1]:
        match = _SWITCH.match(line.text)
        if match and match["name"] in again:
            yield f"DETACH VSWITCH {match['name']}"
        if line in new or line.text in heads or line.text.startswith("*"):
            pool = _POOL.match(line.text)
            is_there = pool is not None and pool["name"] in pools
            yield line.text.replace("DEFINE", "SET", 1) if is_there else line.text
    yield from _afterwards(new, users, gone, anew=bool(again))


def _afterwards(
    new: Sequence[_Line], users: Sequence[str], gone: Sequence[str], *, anew: bool
) -> Iterator[str]:
    """What running machines do, and what nobody needs any more."""
    if anew or any(_NIC.match(line.text) for line in new):
        yield "* Running machines couple to their switch at their next logon, or each by itself:"
        yield f"*   COUPLE {zvm.NIC} TO SYSTEM and the switch of its NICDEF"
    if users:
        yield f"* No longer needed: {listed(users, _MANY)}"
    if gone:
        yield "* Once nobody is coupled to it any more"
    yield from (f"DETACH VSWITCH {name}" for name in gone)
