"""From files to a scenario that was loaded once."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from homenode.errors import InputError, StoreError, Where, listed
from homenode.model.scenario import Scenario
from homenode.model.scenario.cellular.paths import core_at
from homenode.model.scenario.places import PlaceError
from homenode.records.importing.cellular.findings import Findings, VirtualPartition
from homenode.records.importing.cellular.hardware import choose_machine, divide
from homenode.records.importing.cellular.readers import read_all
from homenode.records.importing.cellular.write import PLACEHOLDER_PROFILE, io_cell, scenario_text
from homenode.records.importing.opening.sources import ListingError, Notice, Source, read_source

_DOWN = ("down", "n/a")
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_.+-]")
_LONGEST_NAME = 64
_ORIGIN = re.compile(r"# (?P<file>[^;]+?):(?P<line>[0-9]+)")


@dataclass(frozen=True)
class Imported:
    """A scenario made of listings."""

    text: str
    """The scenario file."""
    scenario: Scenario
    """The same, loaded."""
    notices: tuple[Notice, ...]
    """What was understood with a grain of salt, or assumed, in the order of reading."""
    reports: tuple[tuple[str, str], ...]
    """Files with the listings found in them."""

    def summary(self) -> dict[str, Any]:
        """What was made of what."""
        return {
            "machine": self.scenario.machine.name,
            "read": [{"file": file, "report": report} for file, report in self.reports],
            "npartitions": [
                {
                    "name": one.name,
                    "cells": list(one.indices),
                    "memory_bytes": sum(cell.memory for cell in one.cells),
                    "local_bytes": sum(cell.local for cell in one.cells),
                }
                for one in self.scenario.resolved.npartitions
            ],
            "partitions": [
                {"name": one.name, "cores": one.virtual, "memory_bytes": one.memory_bytes}
                for one in self.scenario.partitions
            ],
            "warnings": [
                {
                    "file": notice.where.file if notice.where else None,
                    "line": notice.where.line if notice.where else None,
                    "text": notice.text,
                }
                for notice in self.notices
            ],
        }

    def save(self, path: Path) -> None:
        """Write the file as a whole or not at all; one that is there is kept."""
        if path.exists():
            raise StoreError(f"{path} is there already", next_step="name another file with -o")
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            try:
                draft.write_text(self.text, encoding="utf-8")
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)
        except OSError as failure:
            raise StoreError(
                f"{path} cannot be written: {failure.strerror}",
                next_step="name a file in a folder that is there and yours",
            ) from failure


def import_files(paths: Sequence[str | Path], machine: str | None = None) -> Imported:
    """Read listings of one server and make a scenario of them.

    `machine` names the model if no listing does. Raises `ListingError` for what contradicts itself
    or lacks a section, `NotFoundError` for a file or model that is not there.
    """
    return import_sources([read_source(Path(path)) for path in paths], machine)


def import_sources(sources: Sequence[Source], machine: str | None = None) -> Imported:
    """The same of texts."""
    found = read_all(list(sources))
    chosen = choose_machine(machine, found)
    npartitions = divide(found, chosen.platform)
    names = _names(found)
    _remark(found)
    files = list(dict.fromkeys(source.file for source in sources))
    text = scenario_text(chosen, npartitions, names, files=files)
    scenario = _load(text, files)
    pinned = [one.name for one in found.virtual if _elsewhere(one, names[one.name], scenario)]
    if pinned:
        text = scenario_text(chosen, npartitions, names, pinned, files)
        scenario = _load(text, files)
    _remark_placeholder(found)
    return Imported(text, scenario, tuple(found.notices), tuple(found.reports))


def _names(found: Findings) -> dict[str, str]:
    """Names as a scenario takes them."""
    names: dict[str, str] = {}
    for partition in found.virtual:
        name = _NOT_A_NAME.sub("-", partition.name).lstrip("_.+-")[:_LONGEST_NAME] or "vpar"
        while name in names.values():
            name = f"{name[: _LONGEST_NAME - 1]}x"
        names[partition.name] = name
        if name != partition.name:
            text = f'"{partition.name}" is called {name} in the scenario'
            found.notices.append(Notice(text, partition.where("name")))
    return names


def _remark(found: Findings) -> None:
    """What of a partition is not as it was, or not known."""
    for partition in found.virtual:
        if partition.state.lower() in _DOWN:
            text = f"{partition.name} is down: which cores it gets is decided when it boots"
            found.notices.append(Notice(text, partition.where("name")))
        if len(partition.io) > 1:
            cells = listed(str(cell) for cell in sorted(partition.io))
            text = f"{partition.name} has I/O on cells {cells}; cell {io_cell(partition)} counts"
            found.notices.append(Notice(text, partition.where("io")))


def _remark_placeholder(found: Findings) -> None:
    plain = "a listing says nothing of the work"
    what = f"every core runs an endless loop of the profile {PLACEHOLDER_PROFILE}"
    found.notices.append(Notice(f"{plain}: {what}; write your own workloads"))


def _load(text: str, files: Sequence[str]) -> Scenario:
    """The scenario, or one message why the listings make none."""
    try:
        return Scenario.from_toml(text, "imported.toml")
    except InputError as error:
        raise ListingError(
            f"no scenario can be made of it: {error.problem}",
            there=error.there,
            where=_origin(text, error.where) or Where(listed(files)),
            next_step=error.next_step,
        ) from error


def _origin(text: str, where: Where | None) -> Where | None:
    """The line of a listing that a line of the scenario was made of: its comment says it."""
    if where is None or where.line is None:
        return None
    lines = text.splitlines()
    own, above = lines[where.line - 1 : where.line], lines[where.line - 2 : where.line - 1]
    # A long line has its comment above it, a list within.
    comments = [line for line in above if line.startswith("#")]
    for line in (*own, *comments, *lines[where.line : where.line + 1]):
        found = _ORIGIN.search(line)
        if found:
            return Where(found["file"], int(found["line"]))
    return None


def _elsewhere(listing: VirtualPartition, name: str, scenario: Scenario) -> bool:
    """Whether the scenario gives a partition other cores than those it really has."""
    if len(listing.paths) != listing.cores:
        return False
    machine = scenario.machine
    try:
        cores = sorted(core_at(path, machine) for path in listing.paths)
    except PlaceError as error:
        raise ListingError(
            f"{listing.name} has a processor that is not there",
            there=error.there,
            where=listing.where("processors.paths"),
            next_step="name another machine with --machine",
        ) from None
    return tuple(cores) != scenario.partition(name).cores
