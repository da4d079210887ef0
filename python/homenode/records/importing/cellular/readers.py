"""The formats that can be imported. A reader knows its format by the content of a text.

To add one, write a `Reader` and put it into `READERS`; what it finds, it adds to `Findings`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from homenode.errors import Where
from homenode.records.importing.cellular.findings import (
    Cell,
    Findings,
    MemorySize,
    VirtualPartition,
    cell_of,
)
from homenode.records.importing.opening.sources import ListingError, Notice, Source

_ALL_OF_IT = "copy all that the command printed, headings and all, in English (LANG=C)"
_AS_PRINTED = "give the listing whole and unchanged, as the tool prints it in English (LANG=C)"
_LINE = re.compile(r"line (\d+): ")
_CELLS_PER_CABINET = 8
_MB_PER_GB = 1024
_PATH = re.compile(r"[0-9]{1,3}[./][0-9]{2,3}")


@dataclass(frozen=True)
class Reader:
    """One format."""

    name: str
    """What people call it."""
    mark: re.Pattern[str]
    """What occurs in every text of it, and in no other."""
    read: Callable[[Source, Findings], None]

    def recognises(self, text: str) -> bool:
        """Whether a text holds something of this format."""
        return self.mark.search(text) is not None


def read_all(sources: list[Source]) -> Findings:
    """What all readers find; a text that none knows is refused."""
    found = Findings()
    for source in sources:
        found.notices.extend(source.notices)
        readers = [reader for reader in READERS if reader.recognises(source.text)]
        if not readers:
            raise _unknown(source)
        for reader in readers:
            reader.read(source, found)
    return found


def _unknown(source: Source) -> ListingError:
    lines = [(n, line.strip()) for n, line in enumerate(source.text.splitlines(), 1)]
    number, line = next(((n, line) for n, line in lines if line), (None, "nothing at all"))
    names = ", ".join(reader.name for reader in READERS)
    return ListingError(
        "this is no listing that can be imported",
        asked=f'"{line[:60]}"' if number else line,
        there=f"what can be read is {names}",
        where=source.at(number),
        next_step=_ALL_OF_IT,
    )


def _parsed(parse: Callable[[str], str], source: Source, found: Findings) -> dict[str, Any]:
    """What a capture parser says, its remarks noted."""
    from homenode import _engine

    try:
        reading: dict[str, Any] = json.loads(parse(source.text))
    except _engine.CaptureError as error:
        problem = str(error)
        at = _LINE.match(problem)
        where = source.at(int(at[1]) if at else None)
        told = problem[at.end() :] if at else problem
        step = "" if "; " in told else f"; {_AS_PRINTED}"
        raise ListingError(told + step, where=where) from None
    for remark in reading["remarks"]:
        found.notices.append(Notice(remark["text"], source.at(remark["line"])))
    return reading


def _read_vparstatus(source: Source, found: Findings) -> None:
    from homenode import _engine

    reading = _parsed(_engine.parse_vparstatus, source, found)
    if "partitions" not in reading:
        raise ListingError(
            "the summary of vparstatus does not say where processors and memory are",
            where=source.at(None),
            next_step="give the output of vparstatus -v or vparstatus -M",
        )
    found.reports.append((source.file, reading["report"]))
    lines: dict[str, dict[str, Where]] = {}
    for place in reading["places"]:
        lines.setdefault(place["of"], {}).setdefault(place["field"], source.at(place["line"]))
    known = {partition.name: partition for partition in found.virtual}
    for listed in reading["partitions"]:
        partition = _virtual(listed, lines.get(listed["name"], {}), found)
        earlier = known.get(partition.name)
        if earlier is None:
            found.virtual.append(partition)
        elif earlier != partition:
            raise ListingError(
                f"{partition.name} is not as at {earlier.where('name')}",
                where=partition.where("name"),
                next_step="give listings of one server at one time",
            )


def _virtual(listed: dict[str, Any], lines: dict[str, Where], found: Findings) -> VirtualPartition:
    processors, memory = listed["processors"], listed["memory"]
    name, boot = listed["name"], processors["boot"]
    user = [path for path in processors["user"] if path is not None]
    monitor = [path for path in processors["monitor"] if path is not None]
    counts = {of["cell"]: of["count"] for of in processors["by_cell"]}
    by_count, undecided = processors["monitor_count"], len(processors["monitor"]) - len(monitor)
    if boot is not None and len(user) < processors["user_count"]:
        user.append(boot)
    paths = tuple(dict.fromkeys([*user, *([boot] if boot else []), *monitor]))
    for path in paths:
        if not _PATH.fullmatch(path):
            raise ListingError(
                f"{name} has a processor at {path}, which names no cell",
                where=lines.get("processors.paths"),
                next_step="servers of cells have paths such as 0.10; others are not understood",
            )
    told = len(user) + sum(counts.values()) + by_count
    there = max(len(paths) + undecided, len(user))
    if told != there:
        # Up to A.03 only paths are listed.
        by_count, counts = there - len(user), {}
        if told > len(user):
            text = f"{name} lists {there} processors but counts {told}; the list is taken"
            found.notices.append(Notice(text, lines.get("processors.paths")))
    return VirtualPartition(
        name=name,
        state=listed["state"],
        minimum=processors["minimum"],
        maximum=processors["maximum"],
        by_path=tuple(user),
        by_cell=counts,
        by_count=by_count,
        boot=boot,
        paths=paths,
        io=_io(listed["io"]),
        memory=_memory(memory),
        ilm_granule=memory["interleaved"]["granule"],
        clm_granule=memory["local"]["granule"],
        lines=lines,
    )


def _io(listed: list[dict[str, str]]) -> dict[int, bool]:
    cells: dict[int, bool] = {}
    for io in listed:
        cell = cell_of(io["path"])
        cells[cell] = cells.get(cell, False) or io["role"] == "BOOT"
    return cells


def _memory(listed: dict[str, Any]) -> tuple[MemorySize, ...]:
    kinds = [{"cell": None, **listed["interleaved"]}, *listed["local"]["by_cell"]]
    sizes = [
        MemorySize(kind["cell"], kind["megabytes"] - kind["floating"], kind["floating"])
        for kind in kinds
    ]
    return tuple(size for size in sizes if size.base or size.floating)


def _read_parstatus(source: Source, found: Findings) -> None:
    from homenode import _engine

    reading = _parsed(_engine.parse_parstatus, source, found)
    found.reports.append((source.file, "parstatus"))
    lines: dict[str, Where] = {}
    for place in reading["places"]:
        lines.setdefault(place["of"], source.at(place["line"]))
    for label, value in reading["complex"]:
        if "product" in label.lower() and value and found.product is None:
            found.product = (value, source.at(None))
    for one in reading["partitions"]:
        where = lines.get(one["name"], source.at(None))
        found.partition_names[one["number"]] = (one["name"], where)
    for one in reading["details"]:
        if one["allocated"] is not None:
            local = round(one["allocated"] * _MB_PER_GB)
            found.local[_number(one["location"])] = (local, lines[one["location"]])
    for row in reading["cells"]:
        cell = _cell(row, lines[row["location"]])
        earlier = next((one for one in found.cells if one.number == cell.number), None)
        if earlier is None:
            found.cells.append(cell)
        elif earlier != cell:
            raise ListingError(
                f"cell {cell.number} is not as at {earlier.where}",
                where=cell.where,
                next_step="give listings of one server at one time",
            )


def _number(location: str) -> int:
    """The number of a cell in its server."""
    cabinet, slot = (int(re.sub(r"\D", "", part)) for part in location.split(","))
    return cabinet * _CELLS_PER_CABINET + slot


def _cell(row: dict[str, Any], where: Where) -> Cell:
    memory, processors = row["memory"], row["processors"]
    return Cell(
        number=_number(row["location"]),
        partition=row["partition"],
        memory=None if memory is None else round(memory["ok"] * _MB_PER_GB),
        processors=None if processors is None else processors["ok"],
        deconfigured=0 if processors is None else processors["deconfigured"],
        interleaves=row["interleaves"],
        chassis=row["connected"] is not None,
        where=where,
    )


READERS: tuple[Reader, ...] = (
    Reader(
        "vparstatus -v or -M",
        re.compile(
            r"^\s*(?:\[\s*(?:Virtual\s+Partition|CPU\s+Details|IO\s+Details)"
            r"|[^:\n]*(?::[^:\n]*){4}:[0-9]+/[0-9]+;)",
            re.MULTILINE,
        ),
        _read_vparstatus,
    ),
    Reader(
        "parstatus -C",
        re.compile(r"^\s*(?:\[\s*(?:Cell|Partition|Complex)\s*\]|cell:)", re.MULTILINE),
        _read_parstatus,
    ),
)
"""All formats, in the order in which they are asked."""
