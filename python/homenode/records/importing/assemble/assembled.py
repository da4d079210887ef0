"""A scenario made of recordings, and its files."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from homenode.errors import InputError, StoreError, Where, listed
from homenode.model.scenario import Scenario
from homenode.records.importing.assemble.convert import Residual
from homenode.records.importing.assemble.plan import Bursts
from homenode.records.importing.facts import Facts
from homenode.records.importing.opening.sources import ListingError, Notice
from homenode.staging import write_folder

SCENARIO_FILE = "scenario.toml"
_ORIGIN = re.compile(r"# (?P<file>[^;]+?):(?P<line>[0-9]+)")


class _Lasting(type(Path())):  # type: ignore[misc]
    """A path that something may hang on."""


def lasting_folder() -> Path:
    """A temporary folder that lasts as long as this path: as long as any scenario loaded from it,
    or made of such a one, for they look there for the files they name.
    """
    folder = _Lasting(tempfile.mkdtemp(prefix="homenode-import-"))
    weakref.finalize(folder, shutil.rmtree, str(folder), ignore_errors=True)
    return cast(Path, folder)


@dataclass(frozen=True)
class Assembled:
    """A scenario with the files it names."""

    text: str
    """The scenario file."""
    files: Mapping[str, bytes]
    """The files beside it, by name."""
    scenario: Scenario
    """The same, loaded from a folder that lasts as long as this or any that is made of it."""
    notices: tuple[Notice, ...]
    """What was assumed or left out in making it; those of the readers are in `facts`."""
    facts: Facts
    residuals: Mapping[str, Residual]
    """How far each partition's demand, played, is from what was recorded."""
    windows: int
    """Recorded windows; 0 where no use was recorded."""
    step_ns: int
    """Simulated length of each."""
    bursts: Mapping[str, Bursts] = field(default_factory=dict)
    """How long threads ran at a time, of partitions whose switches were recorded."""

    def summary(self) -> dict[str, object]:
        """What was made, as data."""
        return {
            "name": self.scenario.name,
            "machine": self.scenario.machine.name,
            "active_cores": self.scenario.machine.active_cores,
            "windows": self.windows,
            "step_s": self.step_ns / 1e9,
            "files": [SCENARIO_FILE, *self.files],
            "npartitions": [
                {
                    "name": one.name,
                    "cells": list(one.indices),
                    "memory_bytes": sum(cell.memory for cell in one.cells),
                    "local_bytes": sum(cell.local for cell in one.cells),
                }
                for one in self.scenario.resolved.npartitions
            ],
            "partitions": [self._partition(one.name) for one in self.scenario.partitions],
            "warnings": [_warning(notice) for notice in self.notices],
        }

    def _partition(self, name: str) -> dict[str, object]:
        one = self.scenario.partition(name)
        residual = self.residuals.get(name)
        off = None
        if residual is not None:
            off = {
                "windows": residual.windows,
                "played_in_full": residual.in_full,
                "mean_pct": residual.mean_pct,
                "max_pct": residual.most_pct,
                "beyond_2_pct": residual.beyond,
            }
        return {
            "name": name,
            "entitlement": one.entitlement,
            "virtual": one.virtual,
            "smt": one.smt,
            "memory_bytes": one.memory_bytes,
            "conversion": off,
            "bursts": self._bursts(name),
        }

    def _bursts(self, name: str) -> dict[str, object] | None:
        """Recorded bursts of a partition; none where no switches were recorded."""
        found = self.bursts.get(name)
        if found is None:
            return None
        counted = found.switched
        return {
            "instructions": found.instructions,
            "core_us": counted.core_us,
            "core_us_by_window": list(counted.windows_us),
            "per_s": counted.per_s,
            "per_s_least": counted.least_per_s,
            "per_s_most": counted.most_per_s,
            "told_by": counted.told_by,
        }

    @property
    def is_one_file(self) -> bool:
        """Whether it is a layout as listed, which names no file beside it."""
        return self.facts.of_cells and not self.files

    def save_file(self, path: Path) -> None:
        """Write the scenario alone, as a whole or not at all; a file that is there is kept."""
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

    def save(self, folder: Path, force: bool = False) -> None:
        """Write the folder as a whole or not at all; one that is there is kept unless `force`, and
        then only if it holds nothing but such a scenario.
        """
        files = {SCENARIO_FILE: self.text.encode(), **self.files}
        write_folder(folder, files, _is_ours if force else None)


def write_files(folder: Path, text: str, files: Mapping[str, bytes]) -> None:
    """A scenario and the files it names."""
    (folder / SCENARIO_FILE).write_text(text, encoding="utf-8")
    for name, content in files.items():
        (folder / name).write_bytes(content)


def loaded(text: str, folder: Path, files: Sequence[str], name: str = SCENARIO_FILE) -> Scenario:
    """The scenario, or one message why what was read of `files` makes none."""
    try:
        return Scenario.from_toml(text, name, folder)
    except InputError as error:
        raise ListingError(
            f"no scenario can be made of it: {error.problem}",
            there=error.there,
            where=_origin(text, error.where) or Where(listed(files, 4)),
            next_step=error.next_step,
        ) from error


def _origin(text: str, where: Where | None) -> Where | None:
    """What a line of the scenario was made of: its comment says it."""
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


def _is_ours(folder: Path) -> bool:
    """Whether a folder holds a scenario of the same kind and nothing else."""
    if not folder.is_dir() or folder.is_symlink():
        return False
    names = {entry.name for entry in folder.iterdir()}
    return names <= {SCENARIO_FILE, "demand.parquet", "machine.toml"}


def _warning(notice: Notice) -> dict[str, object]:
    where = notice.where
    return {
        "file": where.file if where else None,
        "line": where.line if where else None,
        "text": notice.text,
    }
