"""Bytes of a file, wherever they lie, on disk, in an archive, compressed; and the file of them that
readers are given.
"""

from __future__ import annotations

import io
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from homenode.errors import Where
from homenode.records.importing.opening.archives import Readable
from homenode.records.importing.opening.bounds import Limits, Meter
from homenode.records.importing.opening.sources import ListingError
from homenode.records.importing.opening.streams import Note, inflated

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_PIECE = 1 << 18
HEAD_BYTES = 65_536
"""How much of a file its format is recognised by."""


class Content(Protocol):
    """Bytes that can be read from the first on, again and again."""

    def open(self) -> BinaryIO:
        """A stream of them; the caller closes it."""
        ...


@dataclass(frozen=True)
class OnDisk:
    """A file of a file system."""

    path: Path

    def open(self) -> BinaryIO:
        """See `Content`."""
        try:
            return self.path.open("rb")
        except (OSError, ValueError) as failure:
            reason = getattr(failure, "strerror", None) or str(failure)
            step = "name a file you may read"
            where = Where(str(self.path))
            raise ListingError(
                f"it cannot be read: {reason}", where=where, next_step=step
            ) from failure


@dataclass(frozen=True)
class InMemory:
    """Bytes that are there."""

    data: bytes

    def open(self) -> BinaryIO:
        """See `Content`."""
        return io.BytesIO(self.data)


@dataclass(frozen=True)
class Inflated:
    """What a compressed file unpacks to; unpacked anew each time it is opened."""

    packed: Content
    kind: str
    file: str
    limits: Limits
    note: Note

    def open(self) -> BinaryIO:
        """See `Content`."""
        return inflated(self.packed.open(), self.kind, self.file, self.limits, self.note)


@dataclass(frozen=True)
class _Spooled:
    """A part of the store's file."""

    descriptor: int
    start: int
    length: int

    def open(self) -> BinaryIO:
        """See `Content`."""
        return cast(BinaryIO, io.BufferedReader(_Part(self), _PIECE))


class _Part(io.RawIOBase):
    """A part of a file as a file of its own."""

    def __init__(self, of: _Spooled) -> None:
        super().__init__()
        self._of, self._at = of, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._of.length}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        into = memoryview(buffer).cast("B")
        count = max(min(len(into), self._of.length - self._at), 0)
        data = os.pread(self._of.descriptor, count, self._of.start + self._at)
        into[: len(data)] = data
        self._at += len(data)
        return len(data)


@dataclass
class Store:
    """Members of archives: small ones in memory, others in one file that has no name, so that
    nothing is written where a member's name leads. All of it is gone when the store is closed.
    """

    limits: Limits
    _file: BinaryIO | None = field(default=None, init=False)
    _end: int = field(default=0, init=False)
    _in_memory: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._total = Meter.of_members("", self.limits)

    def keep(self, stream: Readable, meter: Meter) -> Content:
        """All of a stream; `meter` counts it."""
        self._total.file = meter.file
        first = self._counted(stream, self.limits.small + 1, meter)
        whole = len(first) <= self.limits.small
        if whole and self._in_memory + len(first) <= self.limits.in_memory:
            self._in_memory += len(first)
            return InMemory(first)
        start = self._end
        self._append(first)
        while piece := self._counted(stream, _PIECE, meter):
            self._append(piece)
        file = self._there()
        file.flush()
        return _Spooled(file.fileno(), start, self._end - start)

    def close(self) -> None:
        """Forget everything."""
        if self._file is not None:
            self._file.close()

    def _counted(self, stream: Readable, count: int, meter: Meter) -> bytes:
        data = stream.read(count)
        meter.add(0, len(data))
        self._total.add(0, len(data))
        return data

    def _there(self) -> BinaryIO:
        if self._file is None:
            self._file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - closed above
        return self._file

    def _append(self, data: bytes) -> None:
        try:
            self._there().write(data)
        except OSError as failure:
            raise ListingError(
                f"there is no room to unpack archives in {tempfile.gettempdir()}",
                there=failure.strerror,
                next_step="set TMPDIR to a folder with room, or unpack the archive yourself",
            ) from failure
        self._end += len(data)


def beginning(content: Content, most: int) -> bytes:
    """The first bytes."""
    with content.open() as stream:
        try:
            return stream.read(most)
        except OSError as failure:
            reason = failure.strerror or str(failure)
            step = "leave it out"
            raise ListingError(f"it cannot be read: {reason}", next_step=step) from failure


class Input:
    """One file that is to be imported, uncompressed."""

    def __init__(self, file: str, name: str, content: Content) -> None:
        """`ListingError` if it cannot be read."""
        self.file = file
        """Its name in messages; `archive.tar.gz:member` of one in an archive."""
        self.name = name
        """Its name without folder and without the suffix of its compression."""
        self.head = beginning(content, HEAD_BYTES)
        """Its first `HEAD_BYTES`."""
        self._content = content

    def open(self) -> BinaryIO:
        """Its bytes, from the first on; the caller closes it."""
        return self._content.open()

    def read(self, most: int) -> bytes:
        """All of it; `ListingError` if it is longer than `most`."""
        data = self.head
        if len(data) == HEAD_BYTES:
            data = beginning(self._content, most + 1)
        if len(data) > most:
            step = "is it the right file? No recording of this format is that long"
            raise ListingError(
                f"it is longer than {most >> 20} MiB", where=self.at(), next_step=step
            )
        return data

    def at(self, line: int | None = None) -> Where:
        """A line of it."""
        return Where(self.file, line)
