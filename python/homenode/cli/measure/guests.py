"""`homenode measure guests`: a suite on a host and in its virtual machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from homenode.cli.measure.options import (
    AnonymousOption,
    FileOption,
    FolderOption,
    GateOption,
    OnlyOption,
    PatienceOption,
    RepeatsOption,
    SecondsOption,
    SeedOption,
    SuiteArgument,
)
from homenode.cli.measure.peering import (
    PEER_PORTS,
    PeerCommandOption,
    SshOption,
    TokenOption,
    way_of,
)
from homenode.cli.measure.running import measured_and_shown, options_of
from homenode.cli.output import JsonOption
from homenode.errors import HomenodeError

if TYPE_CHECKING:
    from pathlib import Path

    from homenode.hosts.peer.guests import Guest


def guests(
    suite: SuiteArgument,
    guest: Annotated[
        list[str],
        typer.Option(
            "--guest",
            help="A guest as its hypervisor names it, and how it is reached: a host for ssh, or "
            "with --token-file HOST:PORT of an agent; once for each.",
            metavar="NAME=HOST",
        ),
    ],
    only: OnlyOption = None,
    repeats: RepeatsOption = None,
    seconds: SecondsOption = None,
    output: FileOption = None,
    gate: GateOption = "3 %",
    patience: PatienceOption = 120.0,
    folder: FolderOption = None,
    seed: SeedOption = 1,
    anonymous: AnonymousOption = False,
    token_file: TokenOption = None,
    peer_command: PeerCommandOption = "homenode",
    ssh: SshOption = "ssh",
    as_json: JsonOption = False,
) -> None:
    """A host alone and its virtual machines at once.

    A suite's cases run on this host and in all its guests in turns. Prints what each guest did,
    what it took by its own account and what it cost the host: real over virtual time.
    """
    found = [_guest(words, token_file, peer_command, ssh) for words in guest]
    options = options_of(only, repeats, seconds, None, gate, patience, folder, seed)
    measured_and_shown(
        suite, [], options, output, anonymous=anonymous, guests=found, as_json=as_json
    )


def _guest(words: str, token_file: Path | None, command: str, ssh: str) -> Guest:
    """A guest of the command line.

    Raises `HomenodeError` for words that name none.
    """
    from homenode.hosts.peer.guests import Guest

    name, _, host = words.partition("=")
    if not name.strip() or not host.strip():
        raise HomenodeError(
            f"--guest {words!r} names no guest",
            next_step="write NAME=HOST, as db1=192.168.122.11, or with --token-file NAME=HOST:PORT",
        )
    way = way_of(host, token_file, None, PEER_PORTS, command, ssh, None)
    if way is None:
        raise AssertionError("a host was given")
    return Guest(name.strip(), way)
