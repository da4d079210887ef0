"""The machine as a drawing: a box a node with how full it is, its chips with their cores, and a
block for each partition at home there: its letter, its cores and memory, and how near home it ran.

Colour never stands alone: blocks have letters and names, where one ran is full, half or hollow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from homenode.report.charts import BOTH, DARK, LIGHT, LINE, MANY, PALE, QUIET, Ground, letter_on

if TYPE_CHECKING:
    from homenode.report.machine_map import ChipMap, MachineMap, NodeMap, PartitionMap, Tenant

_WIDTH, _EDGE, _GAP, _PAD, _HEAD, _CORE = 940, 10, 10, 8, 44, 8
_BLOCK, _BESIDE, _LEGEND, _TITLE = 46, 16, 26, 28
_COLUMNS = 4
_NARROWEST = 190
"""A block that would be narrower gets a row of its own."""
_LETTER = 0.58
"""How wide a letter is, of its height, at most on average."""
_OVER = 0.05
"""Cores beyond what a node has from which on it is told as full."""
_OFF = "-"
_SHADES = (QUIET, PALE, DARK)
_RAN = ("ran at home", "near it (same node)", "far from it")


@dataclass(frozen=True)
class Lodger:
    """What a partition has at a node."""

    partition: PartitionMap
    share: float
    """Of its home, 0 where only memory is there."""
    cores: float | None
    memory_bytes: int


@dataclass(frozen=True)
class MachineDrawing:
    """A machine map to be drawn on one ground or another."""

    told: MachineMap

    @property
    def title(self) -> str:
        """Machine, scenario, run."""
        run = f", run {self.told['run']}" if self.told["run"] else ""
        return f"{self.told['title']}: {self.told['scenario']}{run}"

    def to_dict(self) -> dict[str, Any]:
        """What is drawn, as data: a row for each partition at each node."""
        rows = [
            {
                "place": node["place"], "partition": one.partition["partition"],
                "share of its home": one.share, self.told["unit"]: one.cores,
                "memory [bytes]": one.memory_bytes,
            }
            for node in self.told["nodes"]
            for one in lodgers(self.told, node)
        ]  # fmt: skip
        return {"title": self.title, "description": self._says(), "datasets": {"homes": rows}}

    def _says(self) -> str:
        homes = (
            f"{node['place']}: {', '.join(names)}"
            for node in self.told["nodes"]
            if (names := [one.partition["partition"] for one in lodgers(self.told, node)])
        )
        return f"{self.title}. At home in {'; '.join(homes) or 'no place'}"

    def svg(self, ground: Ground = LIGHT) -> str:
        """As SVG text, without role and name."""
        drawn, height = _boxes(self.told, ground)
        tall, wide = height + _LEGEND + 2 * _EDGE, _WIDTH + 2 * _EDGE
        frame = f"{-_EDGE} {-_EDGE} {wide} {tall:g}"
        back = "" if ground.back is None else _rect(-_EDGE, -_EDGE, wide, tall, ground.back)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall:g}"'
            f' viewBox="{frame}" font-family="system-ui, sans-serif">'
            f"{back}{_text(0, 14, self.title, ground, 14, bold=True)}"
            f"{drawn}{_legend(self.told, height + 12, ground)}</svg>"
        )

    def _repr_svg_(self) -> str:
        """What a notebook shows."""
        return self.svg(BOTH)


def lodgers(told: MachineMap, node: NodeMap) -> list[Lodger]:
    """Who is at a node, in the order of the partitions."""
    found = []
    for one in told["partitions"]:
        own = [each for each in _tenants(node) if each["partition"] == one["partition"]]
        if own:
            share = _share(told, node, one["partition"])
            cores = None if one["used"] is None else one["used"] * share
            memory = sum(each["memory_bytes"] for each in own)
            found.append(Lodger(one, share, cores, memory))
    return found


def _tenants(node: NodeMap) -> Iterable[Tenant]:
    return itertools.chain(node["tenants"], *(chip["tenants"] for chip in node["chips"]))


def _share(told: MachineMap, node: NodeMap, partition: str) -> float:
    """Of a partition's home: by entitlement, or by memory where nothing is entitled."""
    keys: tuple[Literal["entitlement", "memory_bytes"], ...] = ("entitlement", "memory_bytes")
    for key in keys:
        sums = {
            at["place"]: sum(one[key] for one in _tenants(at) if one["partition"] == partition)
            for at in told["nodes"]
        }
        if any(sums.values()):
            return float(sums[node["place"]] / math.fsum(sums.values()))
    return 0.0


@dataclass(frozen=True)
class _Box:
    """A node that is drawn."""

    told: MachineMap
    node: NodeMap
    wide: float
    ground: Ground

    @property
    def who(self) -> list[Lodger]:
        return lodgers(self.told, self.node)

    @property
    def home(self) -> list[Lodger]:
        return [one for one in self.who if one.share]

    @property
    def columns(self) -> int:
        """Blocks beside each other."""
        return max(1, int((self.wide - 2 * _PAD) / _NARROWEST))

    def chips(self) -> tuple[list[tuple[ChipMap, float, float]], float]:
        """Where each chip stands, in lines that break, and where the last line ends."""
        x, y, line, found = float(_PAD), float(_HEAD), 0.0, []
        for chip in self.node["chips"]:
            across, down = _chip_size(chip)
            if x + across > self.wide - _PAD and x > _PAD:
                x, y, line = float(_PAD), y + line + 4, 0.0
            found.append((chip, x, y))
            x, line = x + across + 4, max(line, down)
        return found, y + line + 6

    @property
    def height(self) -> float:
        """With all its blocks."""
        rows = max(1, math.ceil(len(self.home) / self.columns))
        memory = _BESIDE if len(self.home) < len(self.who) else 0
        return self.chips()[1] + rows * (_BLOCK + 4) + memory + _PAD


def _boxes(told: MachineMap, ground: Ground) -> tuple[str, float]:
    """All nodes, and how far down they reach."""
    nodes = [node for node in told["nodes"] if node["active"]]
    columns = max(1, min(_COLUMNS, len(nodes)))
    wide = (_WIDTH + _GAP) / columns - _GAP
    drawn, top = [], float(_TITLE)
    for first in range(0, len(nodes), columns):
        row = [_Box(told, node, wide, ground) for node in nodes[first : first + columns]]
        tall = max(box.height for box in row)
        drawn += [_at(at * (wide + _GAP), top, *_node(box, tall)) for at, box in enumerate(row)]
        top += tall + _GAP
    return "".join(drawn), top


def _node(box: _Box, tall: float) -> Iterator[str]:
    node, ground, wide = box.node, box.ground, box.wide
    most = node["active"] * box.told["capacity"] / box.told["active"]
    used = [one.cores for one in box.who if one.cores is not None]
    cores = math.fsum(used) if node["used"] is None else node["used"]
    unit = box.told["unit"]
    full = cores > most + _OVER
    told = f"{cores:.1f} of {most:g} {unit}{': full' if full else ''}"
    known = bool(used) or node["used"] is not None
    told = told if known else f"{most:g} {unit}"
    yield _rect(0, 0, wide, tall, "none", LINE, 6)
    yield _text(_PAD, 18, node["place"], ground, 13, bold=True)
    yield _text(wide - _PAD, 18, told, ground, 11.5, anchor="end")
    if known:
        yield _bar(wide - 2 * _PAD, most, cores, ground)
    places, end = box.chips()
    for chip, x, y in places:
        yield _at(x, y, *_chip(chip, box))
    if not box.home:
        free = f"nobody, {most - node['dedicated']:g} free"
        yield _text(_PAD, end + 16, free, ground, 11)
    across = (wide - 2 * _PAD + 4) / box.columns - 4
    for at, one in enumerate(box.home):
        row, column = divmod(at, box.columns)
        block = _block(one, across, box)
        yield _at(_PAD + column * (across + 4), end + row * (_BLOCK + 4), *block)
    alone = [
        f"{one.partition['key']} {_size(one.memory_bytes)}" for one in box.who if not one.share
    ]
    if alone:
        text = f"memory: {', '.join(alone)}"
        yield _text(_PAD, tall - _PAD, _cut(text, wide - 2 * _PAD, 11), ground, 11)


def _bar(long: float, most: float, cores: float, ground: Ground) -> str:
    """How full a node is; a line where its capacity ends if more is used."""
    scale = long / max(most, cores, 1e-9)
    parts = [
        _rect(0, 0, most * scale, 10, ground.grid, LINE),
        _rect(0, 0, cores * scale, 10, LINE) if cores else "",
        _rect(most * scale - 1, -3, 2, 16, ground.ink) if cores > most + _OVER else "",
    ]
    return _at(_PAD, 26, *parts)


def _chip_size(chip: ChipMap) -> tuple[float, float]:
    """Two rows of cores from five on."""
    rows = 2 if len(chip["cores"]) > 4 else 1
    return math.ceil(len(chip["cores"]) / rows) * _CORE + 5, rows * _CORE + 5


def _chip(chip: ChipMap, box: _Box) -> Iterator[str]:
    across, down = _chip_size(chip)
    yield _rect(0, 0, across, down, "none", LINE, 2)
    columns = int((across - 5) / _CORE)
    for core, mark in enumerate(chip["cores"]):
        row, column = divmod(core, columns)
        colour = _colour_of_mark(mark, box)
        dash = ' stroke-dasharray="1.5 1.5"' if mark == _OFF else ""
        x, y = 3.5 + column * _CORE, 3.5 + row * _CORE
        yield _rect(x, y, _CORE - 2, _CORE - 2, colour, LINE, more=dash)


def _colour_of_mark(mark: str, box: _Box) -> str:
    keys = [one["key"] for one in box.told["partitions"]]
    return (
        _colour(keys.index(mark))
        if mark in keys
        else _nobodys(box.told, box.ground).get(mark, "none")
    )


def _nobodys(told: MachineMap, ground: Ground) -> dict[str, str]:
    """Colours of marks of cores that are no partition's own."""
    marks = [mark for mark in told["marks"] if mark != _OFF]
    return dict(zip(marks, itertools.cycle((ground.grid, *_SHADES)), strict=False))


def _colour(index: int) -> str:
    return MANY[index % len(MANY)]


def _block(one: Lodger, wide: float, box: _Box) -> Iterator[str]:
    """A partition at home: letter, name, cores and memory, and how near home it ran."""
    ground, index = box.ground, box.told["partitions"].index(one.partition)
    room = wide - 40
    unit = box.told["unit"]
    entitled = one.partition["entitlement"] * one.share
    much = [f"{entitled:.3g} entitled" if one.cores is None else f"{one.cores:.1f} {unit}"]
    much += [_size(one.memory_bytes)] if one.memory_bytes else []
    yield _rect(0, 0, wide, _BLOCK, "none", LINE, 4)
    colour = _colour(index)
    yield _rect(0, 0, 26, _BLOCK, colour, LINE, 4)
    yield (
        f'<text x="13" y="{_BLOCK / 2 + 5:g}" text-anchor="middle" font-size="13"'
        f' font-weight="700" fill="{letter_on(colour)}">{escape(one.partition["key"])}</text>'
    )
    name = _cut(one.partition["partition"], room, 13)
    yield _text(33, 17, name, ground, 13, bold=True)
    yield _text(33, 32, _cut(" \u00b7 ".join(much), room, 11), ground, 11)
    ran = one.partition["dispatches"]
    if ran and sum(ran):
        yield _at(33, _BLOCK - 9, *_nearness(ran, room, ground))


def _nearness(ran: Sequence[float], room: float, ground: Ground) -> Iterator[str]:
    """Dispatches at home full, near it half, far from it hollow."""
    x = 0.0
    for share, colour in zip(ran, (ground.ink, LINE, "none"), strict=True):
        wide = share / sum(ran) * room
        yield _rect(x, 0, wide, 5, colour, LINE)
        x += wide


def _legend(told: MachineMap, y: float, ground: Ground) -> str:
    """What marks mean that say it nowhere else."""
    ran = any(one["dispatches"] for one in told["partitions"])
    marks = list(zip((ground.ink, LINE, "none"), _RAN, strict=True)) if ran else []
    nobodys = _nobodys(told, ground)
    cores = [(nobodys.get(mark, "none"), f"core {says}") for mark, says in told["marks"].items()]
    drawn, x = [], 0.0
    for colour, words in [*marks, *cores]:
        drawn += [_rect(x, y - 8, 14, 8, colour, LINE), _text(x + 19, y, words, ground, 11)]
        x += 40 + len(words) * 11 * _LETTER
    return "".join(drawn)


def _size(size: int) -> str:
    """Memory with as many digits as are read."""
    value, units = float(size), iter(("B", "KiB", "MiB", "GiB", "TiB"))
    unit = next(units)
    while value >= 1024 and unit != "TiB":
        value, unit = value / 1024, next(units)
    return f"{float(f'{value:.3g}'):g} {unit}"


def _at(x: float, y: float, *parts: str) -> str:
    return f'<g transform="translate({x:g} {y:g})">{"".join(parts)}</g>'


def _rect(
    x: float,
    y: float,
    wide: float,
    tall: float,
    fill: str,
    stroke: str | None = None,
    round_by: float = 0,
    *,
    more: str = "",
) -> str:
    line = "" if stroke is None else f' stroke="{stroke}"'
    corner = f' rx="{round_by:g}"' if round_by else ""
    size = f'x="{x:g}" y="{y:g}" width="{wide:.4g}" height="{tall:.4g}"'
    return f'<rect {size} fill="{fill}"{line}{corner}{more}/>'


def _text(
    x: float,
    y: float,
    words: str,
    ground: Ground,
    size: float,
    *,
    bold: bool = False,
    anchor: str = "start",
) -> str:
    weight = ' font-weight="650"' if bold else ""
    end = f' text-anchor="{anchor}"' if anchor != "start" else ""
    place = f'x="{x:g}" y="{y:g}" font-size="{size:g}"{weight}{end}'
    return f'<text {place} fill="{ground.ink}">{escape(words)}</text>'


def _cut(words: str, room: float, size: float) -> str:
    """As much as there is room for."""
    most = max(1, int(room / (size * _LETTER)))
    return words if len(words) <= most else f"{words[: most - 1]}\u2026"
