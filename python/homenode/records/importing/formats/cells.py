"""Listings of HP's servers of cells: `vparstatus -v` and `-M`, `parstatus`, also several in a file.

`vparstatus` says what is bound to virtual partitions, `parstatus` which cells make up the hard
partitions and how much memory they have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from homenode import _engine
from homenode.errors import Where
from homenode.model.document.read import MOST_BYTES
from homenode.records.importing.facts import (
    BoundMemory,
    CellFacts,
    Facts,
    Told,
    Took,
    VirtualPartitionFacts,
    cell_of,
)
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import ListingError, Notice, head_text
from homenode.records.importing.shared.forms import FileFormat, text_of
from homenode.records.importing.shared.words import counted, unread

_AS_PRINTED = "give the listing whole and unchanged, as the tool prints it in English (LANG=C)"
_CELLS_PER_CABINET = 8
_MB = 1 << 20
_MB_PER_GB = 1024
_PATH = re.compile(r"[0-9]{1,3}[./][0-9]{2,3}")
_DOWN = ("down", "n/a")
_VPARSTATUS = re.compile(
    r"^\s*(?:\[\s*(?:Virtual\s+Partition|CPU\s+Details|IO\s+Details)"
    r"|[^:\n]*(?::[^:\n]*){4}:[0-9]+/[0-9]+;)",
    re.MULTILINE,
)
_PARSTATUS = re.compile(r"^\s*(?:\[\s*(?:Cell|Partition|Complex)\s*\]|cell:)", re.MULTILINE)


class CellListings:
    """What virtual and hard partitions of cells have."""

    name = "vparstatus -v or -M, parstatus -C"

    def recognises(self, head: bytes, name: str) -> bool:
        """See `FileFormat`."""
        del name
        text = head_text(head)
        return any(mark.search(text) for mark in (_VPARSTATUS, _PARSTATUS))

    def read(self, source: Input, facts: Facts) -> None:
        """See `FileFormat`."""
        try:
            _read(source, facts)
        except ListingError as error:
            facts.unsound.append(error)
            raise


def _read(source: Input, facts: Facts) -> None:
    text = text_of(source, MOST_BYTES, facts)
    readers = (
        (_VPARSTATUS, _engine.parse_vparstatus, _add_partitions),
        (_PARSTATUS, _engine.parse_parstatus, _add_cells),
    )
    found = [
        (_parsed(parse, text, source, facts), add)
        for mark, parse, add in readers
        if mark.search(text)
    ]
    for reading, add in found:
        report, what = add(reading, source, facts)
        facts.took.append(Took(source.file, report, what))


def _parsed(parse: Callable[[str], str], text: str, source: Input, facts: Facts) -> dict[str, Any]:
    """What a capture parser says, its remarks noted."""
    try:
        reading: dict[str, Any] = json.loads(parse(text))
    except _engine.CaptureError as fault:
        step = None if "; " in str(fault) else _AS_PRINTED
        raise unread(fault, source.at, step) from None
    for remark in reading["remarks"]:
        facts.notices.append(Notice(remark["text"], source.at(remark["line"])))
    return reading


def _add_partitions(reading: dict[str, Any], source: Input, facts: Facts) -> tuple[str, str]:
    if "partitions" not in reading:
        raise ListingError(
            "the summary of vparstatus does not say where processors and memory are",
            where=source.at(),
            next_step="give the output of vparstatus -v or vparstatus -M",
        )
    lines: dict[str, dict[str, Where]] = {}
    for place in reading["places"]:
        lines.setdefault(place["of"], {}).setdefault(place["field"], source.at(place["line"]))
    listed = reading["partitions"]
    facts.virtual_partitions += [_partition(one, lines[one["name"]], facts) for one in listed]
    return reading["report"], counted(len(listed), "virtual partition")


def _partition(
    listed: dict[str, Any], lines: Mapping[str, Where], facts: Facts
) -> VirtualPartitionFacts:
    name, processors, memory = listed["name"], listed["processors"], listed["memory"]

    def at(fact: str) -> Where:
        return lines.get(fact, lines["name"])

    def told(fact: str, value: Any) -> Told[Any] | None:
        return None if value is None or value == {} else Told(value, at(fact))

    limits = at("processors.limits")
    where = lines.get("processors.paths", limits)
    by_path, by_cell, by_count, paths = _processors(name, processors, where, facts)
    return VirtualPartitionFacts(
        name=Told(name, at("name")),
        is_down=listed["state"].lower() in _DOWN,
        limits=Told((processors["minimum"], processors["maximum"]), limits),
        by_path=by_path,
        by_cell=by_cell,
        by_count=by_count,
        boot=told("processors.boot", processors["boot"]),
        paths=Told(paths, where),
        io=told("io", _io(listed["io"])),
        memory=_memory(memory, at),
        ilm_granule=told("memory.interleaved.granule", _bytes(memory["interleaved"]["granule"])),
        clm_granule=told("memory.local.granule", _bytes(memory["local"]["granule"])),
    )


def _processors(
    name: str, listed: dict[str, Any], where: Where, facts: Facts
) -> tuple[tuple[str, ...], dict[int, int], int, tuple[str, ...]]:
    """Cores asked for by path, by cell, by number; and the paths of all that are decided."""
    boot = listed["boot"]
    user = [path for path in listed["user"] if path is not None]
    monitor = [path for path in listed["monitor"] if path is not None]
    by_cell = {of["cell"]: of["count"] for of in listed["by_cell"]}
    by_count, undecided = listed["monitor_count"], len(listed["monitor"]) - len(monitor)
    if boot is not None and len(user) < listed["user_count"]:
        user.append(boot)
    paths = tuple(dict.fromkeys([*user, *([boot] if boot else []), *monitor]))
    for path in paths:
        if not _PATH.fullmatch(path):
            raise ListingError(
                f"{name} has a processor at {path}, which names no cell",
                where=where,
                next_step="servers of cells have paths such as 0.10; others are not understood",
            )
    told = len(user) + sum(by_cell.values()) + by_count
    there = max(len(paths) + undecided, len(user))
    if told != there:
        # Up to A.03 only paths are listed.
        by_count, by_cell = there - len(user), {}
        if told > len(user):
            text = f"{name} lists {there} processors but counts {told}; the list is taken"
            facts.notices.append(Notice(text, where))
    return tuple(user), by_cell, by_count, paths


def _io(listed: list[dict[str, str]]) -> dict[int, bool]:
    cells: dict[int, bool] = {}
    for io in listed:
        cell = cell_of(io["path"])
        cells[cell] = cells.get(cell, False) or io["role"] == "BOOT"
    return cells


def _memory(listed: dict[str, Any], at: Callable[[str], Where]) -> tuple[Told[BoundMemory], ...]:
    """Interleaved memory first; what holds nothing is left out."""
    kinds = [("memory.interleaved", None, listed["interleaved"])]
    kinds += [("memory.local", of["cell"], of) for of in listed["local"]["by_cell"]]
    return tuple(
        Told(
            BoundMemory(cell, (of["megabytes"] - of["floating"]) * _MB, of["floating"] * _MB),
            at(fact),
        )
        for fact, cell, of in kinds
        if of["megabytes"] or of["floating"]
    )


def _bytes(megabytes: int | None) -> int | None:
    return None if megabytes is None else megabytes * _MB


def _add_cells(reading: dict[str, Any], source: Input, facts: Facts) -> tuple[str, str]:
    lines: dict[str, Where] = {}
    for place in reading["places"]:
        lines.setdefault(place["of"], source.at(place["line"]))
    labels = reading["complex"]
    product = next((told for label, told in labels if "product" in label.lower() and told), None)
    if product is not None:
        facts.tell(facts.system(""), "model", Told(product, source.at()))
    for one in reading["partitions"]:
        facts.npartitions[one["number"]] = Told(one["name"], lines.get(one["name"], source.at()))
    for one in reading["details"]:
        if one["allocated"] is not None:
            local = round(one["allocated"] * _MB_PER_GB) * _MB
            facts.local_memory[_number(one["location"])] = Told(local, lines[one["location"]])
    facts.cells += [_cell(row, lines[row["location"]]) for row in reading["cells"]]
    return "parstatus", counted(len(reading["cells"]), "cell")


def _number(location: str) -> int:
    """The number of a cell in its server."""
    cabinet, slot = (int(re.sub(r"\D", "", part)) for part in location.split(","))
    return cabinet * _CELLS_PER_CABINET + slot


def _cell(row: dict[str, Any], where: Where) -> CellFacts:
    memory, processors = row["memory"], row["processors"]
    return CellFacts(
        number=_number(row["location"]),
        npartition=row["partition"],
        memory_bytes=None if memory is None else round(memory["ok"] * _MB_PER_GB) * _MB,
        processors=None if processors is None else processors["ok"],
        deconfigured=0 if processors is None else processors["deconfigured"],
        interleaves=row["interleaves"],
        has_chassis=row["connected"] is not None,
        where=where,
    )


FORMATS: tuple[FileFormat, ...] = (CellListings(),)
