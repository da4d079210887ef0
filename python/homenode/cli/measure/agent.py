"""`homenode measure agent`: the side of a peer in a measurement on two hosts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from homenode.cli.measure.ending import ended_by_signals
from homenode.cli.measure.options import FolderOption
from homenode.cli.output import tell
from homenode.errors import HomenodeError


def agent(
    listen: Annotated[
        str | None,
        typer.Option("--listen", help="Where to wait for clients.", metavar="ADDRESS:PORT"),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file", help="What clients must hold; made if not there.", metavar="FILE"
        ),
    ] = None,
    hours: Annotated[
        float, typer.Option("--hours", min=0.001, max=168, help="Then it ends.", metavar="H")
    ] = 8.0,
    folder: FolderOption = None,
) -> None:
    """Serve a client that measures on two hosts.

    Without --listen it talks over its standard streams: so ssh starts it. With it, it waits for
    clients that hold the token, one session at a time.
    """
    if listen is None:
        _serve(token_file, folder)
        return
    if token_file is None:
        raise HomenodeError(
            "an agent that listens takes a token", next_step="give --token-file FILE"
        )
    from homenode.hosts.peer import agent as listening
    from homenode.hosts.peer.token import made_token

    token = made_token(token_file)
    more = [] if folder is None else ["--folder", str(folder.absolute())]
    session = (sys.executable, "-m", "homenode", "measure", "agent", *more)
    with listening.opened(listen) as listener, ended_by_signals():
        address, port = listener.getsockname()
        tell(f"listening at {address}:{port} for {hours:g} h; the token is in {token_file}")
        listening.listen(listener, token, limit_s=3600 * hours, say=tell, session=session)


def _serve(token_file: Path | None, folder: Path | None) -> None:
    """One session, with whoever started this process."""
    if token_file is not None or sys.stdin.isatty():
        raise HomenodeError(
            "an agent without --listen is started by ssh, for `homenode measure SUITE --peer HOST`",
            next_step="to wait for clients give --listen ADDRESS:PORT --token-file FILE",
        )
    from homenode.hosts.peer.serving import serve_streams

    with ended_by_signals():
        serve_streams(folder)
