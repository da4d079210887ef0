"""An agent that listens: it lets in who holds its token, one at a time, and gives each a session in
a process of its own, over the connection itself.

It ends by itself after a time, and after so many who did not hold the token.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from homenode.hosts.errors import ConnectionLostError, MeasureError
from homenode.hosts.peer.messages import MOST_REQUEST, Channel
from homenode.hosts.peer.token import HANDSHAKE_S, admit, refuse
from homenode.hosts.peer.transport import keep_alive

MOST_REFUSED = 100
"""Who come with a wrong token or none, before it ends."""
_AFTER_REFUSAL_S = 0.5
_LOOK_S = 60.0
_END_S = 30.0
_TIDYING_S = 5.0


def opened(place: str) -> socket.socket:
    """A socket that listens at ADDRESS:PORT, of IPv4; port 0 takes a free one.

    Raises `MeasureError` where that cannot be.
    """
    address, _, port = place.rpartition(":")
    if not address or not port.isdecimal() or int(port) >= 1 << 16:
        raise MeasureError(
            f"--listen {place} names no place", next_step="write ADDRESS:PORT, as 127.0.0.1:7411"
        )
    try:
        return socket.create_server((address, int(port)), backlog=4)
    except OSError as error:
        raise MeasureError(
            f"nothing can listen at {place}: {error.strerror or error}",
            next_step="give an address of this host, and a port that is free",
        ) from error


def listen(
    listener: socket.socket,
    token: bytes,
    *,
    limit_s: float,
    say: Callable[[str], None],
    session: Sequence[str] = (sys.executable, "-m", "homenode", "measure", "agent"),
) -> None:
    """Let clients in for so long; a session that is open then is ended.

    Raises `MeasureError` after too many who were refused.
    """
    until, refused = time.monotonic() + limit_s, 0
    running: subprocess.Popen[bytes] | None = None
    try:
        while time.monotonic() < until:
            if running is not None and running.poll() is not None:
                say("the session has ended")
                running = None
            connected, comer = _next(listener, until)
            if connected is None:
                continue
            with connected:
                if running is not None and not _has_ended(running):
                    say(f"{comer}: turned away, a session is open")
                    _turn_away(connected)
                elif _admitted(connected, token):
                    say(f"{comer}: a session begins")
                    running = _begun(connected, session)
                else:
                    refused += 1
                    say(f"{comer}: refused, wrong token or none")
                    time.sleep(_AFTER_REFUSAL_S)
            if refused >= MOST_REFUSED:
                raise MeasureError(
                    f"{refused} came without the token", next_step="see who they are, start anew"
                )
        say("the time is over")
    finally:
        _end(running)


def _next(listener: socket.socket, until: float) -> tuple[socket.socket | None, str]:
    """Who comes next, if anybody does in a while."""
    waiting = select.poll()
    waiting.register(listener, select.POLLIN)
    if not waiting.poll(1000 * max(0.0, min(_LOOK_S, until - time.monotonic()))):
        return None, ""
    connected, (address, port) = listener.accept()
    return connected, f"{address}:{port}"


def _has_ended(running: subprocess.Popen[bytes]) -> bool:
    """Whether a session has; one that tidies up is waited for."""
    try:
        running.wait(timeout=_TIDYING_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def _turn_away(connected: socket.socket) -> None:
    descriptor = connected.fileno()
    with suppress(ConnectionLostError):
        refuse(Channel(descriptor, descriptor, most=MOST_REQUEST))


def _admitted(connected: socket.socket, token: bytes) -> bool:
    """Whether it holds the token; silence is bounded, and nothing it says can end us."""
    connected.settimeout(HANDSHAKE_S)
    descriptor = connected.fileno()
    try:
        return admit(Channel(descriptor, descriptor, most=MOST_REQUEST), token)
    except (ConnectionLostError, OSError, ValueError):  # the last for what no text can hold
        return False


def _begun(connected: socket.socket, session: Sequence[str]) -> subprocess.Popen[bytes]:
    """A session's process, whose standard streams are the connection; it ends with this one."""
    keep_alive(connected)
    tied = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
    return subprocess.Popen(
        [*tied, *session],
        stdin=connected.fileno(),
        stdout=connected.fileno(),
        env=dict(os.environ),
        start_new_session=True,
    )


def _end(running: subprocess.Popen[bytes] | None) -> None:
    if running is None:
        return
    with suppress(ProcessLookupError):
        running.send_signal(signal.SIGTERM)
    try:
        running.wait(timeout=_END_S)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
