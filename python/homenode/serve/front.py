"""From the command to a server that answers until it is stopped."""

from __future__ import annotations

import re
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from homenode.errors import HomenodeError
from homenode.model.scenario import Scenario
from homenode.serve.app import application
from homenode.serve.guard import is_local
from homenode.serve.patience import Patience
from homenode.serve.workspace import Workspace

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,200}")
_GRACE_S = 5


@dataclass(frozen=True)
class Place:
    """Where a server listens, and who may come."""

    host: str
    port: int
    token: str | None
    names: tuple[str, ...]
    browser: bool


def serve_until_stopped(
    place: Place, scenarios: Sequence[Path], out: str | Path, tell: Callable[[str], None]
) -> None:
    """Serves until Ctrl-C. Raises `OSError` where it cannot listen, `HomenodeError` for a file."""
    token = _token(place)
    for path in scenarios:
        Scenario.load(path)
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    with socket.socket(family) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((place.host, place.port))
        listening.listen()  # who reads the address and asks at once waits, and is not refused
        workspace = Workspace(out)
        workspace.opened |= {path.stem: path.absolute() for path in scenarios}
        app = application(workspace, place.host, token, place.names)
        port = listening.getsockname()[1]
        address = _address(place.host, port, token, scenarios)
        tell(f"homenode serves {address} until Ctrl-C")
        if not is_local(place.host):
            tell("others see what is sent: put TLS before it (docs/guides/serve.md), --name NAME")
        if place.browser:
            threading.Timer(1.0, webbrowser.open, (address,)).start()
        config = uvicorn.Config(
            app,
            log_level="warning",
            timeout_graceful_shutdown=_GRACE_S,
            server_header=False,
            http=Patience,
        )
        server = uvicorn.Server(config)
        server.run(sockets=[listening])
    tell("stopped")


def _token(place: Place) -> str | None:
    if place.token is not None and not _TOKEN.fullmatch(place.token):
        raise HomenodeError(
            "--token is too easy to guess, or does not go into an address",
            there="16 letters, digits, -, _ at least",
            next_step="leave it out, and one is made",
        )
    if place.token is None and is_local(place.host):
        return None
    return place.token or secrets.token_urlsafe(24)


def _address(host: str, port: int, token: str | None, scenarios: Sequence[Path]) -> str:
    name = f"[{host}]" if ":" in host else host
    query = f"?token={token}" if token else ""
    base = f"#base=scenario:{scenarios[0].stem}" if scenarios else ""
    return f"http://{name}:{port}/{query}{base}"
