"""`homenode serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from homenode.cli.output import OutOption, tell
from homenode.errors import HomenodeError


def serve(
    scenarios: Annotated[
        list[Path] | None,
        typer.Argument(help="Scenario files to open.", metavar="[FILE]..."),
    ] = None,
    port: Annotated[
        int,
        typer.Option("--port", min=0, max=65535, help="Where it listens; 0 for any.", metavar="N"),
    ] = 8311,
    host: Annotated[
        str, typer.Option("--host", help="Address that it listens on.", metavar="ADDRESS")
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option("--token", help="What browsers must know; made if not given.", metavar="TEXT"),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="Another name that it is reached by.", metavar="NAME"),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    out: OutOption = "runs",
) -> None:
    """Move partitions on a map, in a browser.

    A page of this machine: open an example, a scenario, a kept run, or drop recordings on it; drag
    a partition to another node and see what it costs. Nothing leaves this machine. Elsewhere than
    on loopback it asks for a token, which it prints; put TLS before it there.
    """
    from homenode.serve.front import Place, serve_until_stopped

    if port and port < 1024:
        tell(f"port {port} is below 1024, which may need rights that you don't have")
    told = Place(host, port, token, tuple(name or ()), browser)
    try:
        serve_until_stopped(told, [*(scenarios or ())], out, tell)
    except OSError as error:
        raise HomenodeError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}",
            next_step="choose another --port, or 0 for any that is free",
        ) from error
