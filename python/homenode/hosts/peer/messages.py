"""Messages between a client and the agent on its peer: lines of JSON in turns, bounded in length
and in time, over any two file descriptors.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Mapping
from typing import Any

from homenode.hosts.errors import ConnectionLostError

FORM = 1
"""Of the messages; both sides must have the same."""
MOST_REQUEST = 64 << 10
MOST_ANSWER = 8 << 20
"""Longest line of each direction [bytes]; an answer may hold what the servers printed."""
_CHUNK = 1 << 16
_WRITE_LIMIT_S = 30.0

Message = dict[str, Any]


class Channel:
    """One side of a connection."""

    def __init__(self, reading: int, writing: int, *, most: int) -> None:
        self._reading, self._writing, self._most = reading, writing, most
        self._pending = bytearray()
        os.set_blocking(writing, False)

    def send(self, message: Mapping[str, object]) -> None:
        """Write one message, whole.

        Raises `ConnectionLostError` where the other side takes nothing any more.
        """
        rest = memoryview(json.dumps(message).encode() + b"\n")
        until = time.monotonic() + _WRITE_LIMIT_S
        while rest:
            if not _ready(self._writing, select.POLLOUT, until):
                raise ConnectionLostError(f"nothing was taken for {_WRITE_LIMIT_S:g} s")
            try:
                rest = rest[os.write(self._writing, rest) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise ConnectionLostError(f"the connection broke: {error.strerror}") from error

    def receive(self, *, limit_s: float) -> Message:
        """The next message.

        Raises `ConnectionLostError` at the end of the connection, for silence, and for what is no
        message.
        """
        line = self.line(time.monotonic() + limit_s, limit_s)
        found = _read(line)
        if found is None:
            shown = line[:80].decode("utf-8", "replace")
            raise ConnectionLostError(f"what came is no message: {shown!r}")
        return found

    def greeting(self, key: str, *, limit_s: float) -> Message:
        """The first message that has this key; a login may print lines of its own before it."""
        until, heard = time.monotonic() + limit_s, 0
        while heard <= MOST_REQUEST:
            line = self.line(until, limit_s)
            found = _read(line)
            if found is not None and key in found:
                return found
            heard += len(line) + 1
        raise ConnectionLostError("what came is no greeting of homenode's agent")

    def gone(self, within_s: float) -> bool:
        """Whether the other side goes within that time; nothing is read."""
        watched = select.poll()
        watched.register(self._reading, select.POLLRDHUP)
        return bool(watched.poll(1000 * within_s))

    def line(self, until: float, limit_s: float) -> bytes:
        """The next line, before `until` of the monotonic clock."""
        while (end := self._pending.find(b"\n")) < 0:
            if len(self._pending) > self._most:
                raise ConnectionLostError(f"a line is longer than {self._most} bytes")
            if not _ready(self._reading, select.POLLIN, until):
                raise ConnectionLostError(f"there was no answer for {limit_s:g} s")
            try:
                came = os.read(self._reading, _CHUNK)
            except BlockingIOError:
                continue
            except OSError as error:
                raise ConnectionLostError(f"the connection broke: {error.strerror}") from error
            if not came:
                raise ConnectionLostError("the connection was closed")
            self._pending += came
        line = bytes(self._pending[:end])
        del self._pending[: end + 1]
        return line


def _ready(descriptor: int, event: int, until: float) -> bool:
    """Whether it can be read or written, or is broken, before that moment."""
    waiting = select.poll()
    waiting.register(descriptor, event)
    return bool(waiting.poll(max(0.0, until - time.monotonic()) * 1000))


def _read(line: bytes) -> Message | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
