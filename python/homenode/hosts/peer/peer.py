"""The peer as its client asks it: every question with its limit in time, every answer checked."""

from __future__ import annotations

import dataclasses
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from homenode.hosts.adapter import LOOPBACK, Output, Served
from homenode.hosts.bench import Account
from homenode.hosts.errors import ConnectionLostError, MeasureError
from homenode.hosts.live.cgroups import Setting
from homenode.hosts.live.hostwide import Counts
from homenode.hosts.live.processes import told
from homenode.hosts.peer.clock import Exchange, Reading, reading
from homenode.hosts.peer.transport import Connection, Way, connect
from homenode.hosts.requirements import Refusal
from homenode.hosts.suite import Row

_ANSWER_S = 60.0
"""Any answer that takes no work."""
_MORE_S = 30.0
"""What an answer that takes work may take on top of what it was given."""
_EXCHANGES = 16
_REACH_S = 5.0
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Told:
    """What the peer says of itself."""

    address: str
    """Where its servers listen."""
    clients: str
    """Where it sees us."""
    cpus: tuple[int, ...]
    environment: Mapping[str, Any]
    here: bool
    """Whether it is this very machine."""


@dataclass(frozen=True)
class Asked:
    """What servers are asked for."""

    row: Row
    processors: int | None
    """How many of those that the setting names, or of all; None for each of them."""
    setting: Setting
    limit_s: float
    """They end by themselves after so long [s]."""

    def as_json(self) -> dict[str, object]:
        """What goes to the agent."""
        setting = dataclasses.asdict(self.setting)
        told = {"processors": self.processors, "limit_s": self.limit_s, "setting": setting}
        return {**told, **_named(self.row)}


@dataclass(frozen=True)
class _Hello:
    address: str
    boot: str
    cpus: tuple[int, ...]
    environment: dict[str, Any]


@dataclass(frozen=True)
class _Begun:
    served: Served
    processors: int


@dataclass(frozen=True)
class Accounts:
    """What the servers used in the measured time."""

    account: Account
    counts: Counts = field(default_factory=dict)
    """What the whole host did."""


@dataclass(frozen=True)
class Whole:
    """One repetition that the peer made by itself."""

    output: Output
    account: Account
    counts: Counts
    """What the whole host did in its measured time; empty where the adapter marks none."""
    window: tuple[float, float]
    """When that began and ended, by the peer's clock; all of it where the adapter marks none."""
    processors: int
    outputs: Mapping[str, str]
    """Ends of what its programs printed, by file."""


class Peer:
    """An open session; used as a context."""

    def __init__(self, way: Way, *, anonymous: bool = False, serves: bool = True) -> None:
        """`serves`: whether its servers are to be reached from here."""
        self.way = way
        self._broken = False
        self._connection: Connection = connect(way)
        try:
            self.told = self._greeted(anonymous=anonymous, serves=serves)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the session; what still runs there ends with it."""
        if not self._broken:
            self._broken = True
            with suppress(ConnectionLostError):
                self._connection.channel.send({"ask": "bye"})
        self._connection.close()

    def clock(self) -> Reading:
        """How far its clock is apart from ours now."""
        exchanges = []
        for _ in range(_EXCHANGES):
            sent = time.monotonic()
            answer = self._ask("clock")
            back = time.monotonic()
            received, answered = (_checked(float, answer.get(w)) for w in ("received", "answered"))
            exchanges.append(Exchange(sent, received, answered, back))
        return reading(exchanges)

    def wait_quiet(self, limit_s: float, foreign_limit: float, steal_limit: float) -> bool:
        """Whether others use little there, after waiting for it so long."""
        limits = {"foreign_limit": foreign_limit, "steal_limit": steal_limit}
        given = {"limit_s": limit_s, **limits}
        return self._ask("quiet", given, within_s=limit_s + _MORE_S).get("quiet") is True

    def refusal(self, row: Row, *, whole: bool = False) -> Refusal | None:
        """Why the servers of a case, or a case as a whole, cannot run there."""
        found = self._ask("refusal", {"whole": whole, **_named(row)}).get("refusal")
        return None if found is None else _checked(Refusal, found)

    def check(self, setting: Setting) -> None:
        """Raise `MeasureError` for a setting that it cannot make for its servers."""
        self._ask("check", {"setting": dataclasses.asdict(setting)})

    def prepare(self, asked: Asked, *, whole: bool = False) -> str:
        """Have it make what a case needs; the version of what serves, or of all."""
        given = {"whole": whole, **asked.as_json()}
        answer = self._ask("prepare", given, within_s=asked.limit_s + _MORE_S)
        return _checked(str, answer.get("version"))

    def whole(self, asked: Asked, seconds: float) -> Whole:
        """Have it make one repetition by itself."""
        given = {"seconds": seconds, **asked.as_json()}
        return _checked(Whole, self._ask("whole", given, within_s=asked.limit_s + _MORE_S))

    def begin(self, asked: Asked) -> tuple[Served, int]:
        """Start a case's servers: how to reach them, and on how many processors they run."""
        answer = self._ask("begin", asked.as_json(), within_s=asked.limit_s + _MORE_S)
        begun = _checked(_Begun, answer)
        return begun.served, begun.processors

    def measuring(self) -> float:
        """Begin its accounts; when that was, by its clock."""
        return _checked(float, self._ask("measuring").get("at"))

    def measured(self) -> float:
        """End them."""
        return _checked(float, self._ask("measured").get("at"))

    def accounts(self) -> Accounts:
        """What they say."""
        return _checked(Accounts, self._ask("account"))

    def end(self) -> Mapping[str, str]:
        """End the servers; the ends of what they printed, by file."""
        return _checked(dict[str, str], self._ask("end").get("outputs"))

    # Inside

    def _greeted(self, *, anonymous: bool, serves: bool) -> Told:
        """Who it is, and whether its ports can be reached from here where they are to be."""
        address = self.way.address or self._connection.address if serves else LOOPBACK
        given = {"address": address, "anonymous": anonymous, "ports": list(self.way.ports)}
        hello = _checked(_Hello, self._ask("hello", given))
        here = hello.boot == _BOOT.read_text().strip()
        if not serves:
            return Told(hello.address, LOOPBACK, hello.cpus, hello.environment, here)
        port = _checked(int, self._ask("reach").get("port"))
        first, last = self.way.ports
        try:
            socket.create_connection((hello.address, port), timeout=_REACH_S).close()
        except OSError as error:
            raise MeasureError(
                f"port {port} of {hello.address} cannot be reached from here: "
                f"{error.strerror or error}",
                there=f"the peer's servers listen at ports {first} to {last}",
                next_step="open some of them for this host and name these with --peer-ports, or "
                "name another address of the peer's with --peer-address",
            ) from error
        clients = _checked(str, self._ask("reached").get("clients"))
        return Told(hello.address, clients, hello.cpus, hello.environment, here)

    def _ask(
        self, name: str, given: Mapping[str, object] | None = None, *, within_s: float = _ANSWER_S
    ) -> dict[str, Any]:
        """One question. A connection that was cut in the middle of one is used no more.

        Raises `MeasureError` with the peer's own words where it refuses.
        """
        if self._broken:
            raise ConnectionLostError("the connection to the peer is lost")
        self._broken = True
        try:
            self._connection.channel.send({"ask": name, **(given or {})})
            message = self._connection.channel.receive(limit_s=within_s)
        except ConnectionLostError as error:
            self._connection.close()
            raise ConnectionLostError(
                f"the peer {self.way.host} is lost: {error}",
                there=told(self._connection.said) if self._connection.said else None,
                next_step="see whether it is up; what was started there ends by itself",
            ) from error
        answer = message.get("answer")
        self._broken = False
        if "refused" in message:
            raise MeasureError(f"on the peer: {message['refused']}")
        if not isinstance(answer, dict):
            raise ConnectionLostError(f"the peer {self.way.host} answers nonsense")
        return answer


def _named(row: Row) -> dict[str, object]:
    return {
        "adapter_name": row.adapter.name,
        "case": row.case.name,
        "parameters": dict(row.case.parameters),
    }


def _checked(kind: type[_T], found: object) -> _T:
    """An answer as its type."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(found)
    except ValidationError as error:
        first = error.errors()[0]
        raise ConnectionLostError(
            f"the peer answers nonsense: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        ) from error
