"""What the kernel says of every task at its end: processor time, time waited for a processor and
switches, exact also for threads and processes that nobody looked at in time.

The kernel sends a record a task over generic netlink to whoever asked (Linux kernel,
Documentation/accounting/taskstats.rst and taskstats-struct.rst); it takes the right CAP_NET_ADMIN.
Where it cannot be had, `tasks.py` goes on with what it sees while the tasks live.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

_NETLINK_GENERIC = 16
_CONTROLLER = 16
_GET_FAMILY = 3
_FAMILY_ID = 1
_FAMILY_NAME = 2
_ERROR = 2
_COMMAND_GET = 1
_REGISTER = 3
_DEREGISTER = 4
_OF_A_TASK = 4
_STATS = 3
_REQUEST_ACK = 5
_HEADER = 16
_GENERIC_HEADER = 4
_FORCE_RECEIVE_BUFFER = 33
_BUFFER_BYTES = 16 * 1024 * 1024
_MESSAGE_BYTES = 65_536
_LEAST_VERSION = 12
"""The first whose records name the process that a thread belongs to."""
# Offsets in the record: count and delay of the wait for a processor, run time, task and parent,
# switches, thread group. They have not moved since version 8; later versions append.
_CPU_COUNT, _CPU_DELAY, _RUN, _PID, _PPID, _VOLUNTARY, _INVOLUNTARY, _TGID = (
    16, 24, 72, 128, 132, 272, 280, 368,
)  # fmt: skip
_LEAST_BYTES = _TGID + 4


@dataclass(frozen=True)
class Exit:
    """A task's last account."""

    tid: int
    pid: int
    parent: int
    run_ns: int
    delay_ns: int
    slices: int
    voluntary: int
    involuntary: int


class ExitRecords:
    """The kernel's records of tasks that end, on all processors, since it was opened."""

    def __init__(self, connection: socket.socket, family: int, cpus: str) -> None:
        self._socket = connection
        self._family = family
        self._cpus = cpus
        self.lost = False
        """Whether the kernel had to drop some since it was last asked."""

    @classmethod
    def open(cls, cpus: str) -> ExitRecords | None:
        """Listen on those processors (`0-3`); None where this is not allowed or not there."""
        if not hasattr(socket, "AF_NETLINK"):
            return None
        connection = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_GENERIC)
        try:
            connection.bind((0, 0))
            connection.settimeout(1.0)
            connection.setsockopt(socket.SOL_SOCKET, _FORCE_RECEIVE_BUFFER, _BUFFER_BYTES)
            family = _ask_family(connection)
            if family is not None and _register(connection, family, _REGISTER, cpus):
                connection.setblocking(False)
                records = cls(connection, family, cpus)
                if records.readable():
                    return records
        except OSError:
            pass
        connection.close()
        return None

    def readable(self) -> bool:
        """Whether this kernel's records are of a form that we know: tried with a child."""
        child = os.posix_spawn("/bin/true", ["true"], {})
        os.waitpid(child, 0)
        return any(found.pid == child and found.parent == os.getpid() for found in self.drain())

    def drain(self) -> Iterator[Exit]:
        """All records that are there by now."""
        while True:
            try:
                message = self._socket.recv(_MESSAGE_BYTES)
            except BlockingIOError:
                return
            except OSError:  # ENOBUFS: more ended than the buffer holds
                self.lost = True
                continue
            yield from _exits(message)

    def close(self) -> None:
        """Stop listening."""
        try:
            self._socket.settimeout(1.0)
            _register(self._socket, self._family, _DEREGISTER, self._cpus)
        except OSError:
            pass  # closing ends it too
        self._socket.close()


def _attribute(kind: int, data: bytes) -> bytes:
    length = 4 + len(data)
    return struct.pack("HH", length, kind) + data + bytes(-length % 4)


def _message(kind: int, command: int, body: bytes) -> bytes:
    payload = struct.pack("BBxx", command, 1) + body
    return struct.pack("IHHII", _HEADER + len(payload), kind, _REQUEST_ACK, 1, 0) + payload


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and content of each attribute; ends at the first that makes no sense."""
    offset = 0
    while offset + 4 <= len(data):
        length, kind = struct.unpack_from("HH", data, offset)
        if length < 4 or offset + length > len(data):
            return
        yield kind & 0x3FFF, data[offset + 4 : offset + length]
        offset += (length + 3) & ~3


def _ask_family(connection: socket.socket) -> int | None:
    connection.send(_message(_CONTROLLER, _GET_FAMILY, _attribute(_FAMILY_NAME, b"TASKSTATS\0")))
    for _ in range(2):  # the answer and its acknowledgement
        answer = connection.recv(_MESSAGE_BYTES)
        if struct.unpack_from("IH", answer)[1] == _ERROR:
            return None
        for kind, data in _attributes(answer[_HEADER + _GENERIC_HEADER :]):
            if kind == _FAMILY_ID:
                connection.recv(_MESSAGE_BYTES)
                return int(struct.unpack_from("H", data)[0])
    return None


def _register(connection: socket.socket, family: int, command: int, cpus: str) -> bool:
    connection.send(_message(family, _COMMAND_GET, _attribute(command, cpus.encode() + b"\0")))
    while True:
        answer = connection.recv(_MESSAGE_BYTES)
        if struct.unpack_from("IH", answer)[1] == _ERROR:
            return bool(struct.unpack_from("i", answer, _HEADER)[0] == 0)


def _exits(message: bytes) -> Iterator[Exit]:
    """The records of tasks in a message; those of whole processes repeat them and are left out."""
    for kind, inner in _attributes(message[_HEADER + _GENERIC_HEADER :]):
        if kind != _OF_A_TASK:
            continue
        for name, record in _attributes(inner):
            known = name == _STATS and len(record) >= _LEAST_BYTES
            if known and struct.unpack_from("H", record)[0] >= _LEAST_VERSION:
                yield _exit(record)


def _exit(record: bytes) -> Exit:
    tid, parent = struct.unpack_from("II", record, _PID)
    voluntary, involuntary = struct.unpack_from("QQ", record, _VOLUNTARY)
    count, delay = struct.unpack_from("QQ", record, _CPU_COUNT)
    return Exit(
        tid=tid,
        pid=struct.unpack_from("I", record, _TGID)[0],
        parent=parent,
        run_ns=struct.unpack_from("Q", record, _RUN)[0],
        delay_ns=delay,
        slices=count,
        voluntary=voluntary,
        involuntary=involuntary,
    )
