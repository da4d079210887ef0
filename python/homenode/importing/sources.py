"""The texts that are imported, and notices about them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from homenode.document.read import read_bytes
from homenode.errors import InputError, Where

_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_OLD_ENCODING = "latin-1"


class ListingError(InputError):
    """A file says what no scenario can be made of."""


@dataclass(frozen=True)
class Notice:
    """What was understood with a grain of salt, or assumed."""

    text: str
    where: Where | None = None

    def __str__(self) -> str:
        """`file:line: text`"""
        return self.text if self.where is None else f"{self.where}: {self.text}"


@dataclass(frozen=True)
class Source:
    """A text someone copied from a server."""

    file: str
    text: str
    notices: tuple[Notice, ...] = ()

    def at(self, line: int | None) -> Where:
        """A line of it."""
        return Where(self.file, line)


def read_source(path: Path) -> Source:
    """The text of a file, in whatever encoding it was saved."""
    too_long = "give the output of vparstatus and parstatus only"
    raw = read_bytes(path, ListingError, too_long, suffix=None)
    return _decoded(str(path), raw)


def _decoded(file: str, raw: bytes) -> Source:
    encoding = next((name for mark, name in _MARKS.items() if raw.startswith(mark)), "utf-8")
    try:
        return Source(file, raw.decode(encoding))
    except UnicodeDecodeError:
        told = Notice("the text is not UTF-8; it is read as Latin-1", Where(file))
        return Source(file, raw.decode(_OLD_ENCODING), (told,))
