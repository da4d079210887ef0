"""The texts that are imported, notices about them, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass

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
class Left:
    """A file that was not taken, and why."""

    file: str
    why: str
    line: int | None = None


@dataclass(frozen=True)
class Source:
    """A text someone copied from a server."""

    file: str
    text: str
    notices: tuple[Notice, ...] = ()

    def at(self, line: int | None) -> Where:
        """A line of it."""
        return Where(self.file, line)


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
