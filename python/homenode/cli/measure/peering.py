"""Options that say how a peer is reached."""

from __future__ import annotations

import re
import shlex
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homenode.errors import HomenodeError

if TYPE_CHECKING:
    from homenode.hosts.peer.transport import Way

PeerOption = Annotated[
    str | None,
    typer.Option(
        "--peer",
        help="Run the servers there: a host for ssh, or with --token-file HOST:PORT of an agent.",
        metavar="HOST",
    ),
]
TokenOption = Annotated[
    Path | None,
    typer.Option("--token-file", help="The token of the peer's agent.", metavar="FILE"),
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--peer-address",
        help="Where the peer's servers listen, if not where it is reached.",
        metavar="ADDRESS",
    ),
]
PEER_PORTS = "21000-29999"
"""If nobody says others: those of `homenode.hosts.bench`, which a command's help does not load."""
PortsOption = Annotated[
    str,
    typer.Option("--peer-ports", help="Ports that they may listen at.", metavar="FIRST-LAST"),
]
PeerCommandOption = Annotated[
    str,
    typer.Option(
        "--peer-command", help="What runs homenode on the peer, by ssh.", metavar="COMMAND"
    ),
]
SshOption = Annotated[
    str, typer.Option("--ssh", help='Your ssh with its options, as "ssh -p 2222".', metavar="CMD")
]
_PORTS = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")


def way_of(
    peer: str | None,
    token_file: Path | None,
    address: str | None,
    ports: str,
    command: str,
    ssh: str,
    folder: Path | None,
) -> Way | None:
    """How the peer is reached; None without one.

    Raises `HomenodeError` for words that make no sense.
    """
    if peer is None:
        if token_file is not None or address is not None:
            raise HomenodeError("there is no peer", next_step="name it with --peer HOST")
        return None
    if token_file is not None and folder is not None:
        raise HomenodeError(
            "an agent that listens has a folder of its own",
            next_step="give --folder where it is started",
        )
    from homenode.hosts.peer.transport import Way

    return Way(
        host=peer,
        address=None if address is None else _digits(address),
        ports=_ports(ports),
        ssh=_words(ssh, "--ssh"),
        command=_words(command, "--peer-command"),
        token_file=token_file,
        folder=folder,
    )


def _words(text: str, option: str) -> list[str]:
    try:
        found = shlex.split(text)
    except ValueError as error:
        raise HomenodeError(f"{option} {text!r}: {error}") from error
    if not found:
        raise HomenodeError(f"{option} names no command", next_step="leave it out")
    return found


def _ports(text: str) -> tuple[int, int]:
    found = _PORTS.fullmatch(text.strip())
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1024 <= first <= last < 1 << 16:
        raise HomenodeError(
            f"--peer-ports {text} makes no sense",
            next_step="write FIRST-LAST, from 1024 to 65535, as 21000-21099",
        )
    return first, last


def _digits(name: str) -> str:
    """An address of IPv4 in digits."""
    try:
        return str(socket.getaddrinfo(name, None, socket.AF_INET)[0][4][0])
    except OSError as error:
        raise HomenodeError(
            f"--peer-address {name} is none of IPv4: {error.strerror or error}",
            next_step="write it in digits, as 10.0.0.2",
        ) from error
