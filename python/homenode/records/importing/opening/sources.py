"""The texts that are imported, and notices about them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.errors import InputError, Where
from homenode.model.document.read import read_bytes

if TYPE_CHECKING:
    from homenode.records.importing.facts import Facts
    from homenode.records.importing.opening.inputs import Input

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
    return source_of(str(path), raw)


def source_of(file: str, raw: bytes) -> Source:
    """The text of these bytes."""
    encoding = next((name for mark, name in _MARKS.items() if raw.startswith(mark)), "utf-8")
    if encoding == "utf-16" and len(raw) % 2:
        raw = raw[:-1]
    try:
        return Source(file, raw.decode(encoding))
    except UnicodeDecodeError:
        told = Notice("the text is not UTF-8; it is read as Latin-1", Where(file))
        return Source(file, raw.decode(_OLD_ENCODING), (told,))


def head_text(head: bytes) -> str:
    """The beginning of a file as text; it may be cut within a character."""
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return head.decode(name, "ignore")
    try:
        return head.decode("utf-8")
    except UnicodeDecodeError as failure:
        whole = failure.start >= len(head) - 3 and failure.reason == "unexpected end of data"
        return head.decode("utf-8", "ignore") if whole else head.decode(_OLD_ENCODING)


def text_of(source: Input, most: int, facts: Facts) -> str:
    """All of a file as text, in whatever encoding it was saved; a notice says if it is an old one.

    `ListingError` if it is longer than `most` bytes.
    """
    decoded = source_of(source.file, source.read(most))
    facts.notices.extend(decoded.notices)
    return decoded.text
