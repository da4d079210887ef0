"""Compressed bytes to plain ones, piece by piece, bounded, and with what is sound of damaged ones.

A compressed file that ends early, or is damaged further on, gives what came before; `note` is told.
"""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from homenode.records.importing.opening.bounds import MIB, Limits, Meter

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Note = Callable[[str], None]
"""Is told, in words, what is wrong with a file."""

_MAGIC = {
    b"\x1f\x8b": "gz",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zst",
}
SUFFIXES = {
    "gz": (".gz", ".tgz"),
    "bz2": (".bz2", ".tbz2", ".tbz"),
    "xz": (".xz", ".txz"),
    "zst": (".zst", ".tzst"),
}
"""What compressed files are called, by how they are compressed."""
_LONGEST_MAGIC = max(map(len, _MAGIC))
_PIECE = 1 << 16
_OUT = 1 << 18
_ZSTD_PIECE = 1 << 14
_LZMA_MEMORY = 512 * MIB
_DAMAGE = (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError)


def compression(head: bytes) -> str | None:
    """How a file with this beginning is compressed: gz, bz2, xz, zst."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


def inflated(raw: BinaryIO, kind: str, file: str, limits: Limits, note: Note) -> BinaryIO:
    """What a compressed file unpacks to, as a stream; closes `raw` with it."""
    meter = Meter(file, limits)
    plain: io.RawIOBase
    if kind == "zst":
        plain = _Zstandard(raw, meter, note)
    else:
        plain = _Inflating(raw, _NEW[kind], meter, note)
    return cast(BinaryIO, io.BufferedReader(plain, _OUT))


class _Decompressor(Protocol):
    """What `bz2` and `lzma` offer."""

    eof: bool
    needs_input: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    """The same of `zlib`."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


_NEW: dict[str, Callable[[], _Decompressor]] = {
    "gz": cast("Callable[[], _Decompressor]", _Gzip),
    "bz2": cast("Callable[[], _Decompressor]", bz2.BZ2Decompressor),
    "xz": cast("Callable[[], _Decompressor]", lambda: lzma.LZMADecompressor(memlimit=_LZMA_MEMORY)),
}


class _Plain(io.RawIOBase, ABC):
    """A readable stream made of pieces."""

    def __init__(self, raw: BinaryIO, meter: Meter, note: Note) -> None:
        super().__init__()
        self._raw, self._meter, self._note = raw, meter, note
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        if not self._ready:
            self._ready = memoryview(self._piece())
        into = memoryview(buffer).cast("B")
        count = min(len(into), len(self._ready))
        into[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()

    @abstractmethod
    def _piece(self) -> bytes:
        """The next bytes; empty at the end."""


class _Inflating(_Plain):
    """Any number of compressed streams, one after the other, as the tools write and read them."""

    def __init__(
        self, raw: BinaryIO, new: Callable[[], _Decompressor], meter: Meter, note: Note
    ) -> None:
        super().__init__(raw, meter, note)
        self._new = new
        self._part: _Decompressor | None = None
        self._rest = b""
        self._over = False

    def _piece(self) -> bytes:
        piece = b""
        while not piece and not self._over:
            try:
                piece = self._step()
            except _DAMAGE as damage:
                kept = "what comes before is kept" if self._meter.unpacked else "nothing is left"
                self._note(f"it is damaged ({damage}); {kept}")
                self._over = True
        self._meter.add(0, len(piece))
        return piece

    def _step(self) -> bytes:
        """Decompress a piece, which may come to nothing yet."""
        part = self._part
        if part is None or part.eof:
            self._begin(part)
            return b""
        data = b""
        if part.needs_input:
            data, self._rest = self._rest or self._read(), b""
            if not data:
                self._note("it ends early; what is there of it is kept")
                self._over = True
                return b""
        return part.decompress(data, _OUT)

    def _begin(self, ended: _Decompressor | None) -> None:
        """Begin the next compressed stream, if there is one."""
        rest = b"" if ended is None else ended.unused_data.lstrip(b"\0")
        while len(rest) < _LONGEST_MAGIC and (data := self._read()):
            # Tapes, and some tools, fill up with zeros behind the end.
            rest = rest + data if ended is None else (rest + data).lstrip(b"\0")
        self._over = not rest
        if rest and ended is not None and compression(rest) is None:
            self._note("other bytes follow the compressed ones; they are left out")
            self._over = True
        self._rest, self._part = rest, self._new()

    def _read(self) -> bytes:
        data = self._raw.read(_PIECE)
        self._meter.add(len(data), 0)
        return data


class _Zstandard(_Plain):
    """The same for zstd."""

    def __init__(self, raw: BinaryIO, meter: Meter, note: Note) -> None:
        super().__init__(raw, meter, note)
        import pyarrow as pa

        self._inner = pa.CompressedInputStream(_Counted(raw, meter), "zstd")
        self._over = False

    def _piece(self) -> bytes:
        if self._over:
            return b""
        piece = b""
        try:
            piece = bytes(self._inner.read(_ZSTD_PIECE))
        except _DAMAGE as damage:
            self._note(f"it is damaged ({damage}); what comes before is kept")
        self._over = not piece
        self._meter.add(0, len(piece))
        return piece


class _Counted:
    """What a compressed stream is read from, with what is read of it counted."""

    closed = False

    def __init__(self, raw: BinaryIO, meter: Meter) -> None:
        self._raw, self._meter = raw, meter

    def read(self, count: int = -1) -> bytes:
        data = self._raw.read(count)
        self._meter.add(len(data), 0)
        return data

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        """Whoever opened it closes it."""
