"""Members of tar and zip archives, in their order. Nothing is unpacked to where a name leads.

The tar reader is homenode's own: bounded in what a header may make it read, and what comes before
a damage is kept. It knows ustar, GNU and pax names; sparse members are left out.
"""

from __future__ import annotations

import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, Literal, Protocol

from homenode.records.importing.opening.sources import ListingError
from homenode.records.importing.opening.streams import Note

_BLOCK = 512
_LONGEST_HEADER = 1 << 16
_LONGEST_LINK = 4096
_PIECE = 1 << 18
_MOST_BLANK_BLOCKS = 2
_ZIP_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    LookupError,
    RuntimeError,
)
_LONGEST_REASON = 80

Kind = Literal["file", "folder", "link", "hard link", "other"]


@dataclass(frozen=True)
class Member:
    """One of an archive."""

    name: str
    kind: Kind
    target: str = ""
    """What a link points to; why another thing is not read."""


class Readable(Protocol):
    """The little of a stream that is asked of it."""

    def read(self, count: int, /) -> bytes:
        """So many bytes, fewer at the end."""
        ...


Each = Callable[[Member, Readable | None], None]
"""Is given every member, files with a stream of their bytes, to be read before the next."""


def is_tar(head: bytes) -> bool:
    """Whether this is the beginning of a tar archive."""
    return len(head) >= _BLOCK and any(head[:_BLOCK]) and _sound(head[:_BLOCK])


def is_zip(head: bytes) -> bool:
    """Whether this is the beginning of a zip archive."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def tar_members(stream: Readable, each: Each, note: Note) -> None:
    """Go through a tar archive; `note` is told of damage."""
    changed: dict[str, str] = {}
    blank = 0
    while block := _exactly(stream, _BLOCK):
        if len(block) < _BLOCK:
            note("it ends early; what is there of it is kept")
            return
        if not any(block):
            blank += 1
            if blank == _MOST_BLANK_BLOCKS:
                return
            continue
        size = _number(block[124:136]) if _sound(block) else None
        if size is None:
            note("a member's header is damaged; what comes before is kept")
            return
        size = int(changed.get("size", size))
        part = _Bounded(stream, size)
        kind = block[156:157]
        if kind in b"xgLK":
            if not _change(kind, part, changed):
                note("a member's name is too long; what comes before is kept")
                return
        else:
            each(*_member(block, kind, changed, part))
            changed = {}
        if not part.skip(-size % _BLOCK):
            note("it ends early; what is there of it is kept")
            return


def _member(
    block: bytes, kind: bytes, changed: dict[str, str], part: Readable
) -> tuple[Member, Readable | None]:
    name, target = _text(block[:100]), changed.get("linkpath", _text(block[157:257]))
    if block[257:262] == b"ustar" and block[345] and block[263:265] == b"00":
        name = f"{_text(block[345:500])}/{name}"
    name = changed.get("path", name)
    if kind == b"5" or (kind in b"0\0" and name.endswith("/")):
        return Member(name, "folder"), None
    if "sparse" in changed or kind == b"S":
        return Member(name, "other", "a sparse member of an archive is not read"), None
    if kind in b"0\x007":
        return Member(name, "file"), part
    if kind in b"12":
        return Member(name, "link" if kind == b"2" else "hard link", target), None
    return Member(name, "other", "it is no regular file"), None


def _change(kind: bytes, part: _Bounded, changed: dict[str, str]) -> bool:
    """Take what a header says of the next member; whether it is short enough."""
    if part.left > _LONGEST_HEADER:
        return False
    data = part.read(_LONGEST_HEADER)
    if kind in b"LK":
        changed["path" if kind == b"L" else "linkpath"] = _text(data)
    elif kind == b"x":
        changed.update(_pax(data))
    return True


def _pax(data: bytes) -> dict[str, str]:
    """Records `length key=value` that matter."""
    found: dict[str, str] = {}
    while data:
        length, space, rest = data.partition(b" ")
        if not space or not length.isdigit() or len(length) > len("65536"):
            break
        record, data = rest[: max(int(length) - len(length) - 2, 0)], data[int(length) :]
        key, _, value = record.partition(b"=")
        text = _text(value)
        if key.startswith(b"GNU.sparse"):
            found["sparse"] = "yes"
        elif key in (b"path", b"linkpath"):
            found[key.decode()] = text
        elif key == b"size" and text.isascii() and text.isdigit() and len(text) < 20:
            found["size"] = text
        if not int(length):
            break
    return found


def _sound(block: bytes) -> bool:
    """Whether the checksum of a header is right, counted as bytes with or without a sign."""
    told = _number(block[148:156])
    rest = block[:148] + b" " * 8 + block[156:]
    total = sum(rest)
    return told is not None and told in (total, total - 256 * sum(byte > 127 for byte in rest))


def _number(field: bytes) -> int | None:
    """An octal number, or a binary one where the first bit is set."""
    if field[0] & 0x80:
        return int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
    digits = field.split(b"\0", 1)[0].strip()
    if not all(digit in b"01234567" for digit in digits):
        return None
    return int(digits or b"0", 8)


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "replace")


def _exactly(stream: Readable, count: int) -> bytes:
    """So many bytes, fewer at the end."""
    data = stream.read(count) if count else b""
    while data and len(data) < count and (more := stream.read(count - len(data))):
        data += more
    return data


class _Bounded:
    """The next bytes of a stream as a stream of their own."""

    def __init__(self, stream: Readable, length: int) -> None:
        self._stream, self.left = stream, length
        self._cut = False

    def read(self, count: int, /) -> bytes:
        wanted = min(count, self.left)
        data = _exactly(self._stream, wanted)
        self._cut = len(data) < wanted
        self.left = 0 if self._cut else self.left - wanted
        return data

    def skip(self, beyond: int) -> bool:
        """Read what is left and some bytes beyond; whether all of it was there."""
        while self.left:
            self.read(_PIECE)
        return not self._cut and len(_exactly(self._stream, beyond)) == beyond


def zip_members(file: BinaryIO, most: int, each: Each, note: Note) -> None:
    """Go through a zip archive, which must be seekable; `most` members are gone through."""
    try:
        archive = zipfile.ZipFile(file)
    except _ZIP_DAMAGE as damage:
        raise ListingError(
            f"it is no sound zip archive ({_reason(damage)})",
            next_step="an archive that is cut off has lost its list of members; copy it anew",
        ) from damage
    with archive:
        for info in archive.infolist()[: most + 1]:
            _zip_member(archive, info, each, note)


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, each: Each, note: Note) -> None:
    mode = info.external_attr >> 16
    if info.filename.endswith("/"):
        each(Member(info.filename, "folder"), None)
    elif info.flag_bits & 1:
        each(Member(info.filename, "other", "it is encrypted"), None)
    else:
        try:
            with archive.open(info) as stream:
                part = _Sound(stream, lambda text: note(f"{_plain(info.filename)}: {text}"))
                if stat.S_ISLNK(mode):
                    target = part.read(_LONGEST_LINK).decode("utf-8", "replace")
                    each(Member(info.filename, "link", target), None)
                else:
                    each(Member(info.filename, "file"), part)
        except _ZIP_DAMAGE as damage:
            each(Member(info.filename, "other", f"it cannot be unpacked: {_reason(damage)}"), None)


def _plain(text: str) -> str:
    return "".join(one if one.isprintable() else "?" for one in text)


def _reason(damage: Exception) -> str:
    """What `zipfile` says, without what it quotes of the file at length."""
    text = _plain(str(damage))
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}..."


class _Sound:
    """A stream that ends where it is damaged."""

    def __init__(self, stream: Readable, note: Note) -> None:
        self._stream, self._note = stream, note
        self._over = False

    def read(self, count: int, /) -> bytes:
        data = b""
        while not self._over and len(data) < count:
            try:
                piece = self._stream.read(min(count - len(data), _PIECE))
            except _ZIP_DAMAGE as damage:
                self._note(f"it is damaged ({_reason(damage)}); what comes before is kept")
                piece = b""
            data += piece
            self._over = not piece
        return data
