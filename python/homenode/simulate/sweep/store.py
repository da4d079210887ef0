"""What of a sweep is committed: each point once, by whoever worked it out, and still there after
any process was killed.

A batch of results is one file in `committed/`, written aside, flushed to the disk and renamed. Who
drives the sweep holds a lock, which the kernel lets go of when the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import gzip
import os
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Self

from homenode.errors import StoreError
from homenode.simulate.sweep.order import Done, number_in, record_in
from homenode.staging import held_alone

_FOLDER = "committed"
_SUFFIX = ".jsonl.gz"
_FRESH = ".new"
_OPEN = 4
"""Batches that are held in memory while all are read in order."""
_NONE = -1


class Store:
    """The folder of a sweep while it is worked off; a context that holds its lock."""

    what = "points"

    def __init__(self, folder: Path, points: int) -> None:
        self.folder = folder
        self._committed = folder / _FOLDER
        self._batches: list[str] = []
        # Which batch a point is in: four bytes a point, whatever its results weigh.
        self._where = array("i", [_NONE]) * points
        self.count = 0
        self._lock: IO[bytes] | None = None
        self._read = lru_cache(_OPEN)(self._lines)

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = held_alone(self.folder / "lock")
        except OSError as error:
            raise _cannot_write(self.folder, error) from error
        if self._lock is None:
            raise StoreError(
                f"{self.folder} is being worked on by another process",
                next_step="wait until it has ended, or stop it: what it has committed stays",
            )
        self._committed.mkdir(exist_ok=True)
        for path in sorted(self._committed.iterdir()):
            if path.name.endswith(_SUFFIX):
                self._take(path.name)
            else:
                path.unlink()  # was being written when its writer died
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            if not self.count:
                self._leave_nothing()
            self._lock.close()

    def _leave_nothing(self) -> None:
        """Take an empty folder away: nothing was committed, so there is nothing to go on from."""
        with contextlib.suppress(OSError):  # there is something in it after all
            self._committed.rmdir()
            (self.folder / "lock").unlink()
            self.folder.rmdir()

    def __len__(self) -> int:
        """Points of the sweep."""
        return len(self._where)

    def has(self, number: int) -> bool:
        """Whether a point is committed."""
        return self._where[number] != _NONE

    def missing(self) -> Iterator[int]:
        """Points that are not, the first first."""
        return (number for number in range(len(self._where)) if not self.has(number))

    def commit(self, results: Sequence[Done]) -> None:
        """Keep results. A second one of a point must be the same to the byte.

        Raises `StoreError` where it is not, and where they cannot be written.
        """
        fresh = []
        for one in results:
            if not self.has(one.number):
                fresh.append(one)
            elif (before := self.line(one.number)) != one.line:
                raise StoreError(
                    f"two results of point {one.number} differ: {_key(before)} is committed, "
                    f"{one.key} came",
                    there="the same spec, seed and engine must give the same bytes",
                    next_step=f"keep {self.folder} and report it: one of the workers is not to be"
                    " relied on",
                )
        if fresh:
            name = f"{fresh[0].number:08d}{_SUFFIX}"
            try:
                write_safely(self._committed / name, _packed(fresh))
            except OSError as error:
                raise _cannot_write(self.folder, error) from error
            self._note(name, [one.number for one in fresh])

    def line(self, number: int) -> bytes:
        """The record of a committed point."""
        return self._read(self._batches[self._where[number]])[number]

    def records(self) -> Iterator[dict[str, Any]]:
        """All of them in the order of their numbers."""
        for number in range(len(self._where)):
            yield record_in(self.line(number))

    def forget(self) -> None:
        """All is in the tables of the sweep now."""
        for path in list(self._committed.iterdir()):
            path.unlink()
        self._committed.rmdir()

    def _take(self, name: str) -> None:
        """Note what is in a batch. One that cannot be read is worked out anew."""
        try:
            numbers = list(self._lines(name))
        except (OSError, EOFError, ValueError, KeyError):
            (self._committed / name).unlink()
        else:
            self._note(name, numbers)

    def _note(self, name: str, numbers: Sequence[int]) -> None:
        self._batches.append(name)
        for number in numbers:
            self.count += not self.has(number)
            self._where[number] = len(self._batches) - 1

    def _lines(self, name: str) -> dict[int, bytes]:
        with gzip.open(self._committed / name) as file:
            return {number_in(line): line for line in file}


def write_safely(path: Path, content: bytes) -> None:
    """Write a file that is there as a whole or not at all, whatever dies. Raises `OSError`."""
    fresh = path.with_name(path.name + _FRESH)
    fresh.write_bytes(content)
    name_safely(fresh, path)


def name_safely(fresh: Path, path: Path) -> None:
    """Give a file its name once it is on the disk, and bring the name there too."""
    _to_disk(fresh)
    fresh.replace(path)
    _to_disk(path.parent)


def _to_disk(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _packed(results: Sequence[Done]) -> bytes:
    return gzip.compress(b"".join(one.line for one in results), 3, mtime=0)


def _key(line: bytes) -> str:
    return str(record_in(line)["key"])


def _cannot_write(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"cannot write results into {folder}: {error.strerror or error}",
        next_step="free some space, or name another folder with --out; what is committed stays",
    )
