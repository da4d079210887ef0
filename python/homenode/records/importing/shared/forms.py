"""What a format is: it recognises files or trees, and adds what they say to the facts."""

from __future__ import annotations

from typing import Protocol

from homenode.records.importing.facts import Facts
from homenode.records.importing.opening.contents import Input
from homenode.records.importing.opening.sources import source_of
from homenode.records.importing.opening.trees import Tree


class FileFormat(Protocol):
    """A format of single files."""

    name: str
    """As in SUPPORT.md."""

    def recognises(self, head: bytes, name: str) -> bool:
        """Whether a file with this beginning and this name is one."""
        ...

    def read(self, source: Input, facts: Facts) -> None:
        """Add what it says to `facts`, with a `Took` entry; what is damaged is left out, counted
        and named. `ListingError` if nothing of it is sound.
        """
        ...


class TreeFormat(Protocol):
    """A format of which a whole folder or archive is one recording."""

    name: str

    def recognises(self, tree: Tree) -> bool:
        """Whether a tree is one."""
        ...

    def read(self, tree: Tree, facts: Facts) -> None:
        """See `FileFormat.read`."""
        ...


def text_of(source: Input, most: int, facts: Facts) -> str:
    """All of a file as text, in whatever encoding it was saved; a notice says if it is an old one.

    `ListingError` if it is longer than `most` bytes.
    """
    decoded = source_of(source.file, source.read(most))
    facts.notices.extend(decoded.notices)
    return decoded.text
