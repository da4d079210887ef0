"""Clients that wait for each other: started one after the other, let go at the same moment.

Each waits at a named pipe of its own until its other end, held open by us, is closed. What a
client takes to start is then outside the measured time, and no client works alone while the others
are still being started.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from homenode.hosts.adapter import Started
from homenode.hosts.adapters.reading import quoted
from homenode.hosts.errors import MeasureError

_PATIENCE_S = 60.0
_PAUSE_S = 0.002
_WAIT_THEN_RUN = 'read _ < "$0"; exec "$@"'


@dataclass(frozen=True)
class Gate:
    """A pipe in the file system."""

    path: Path

    @classmethod
    def made(cls, path: Path) -> Gate:
        """A new pipe."""
        os.mkfifo(path, 0o600)
        return cls(path)

    def before(self, argv: Sequence[str]) -> list[str]:
        """The command that waits here and then becomes `argv`."""
        return ["sh", "-c", _WAIT_THEN_RUN, str(self.path), *argv]

    def reached(self, client: Started) -> int:
        """Wait until the client stands at the gate; the descriptor that holds it there.

        Raises `MeasureError` with the client's words if it dies or is late.
        """
        until = time.monotonic() + _PATIENCE_S
        while client.alive() and time.monotonic() < until:
            try:
                return os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                if error.errno != errno.ENXIO:  # nobody reads yet
                    raise
            time.sleep(_PAUSE_S)
        raise MeasureError(
            "a client did not get ready",
            there=quoted(client.output()),
            next_step="read its output beside the result",
        )


def let_go(held: Sequence[int]) -> None:
    """Open all gates."""
    for descriptor in held:
        os.close(descriptor)
