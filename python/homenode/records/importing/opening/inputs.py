"""What is given to be imported, as readers see it: single files and trees of small files, wherever
they lie, in a folder or in an archive.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO, Protocol

from homenode.errors import Where
from homenode.records.importing.opening.contents import Content, beginning
from homenode.records.importing.opening.sources import ListingError

HEAD_BYTES = 65_536
"""How much of a file its format is recognised by."""


class Input(Protocol):
    """One file, uncompressed."""

    @property
    def file(self) -> str:
        """Its name in messages; `archive.tar.gz:member` of one in an archive."""
        ...

    @property
    def name(self) -> str:
        """Its name without folder and without the suffix of its compression."""
        ...

    @property
    def head(self) -> bytes:
        """Its first `HEAD_BYTES`."""
        ...

    def open(self) -> BinaryIO:
        """Its bytes, from the first on; the caller closes it."""
        ...

    def read(self, most: int) -> bytes:
        """All of it; `ListingError` if it is longer than `most`."""
        ...

    def at(self, line: int | None = None) -> Where:
        """A line of it."""
        ...


class GivenInput:
    """An `Input` of some content."""

    def __init__(self, file: str, name: str, content: Content) -> None:
        self.file, self.name = file, name
        self._content = content
        self.head = beginning(content, HEAD_BYTES)

    def open(self) -> BinaryIO:
        """See `Input.open`."""
        return self._content.open()

    def read(self, most: int) -> bytes:
        """See `Input.read`."""
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
        """See `Input.at`."""
        return Where(self.file, line)


class Tree(Protocol):
    """The files of a root folder, as a dump of `/proc` and `/sys`."""

    @property
    def file(self) -> str:
        """Its name in messages."""
        ...

    @property
    def files(self) -> Mapping[str, bytes]:
        """Contents by path below the root, such as `sys/devices/system/cpu/online`. A symbolic link
        stands as the content of what it points to within the tree.
        """
        ...

    @property
    def folders(self) -> frozenset[str]:
        """All folders, by path below the root."""
        ...

    def at(self, path: str, line: int | None = None) -> Where:
        """A line of one of its files."""
        ...
