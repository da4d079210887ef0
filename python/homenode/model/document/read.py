"""Reading a TOML file into a `Document`: its data, and where in the text each part of it stands."""

from __future__ import annotations

import errno
import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from homenode.errors import InputError, NotFoundError, Where, closest, listed
from homenode.model.document.positions import Path, Positions, find_positions
from homenode.model.shipped import shipped_text

MOST_BYTES = 4 * 1024 * 1024
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_QUOTE_LENGTH = 60
_ALIKE = 0.6
"""How alike a file must be called to be the one that was meant [0..1]."""


TomlTable = dict[str, Any]
"""A table as TOML has it: anything may stand there until a model or a reader has checked it."""


@dataclass(frozen=True)
class Document:
    """A TOML text that has been read."""

    file: str
    text: str
    data: TomlTable

    @functools.cached_property
    def positions(self) -> Positions:
        """Where each part stands; only messages ask."""
        return find_positions(self.text)

    def where(self, path: Path, *, key: bool = False) -> Where:
        """Place of the value at a path (of its key if `key`), or of the nearest table around it."""
        for length in range(len(path), 0, -1):
            spot = self.positions.spots.get(path[:length])
            if spot is not None:
                offset = spot.key if key or length < len(path) or spot.value is None else spot.value
                return Where(self.file, *self.positions.line_column(offset))
        return Where(self.file, 1, 1)

    def written(self, path: Path) -> str:
        """The value at a path as it is written in the text, cut if it is long."""
        spot = self.positions.spots.get(path)
        if spot is None or spot.value is None:
            return ""
        return cut(self.text[spot.value : spot.end])

    def value(self, path: Path) -> Any:
        """The data at a path; None where there is none."""
        here: Any = self.data
        for part in path:
            try:
                here = here[part]
            except (KeyError, IndexError, TypeError):
                return None
        return here


def cut(text: str) -> str:
    """A text in one line, short enough for a message."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTE_LENGTH else flat[: _QUOTE_LENGTH - 3] + "..."


def read_text(path: FilePath, error: type[InputError]) -> str:
    """The text of a file someone wrote, or one message why it cannot be had."""
    raw = read_bytes(path, error, "no file people write is that long; is it the right one?")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        line = raw.count(b"\n", 0, failure.start) + 1
        raise error(
            "the text is not UTF-8",
            asked=f"byte 0x{raw[failure.start]:02x} at offset {failure.start}",
            where=Where(str(path), line),
            next_step="save the file as UTF-8",
        ) from None


def read_bytes(
    path: FilePath, error: type[InputError], too_long: str, *, suffix: str | None = ".toml"
) -> bytes:
    """What is in a file; `too_long` says what to do with one that is, `suffix` what the files end
    in among which the nearest name is looked for (None: all).
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise _not_there(path, suffix) from None
    except (OSError, ValueError) as failure:
        step = "name a file you may read"
        raise error(_unreadable(path, failure), next_step=step) from failure
    if len(raw) > MOST_BYTES:
        raise error(
            f"{path} is larger than {MOST_BYTES // 2**20} MiB",
            next_step=too_long,
        )
    return raw


def need_file(path: FilePath, next_step: str) -> None:
    """Raises `NotFoundError` where there is no file, and for a name that none can have."""
    try:
        if path.is_file():
            return
    except (OSError, ValueError) as failure:
        raise NotFoundError(_unreadable(path, failure), next_step=next_step) from failure
    raise NotFoundError(f"there is no file {path}", next_step=next_step)


def _unreadable(path: FilePath, failure: Exception) -> str:
    """Why a file cannot be read; a name that no file can have is cut."""
    if getattr(failure, "errno", None) == errno.ENAMETOOLONG:
        return f"{cut(str(path))} is too long for the name of a file"
    return f"{path} cannot be read: {getattr(failure, 'strerror', None) or failure}"


def _not_there(path: FilePath, suffix: str | None) -> NotFoundError:
    """The message for a missing file, with the nearest of its folder."""
    try:
        there = path.parent.iterdir()
        beside = [entry.name for entry in there if suffix is None or entry.suffix == suffix]
    except (OSError, ValueError):
        return NotFoundError(
            f"there is no file {path}", next_step=f"the folder {path.parent} is not there either"
        )
    if not beside:
        kind = "no file" if suffix is None else f"no {suffix} file"
        return NotFoundError(f"there is no file {path}; its folder holds {kind}")
    # What all names end in makes none of them alike.
    stems = {FilePath(name).stem: name for name in sorted(beside, reverse=True)}
    near = closest(path.stem, stems, _ALIKE)
    if near is not None:
        return NotFoundError(f"there is no file {path}; did you mean {stems[near]}?")
    return NotFoundError(f"there is no file {path}; its folder holds {listed(sorted(beside), 8)}")


def shipped_document(kind: str, name: str, error: type[InputError]) -> Document:
    """A file of the package as a document that messages call by kind and name, such as
    `machines/ibm-z14.toml`; `error` is raised for what is wrong with it.
    """
    return parse_document(shipped_text(kind, name), f"{kind}/{name}.toml", error)


def parse_document(text: str, file: str, error: type[InputError]) -> Document:
    """Parse a TOML text; `file` is its name in messages."""
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    try:
        text.encode()
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as failure:
        raise _syntax_error(str(failure), text, file, error) from None
    except UnicodeEncodeError as failure:
        raise error(
            "the text holds half a character", where=Where(file), next_step="save it as UTF-8"
        ) from failure
    except RecursionError:
        raise error(
            "the values are nested too deeply",
            where=Where(file),
            next_step="no homenode file needs more than five levels",
        ) from None
    except ValueError as failure:
        raise error(
            f"not a TOML value: {failure}", where=Where(file), next_step="write shorter numbers"
        ) from None
    return Document(file, text, data)


def read_document(path: FilePath, error: type[InputError]) -> Document:
    """Read and parse a TOML file."""
    return parse_document(read_text(path, error), str(path), error)


def _syntax_error(message: str, text: str, file: str, error: type[InputError]) -> InputError:
    """The parser's complaint with its place taken out of the sentence and the line quoted."""
    found = _AT.search(message)
    lines = text.split("\n")
    if found and found[1]:
        line, column = int(found[1]), int(found[2])
    else:
        line, column = len(lines), len(lines[-1]) + 1
    quoted = cut(lines[line - 1]) if line <= len(lines) else ""
    sentence = _AT.sub("", message)
    return error(
        f"this is not valid TOML, {sentence[:1].lower()}{sentence[1:]}",
        asked=f"`{quoted}`" if quoted else "end of the text",
        where=Where(file, line, column),
        next_step=(
            'text values stand in double quotes, as in memory = "40 GiB"; tables in brackets, as in'
            " [run]"
        ),
    )
