"""Clients that send slowly, or never read: others do not wait for them, and they are let go."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import Mock

import httpx
import pytest

from homenode.serve import patience

MANY = 150
PATIENCE_S = 60
_LET_GO_S = 1.0
"""So long that what is sent has come by then on a busy machine too."""
BEGUN = b"POST /api/layout HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
SLOW = {
    "nothing": b"",
    "half a line": b"GET / HT",
    "half a head": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-More: ",
    "half a body": BEGUN + b"Content-Length: 100\r\n\r\n{",
    "the next one's half": b"GET /api/nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /",
}


@contextlib.contextmanager
def sent(client: httpx.Client, said: bytes, count: int) -> Iterator[list[socket.socket]]:
    """Connections that say so much and then nothing."""
    with contextlib.ExitStack() as stack:
        at = (client.base_url.host, client.base_url.port)
        found = [
            stack.enter_context(socket.create_connection(at, PATIENCE_S)) for _ in range(count)
        ]
        for one in found:
            one.sendall(said)
        yield found


def rest(of: socket.socket) -> bytes:
    """What still comes until the server ends it."""
    found = b""
    while part := of.recv(1 << 16):
        found += part
    return found


@pytest.mark.parametrize("said", SLOW.values(), ids=SLOW)
def test_who_sends_slowly_holds_nobody_up(
    client: httpx.Client, another: Callable[[], Any], said: bytes
) -> None:
    with sent(client, said, MANY):
        told = another().ask("/api/layout", {"base": "example:frame", "edits": {}})
        assert told.json()["solved"]


@pytest.mark.parametrize("said", SLOW.values(), ids=SLOW)
def test_who_never_ends_what_he_asks_is_let_go(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    for name in ("HEAD_S", "BODY_S"):
        monkeypatch.setattr(patience, name, _LET_GO_S)
    with sent(client, said, 1) as (one,):
        told = rest(one)
    if said.startswith(BEGUN):
        assert told.startswith(b"HTTP/1.1 408")
        assert b"too long" in told
    assert told.count(b"HTTP/1.1") == (1 if b"\r\n\r\n" in said else 0)


@pytest.mark.parametrize(("complete", "gone"), [(None, True), (False, False), (True, True)])
def test_an_answer_that_is_on_its_way_is_not_cut_off(complete: bool | None, gone: bool) -> None:
    one, transport = patience.Patience.__new__(patience.Patience), Mock()
    one.transport = transport
    one.cycle = None if complete is None else Mock(response_complete=complete)
    one.leave()
    assert transport.close.called == gone


def test_who_never_reads_holds_nobody_up(client: httpx.Client, another: Callable[[], Any]) -> None:
    page = b"GET /assets/main.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20
    with sent(client, page, MANY):
        told = another().ask("/api/layout", {"base": "example:frame", "edits": {}})
        assert told.json()["solved"]
