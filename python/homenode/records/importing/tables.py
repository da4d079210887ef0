"""All sections of recordings kept as Parquet, for questions that no scenario answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, cast

from homenode.errors import listed
from homenode.records.exporting.staging import put
from homenode.records.importing.opening.bounds import Limits
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.gather import Gathered
from homenode.records.importing.opening.sources import ListingError
from homenode.records.importing.recognise import file_formats, recognise

_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_.+-]+")


class KeepsTables(Protocol):
    """A format whose sections can be kept; those that cannot have no such function."""

    name: str

    def write_tables(self, source: Input, folder: Path) -> list[Path]:
        """Write a Parquet file a section into an empty folder, in bounded memory."""
        ...


def write_tables(
    paths: Sequence[str | Path], folder: Path, *, limits: Limits | None = None, force: bool = False
) -> list[Path]:
    """Keep all sections of all recordings that have some, a folder each; the files written.

    The folder appears when all is written. Raises `ListingError` if no file has sections.
    """
    with Gathered(limits or Limits()) as gathered:
        gathered.add_all([Path(path) for path in paths])
        known = [(source, kind) for source in gathered.inputs if (kind := _keeper(source))]
        if not known:
            names = (one.name for one in file_formats() if hasattr(one, "write_tables"))
            raise ListingError(
                "none of the files has sections that can be kept as tables",
                there=f"those of {listed(names)} have",
            )

        def write(aside: Path) -> None:
            names = _names([source for source, _ in known])
            for (source, kind), name in zip(known, names, strict=True):
                place = aside / name
                place.mkdir(parents=True)
                kind.write_tables(source, place)

        return put(folder, write, force=force)


def _keeper(source: Input) -> KeepsTables | None:
    try:
        kind = recognise(source)
    except ListingError:
        return None
    return cast(KeepsTables, kind) if hasattr(kind, "write_tables") else None


def _names(known: Sequence[Input]) -> Iterator[str]:
    """A folder's name for each recording, that of its file as far as that is one."""
    taken: set[str] = set()
    for source in known:
        plain = _NOT_A_NAME.sub("-", source.name).strip(".-") or "recording"
        name, number = plain, 1
        while name in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name)
        yield name
