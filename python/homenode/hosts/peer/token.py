"""Who may ask an agent that listens: whoever holds its token, which never goes over the wire.

Each side draws a number, and proves with both that it has the token (HMAC, RFC 2104). What follows
is neither encrypted nor signed: over a network that is not one's own, ssh is the way.
"""

from __future__ import annotations

import hmac
import secrets
import stat
from pathlib import Path

from homenode.hosts.errors import ConnectionLostError, MeasureError
from homenode.hosts.peer.messages import FORM, Channel

LEAST = 16
"""Characters of a token, at least."""
_MOST_BYTES = 4096
_NUMBER_BYTES = 16
_OTHERS_MAY = stat.S_IRWXG | stat.S_IRWXO
HANDSHAKE_S = 10.0


def read_token(path: Path) -> bytes:
    """The token that a file holds.

    Raises `MeasureError` where it is not there, can be read by others, or is too short.
    """
    try:
        with path.open("rb") as file:
            mode = path.stat().st_mode
            token = file.read(_MOST_BYTES).strip()
    except OSError as error:
        raise MeasureError(
            f"the token file {path} cannot be read: {error.strerror}",
            next_step="copy it from the peer, where `homenode measure agent --token-file` made it",
        ) from error
    if mode & _OTHERS_MAY:
        raise MeasureError(f"others may read the token file {path}", next_step=f"chmod 600 {path}")
    if len(token) < LEAST:
        raise MeasureError(
            f"the token in {path} is too short: {len(token)} characters",
            next_step=f"take {LEAST} at least",
        )
    return token


def made_token(path: Path) -> bytes:
    """The token that a file holds; where there is no file, a new one is drawn and written."""
    if not path.exists():
        try:
            path.touch(mode=0o600, exist_ok=False)
            path.write_text(secrets.token_hex(2 * _NUMBER_BYTES) + "\n")
        except OSError as error:
            raise MeasureError(
                f"the token file {path} cannot be written: {error.strerror}",
                next_step="give another place with --token-file",
            ) from error
    return read_token(path)


def admit(channel: Channel, token: bytes) -> bool:
    """The agent's part: whether the other side holds the token; it is told."""
    ours = secrets.token_hex(_NUMBER_BYTES)
    channel.send({"homenode-agent": FORM, "number": ours})
    answer = channel.receive(limit_s=HANDSHAKE_S)
    theirs, proof = str(answer.get("number")), str(answer.get("proof"))
    if not hmac.compare_digest(proof.encode(), _proof(token, "client", ours, theirs).encode()):
        channel.send({"refused": "token"})
        return False
    channel.send({"proof": _proof(token, "agent", ours, theirs)})
    return True


def refuse(channel: Channel) -> None:
    """Tell a client that another one is served."""
    channel.send({"homenode-agent": FORM, "busy": True})


def introduce(channel: Channel, token: bytes) -> None:
    """The client's part.

    Raises `MeasureError` where the token is not that of the agent.
    """
    try:
        greeting = channel.greeting("homenode-agent", limit_s=HANDSHAKE_S)
        if greeting.get("busy"):
            raise MeasureError(
                "the agent on the peer serves another client",
                next_step="wait for that session to end; an agent has one at a time",
            )
        number = str(greeting.get("number"))
        ours = secrets.token_hex(_NUMBER_BYTES)
        channel.send({"number": ours, "proof": _proof(token, "client", number, ours)})
        answer = channel.receive(limit_s=HANDSHAKE_S)
    except ConnectionLostError as error:
        raise MeasureError(
            f"no agent of homenode's answers there: {error}",
            next_step="start `homenode measure agent --listen` on the peer",
        ) from error
    if str(answer.get("proof")) != _proof(token, "agent", number, ours):
        raise MeasureError(
            "the token is wrong",
            there="the agent on the peer has another one",
            next_step="copy the agent's --token-file here again",
        )


def _proof(token: bytes, side: str, agents: str, clients: str) -> str:
    return hmac.new(token, f"{side} {agents} {clients}".encode(), "sha256").hexdigest()
