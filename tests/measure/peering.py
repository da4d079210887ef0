"""A peer for tests: an agent of this very machine that listens on loopback, or that a stand-in for
ssh starts; everything ended by its id.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from waiting import LIMIT_S, until

HOMENODE = [sys.executable, "-m", "homenode"]
SUITE = """\
schema = 1
name = "shared"
title = "cases of two hosts"

[defaults]
repeats = {repeats}
seconds = {seconds}

[[case]]
adapter = "{adapter}"
name = "one"
parameters = {{ {parameters} }}
"""
STAND_IN = """\
import os, sys
words = sys.argv[1:]
assert "BatchMode=yes" in words and words[-3] == "--", words
{before}
os.environ["SSH_CONNECTION"] = "127.0.0.1 40000 127.0.0.1 22"
os.execvp("sh", ["sh", "-c", words[-1]])
"""
"""Does what ssh does as far as we see it: options, a host, a command for the shell there."""


@dataclass
class Agent:
    """One that listens."""

    place: str
    token: Path
    log: Path
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def arguments(self) -> list[str]:
        """The options of a client."""
        return ["--peer", self.place, "--token-file", str(self.token), "--gate", "off"]


@contextlib.contextmanager
def agent(
    folder: Path, *, address: str = "127.0.0.1", enter: Sequence[str] = ()
) -> Iterator[Agent]:
    """It works in a folder of its own, by which its servers can be told from others."""
    token, log = folder / "token", folder / "agent.log"
    # Servers that refuse to be root pass through it, as they could not through pytest's.
    on_disk = Path("/var/tmp")
    peer = Path(tempfile.mkdtemp(dir=on_disk if on_disk.is_dir() else None))
    peer.chmod(0o711)
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [
                *enter,
                *HOMENODE,
                *("measure", "agent", "--listen", f"{address}:0", "--hours", "0.2"),
                *("--token-file", str(token), "--folder", str(peer)),
            ],
            stderr=errors,
            stdin=subprocess.DEVNULL,
        )
    try:
        until(lambda: b"listening" in log.read_bytes() or process.poll() is not None, "an agent")
        found = re.search(r"listening at (\S+) for", log.read_text())
        assert found, log.read_text()
        yield Agent(found[1], token, log, peer, process)
    finally:
        process.terminate()
        process.wait(timeout=LIMIT_S)
        peer.rmdir()  # which fails where a session has left something


def suite(
    folder: Path,
    adapter: str = "request",
    parameters: str = "load = 2",
    *,
    repeats: int = 1,
    seconds: float = 0.3,
) -> Path:
    """A file with one case."""
    path = folder / "shared.toml"
    path.write_text(
        SUITE.format(adapter=adapter, parameters=parameters, repeats=repeats, seconds=seconds)
    )
    return path


def stand_in(folder: Path, before: str = "") -> str:
    """The words of a command in the place of ssh; `before` are lines of Python run first."""
    path = folder / "ssh.py"
    path.write_text(STAND_IN.format(before=before))
    return f"{sys.executable} {path}"


def peer_command() -> str:
    """What runs homenode on the peer."""
    return " ".join(HOMENODE)


def working_in(folder: Path) -> list[int]:
    """Processes whose folder is in that one: the servers of an agent."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                place = Path(f"/proc/{entry.name}/cwd").readlink()
                if place.is_relative_to(folder):
                    found.append(int(entry.name))
    return found
