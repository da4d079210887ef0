"""Where in a TOML text each key and value stands.

The standard parser checks the text but tells no positions, so a text it has accepted is walked a
second time. Because the text is known to be valid TOML, the walk only has to find where keys and
values begin and end, never to judge them.
"""

from __future__ import annotations

import bisect
import functools
import re
import tomllib
from dataclasses import dataclass

Path = tuple[str | int, ...]
"""Keys and array indices from the top of the document to one value."""

_BLANK = re.compile(r"[ \t]*")
_BLANK_LINES = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_LITERAL = re.compile(r"'[^']*'")
_BASIC_BLOCK = re.compile(r'"""(?:[^\\]|\\.)*?"""{1,3}(?!")', re.DOTALL)
_LITERAL_BLOCK = re.compile(r"'''.*?'''{1,3}(?!')", re.DOTALL)
_PLAIN = re.compile(r"[^,\]}#\n]+")
_MOST_KEYS = 1_024
"""Dotted keys that are remembered."""


@dataclass(frozen=True)
class Spot:
    """Offsets of a key and of its value; a table opened by a header has no value text."""

    key: int
    value: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Positions:
    """Spots by path, and the beginnings of the lines to turn an offset into line and column."""

    spots: dict[Path, Spot]
    line_starts: list[int]

    def line_column(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        line = bisect.bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1


def find_positions(text: str) -> Positions:
    """Positions of everything in a text that `tomllib` accepts, its newlines being line feeds."""
    walk = _Walk(text)
    walk.document()
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    return Positions(walk.spots, starts)


@functools.lru_cache(_MOST_KEYS)
def split_key(text: str) -> tuple[str, ...] | None:
    """The parts of a dotted key as TOML spells it, or None if the text is no such key."""
    try:
        data: object = tomllib.loads(f"{text} = 0")
    except (ValueError, RecursionError):
        return None
    if "\n" in text:
        return None
    parts = []
    while isinstance(data, dict):
        if len(data) != 1:
            return None
        name, data = next(iter(data.items()))
        parts.append(name)
    return tuple(parts)


class _Walk:
    """One pass over the text, noting spots."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.spots: dict[Path, Spot] = {}
        self.arrays: dict[Path, int] = {}

    def document(self) -> None:
        """Headers and key/value lines until the end."""
        table: Path = ()
        self._skip(_BLANK_LINES)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BLANK_LINES)

    def _header(self) -> Path:
        double = self.text.startswith("[[", self.at)
        self.at += 2 if double else 1
        self._skip(_BLANK)
        begin = self.at
        keys = self._dotted_key()
        self._skip(_BLANK)
        self.at += 2 if double else 1
        path: Path = ()
        for key in keys[:-1]:
            path = self._latest((*path, key), begin)
        path = (*path, keys[-1])
        self.spots.setdefault(path, Spot(begin))
        if not double:
            return path
        self.arrays[path] = index = self.arrays.get(path, -1) + 1
        path = (*path, index)
        self.spots[path] = Spot(begin)
        return path

    def _latest(self, path: Path, begin: int) -> Path:
        """The path itself, or the last element if it is an array of tables."""
        self.spots.setdefault(path, Spot(begin))
        return (*path, self.arrays[path]) if path in self.arrays else path

    def _pair(self, table: Path) -> None:
        begin = self.at
        keys = self._dotted_key()
        self._skip(_BLANK)
        self.at += 1  # the equals sign
        self._skip(_BLANK)
        path = table
        for key in keys[:-1]:
            path = (*path, key)
            self.spots.setdefault(path, Spot(begin))
        self._value((*path, keys[-1]), begin)

    def _dotted_key(self) -> list[str]:
        keys = [self._simple_key()]
        while True:
            self._skip(_BLANK)
            if not self.text.startswith(".", self.at):
                return keys
            self.at += 1
            self._skip(_BLANK)
            keys.append(self._simple_key())

    def _simple_key(self) -> str:
        mark = self.text[self.at]
        if mark == '"':
            key: str = tomllib.loads(f"key = {self._take(_BASIC)}")["key"]
            return key
        if mark == "'":
            return self._take(_LITERAL)[1:-1]
        return self._take(_BARE_KEY)

    def _value(self, path: Path, key: int) -> None:
        begin = self.at
        mark = self.text[begin]
        if mark == "[":
            self._array(path)
        elif mark == "{":
            self._inline_table(path)
        else:
            self._scalar()
        self.spots[path] = Spot(key, begin, self.at)

    def _scalar(self) -> None:
        for opening, pattern in (
            ('"""', _BASIC_BLOCK),
            ("'''", _LITERAL_BLOCK),
            ('"', _BASIC),
            ("'", _LITERAL),
        ):
            if self.text.startswith(opening, self.at):
                self._take(pattern)
                return
        plain = self._take(_PLAIN)
        self.at -= len(plain) - len(
            plain.rstrip()
        )  # blanks before a comment are not part of the value

    def _array(self, path: Path) -> None:
        self.at += 1
        index = 0
        self._skip(_BLANK_LINES)
        while self.text[self.at] != "]":
            self._value((*path, index), self.at)
            index += 1
            self._skip(_BLANK_LINES)
            if self.text[self.at] == ",":
                self.at += 1
                self._skip(_BLANK_LINES)
        self.at += 1

    def _inline_table(self, path: Path) -> None:
        self.at += 1
        # Newlines inside an inline table are valid from TOML 1.1 on; skipping them costs nothing.
        self._skip(_BLANK_LINES)
        while self.text[self.at] != "}":
            self._pair(path)
            self._skip(_BLANK_LINES)
            if self.text[self.at] == ",":
                self.at += 1
                self._skip(_BLANK_LINES)
        self.at += 1

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:  # pragma: no cover - would mean the text is not valid TOML
            raise ValueError(f"no TOML at offset {self.at}")
        self.at = found.end()
        return found.group()
