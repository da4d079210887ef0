"""Ways to an agent: the user's own ssh, which starts one, or a connection to one that listens."""

from __future__ import annotations

import shlex
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from homenode.hosts.errors import ConnectionLostError, MeasureError
from homenode.hosts.live.processes import told
from homenode.hosts.peer.messages import MOST_ANSWER, Channel, Message
from homenode.hosts.peer.token import introduce, read_token
from homenode.version import program_version

_CONNECT_S = 10
_GREETING_S = 60.0
_END_S = 10.0
_NOT_FOUND = (126, 127)
_OF_SSH = 255
_MOST_SAID = 1 << 20
SSH_OPTIONS = ("-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={_CONNECT_S}")
"""Never asks for a password, and gives up soon (ssh_config(5))."""
_SAID: Sequence[tuple[str, str, str]] = (
    (
        "Permission denied",
        "the peer does not accept your key",
        "see that `ssh HOST true` works without a password",
    ),
    (
        "Host key verification failed",
        "the peer's host key is not known, or another",
        "connect once by hand with `ssh HOST`, and compare the key",
    ),
    ("Could not resolve", "there is no host of that name", "see how it is written"),
)
"""What ssh prints, what that means, and what to do next."""
_UNREACHABLE = ("the peer cannot be reached", "see that it is up, and its ssh port open")


@dataclass(frozen=True)
class Way:
    """How the peer is reached."""

    host: str
    """As the user names it: of ssh, or HOST:PORT of an agent that listens."""
    address: str | None = None
    """At which its servers listen; the one that it is reached by if not given."""
    ports: tuple[int, int] = (21_000, 29_999)
    ssh: Sequence[str] = ("ssh",)
    command: Sequence[str] = ("homenode",)
    """That runs homenode on the peer, by ssh."""
    token_file: Path | None = None
    folder: Path | None = None
    """Where the peer's servers keep their databases and files, by ssh."""


class Connection(Protocol):
    """A channel to an agent."""

    channel: Channel
    said: bytes
    """What the way itself printed, known after `close`."""

    @property
    def address(self) -> str | None:
        """The agent's, where the way tells it."""

    def close(self) -> None:
        """Let it go; the agent ends by that."""

    def explained(self, error: ConnectionLostError) -> MeasureError:
        """Why no agent greeted, after `close`."""


def connect(way: Way) -> Connection:
    """Reach the agent.

    Raises `MeasureError` where it cannot be reached, does not let us in, or is of another version.
    """
    connection = _by_token(way) if way.token_file is not None else _by_ssh(way)
    try:
        greeting = connection.channel.greeting("homenode", limit_s=_GREETING_S)
        _check_greeting(greeting, way)
    except BaseException as error:
        connection.close()
        if isinstance(error, ConnectionLostError):
            raise connection.explained(error) from error
        raise
    return connection


def _check_greeting(greeting: Message, way: Way) -> None:
    """Only the same version knows the same cases."""
    ours = program_version()
    if greeting.get("version") != ours:
        raise MeasureError(
            f"{way.host} runs homenode {greeting.get('version')}, this host {ours}",
            next_step="install the same version on both",
        )


def _by_token(way: Way) -> Connection:
    """A connection to an agent that listens."""
    host, _, port = way.host.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise MeasureError(
            f"--peer {way.host} names no agent", next_step="write HOST:PORT, where it listens"
        )
    token = read_token(way.token_file or Path())
    try:
        place = socket.getaddrinfo(host, int(port), socket.AF_INET, socket.SOCK_STREAM)[0][4]
        connected = socket.create_connection((str(place[0]), int(port)), timeout=_CONNECT_S)
    except OSError as error:
        raise MeasureError(
            f"no agent answers at {way.host}: {error.strerror or error}",
            next_step="start it there with `homenode measure agent --listen`, and see that its "
            "port is open from here",
        ) from error
    keep_alive(connected)
    descriptor = connected.fileno()
    channel = Channel(descriptor, descriptor, most=MOST_ANSWER)
    try:
        introduce(channel, token)
    except BaseException:
        connected.close()
        raise
    return _Tcp(channel, connected)


@dataclass
class _Tcp:
    """A connection to an agent that listens."""

    channel: Channel
    connected: socket.socket
    said: bytes = b""

    @property
    def address(self) -> str:
        """Where it is."""
        return str(self.connected.getpeername()[0])

    def close(self) -> None:
        """Let it go, by which the session there ends, and whoever waits here for an answer."""
        with suppress(OSError):
            self.connected.shutdown(socket.SHUT_RDWR)
        self.connected.close()

    def explained(self, error: ConnectionLostError) -> MeasureError:
        """It let us in, and then said nothing."""
        return MeasureError(
            f"the agent on the peer began no session: {error}",
            next_step="read what it printed there",
        )


def keep_alive(connected: socket.socket) -> None:
    """Have a peer that vanished noticed within half a minute (tcp(7))."""
    connected.settimeout(None)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        (socket.TCP_KEEPIDLE, 10),
        (socket.TCP_KEEPINTVL, 5),
        (socket.TCP_KEEPCNT, 3),
        (socket.TCP_USER_TIMEOUT, 30_000),
    ):
        connected.setsockopt(socket.IPPROTO_TCP, option, value)


def _by_ssh(way: Way) -> Connection:
    """An agent that ssh starts, over its standard streams."""
    if not way.host or way.host.startswith("-"):
        raise MeasureError(f"--peer {way.host!r} names no host", next_step="write a name for ssh")
    where = [] if way.folder is None else ["--folder", str(way.folder)]
    remote = shlex.join([*way.command, "measure", "agent", *where])
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the connection
    try:
        ssh = subprocess.Popen(
            [*way.ssh, *SSH_OPTIONS, "--", way.host, remote],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            # Ctrl-C is for us: we end it when our servers there have ended.
            start_new_session=True,
        )
    except OSError as error:
        errors.close()
        raise MeasureError(
            f"{way.ssh[0]} cannot be started: {error.strerror}",
            next_step="install an ssh client, or use an agent that listens (--token-file)",
        ) from error
    if ssh.stdin is None or ssh.stdout is None:
        raise AssertionError("both are pipes")
    channel = Channel(ssh.stdout.fileno(), ssh.stdin.fileno(), most=MOST_ANSWER)
    return _Ssh(channel, ssh, errors, way)


@dataclass
class _Ssh:
    """The ssh process of a connection."""

    channel: Channel
    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    way: Way
    address: str | None = None
    said: bytes = b""

    def close(self) -> None:
        """Close its streams, which ends the agent, and wait for ssh's own end."""
        if self.errors.closed:
            return
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        try:
            self.process.wait(timeout=_END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.seek(0)
        self.said = self.errors.read(_MOST_SAID)
        self.errors.close()

    def explained(self, error: ConnectionLostError) -> MeasureError:
        """By what ssh printed."""
        said = self.said
        host, code = self.way.host, self.process.returncode
        if code in _NOT_FOUND:
            return MeasureError(
                f"there is no {self.way.command[0]} on {host}",
                there=told(said),
                next_step="install homenode there, or say where it is with --peer-command",
            )
        if code != _OF_SSH:
            return MeasureError(
                f"homenode on {host} began no session: {error}",
                there=told(said),
                next_step=f"try there: {shlex.join(self.way.command)} measure agent --help",
            )
        text = said.decode("utf-8", "replace")
        known = ((problem, next_step) for words, problem, next_step in _SAID if words in text)
        problem, next_step = next(known, _UNREACHABLE)
        return MeasureError(f"{host}: {problem}", there=told(said), next_step=next_step)
