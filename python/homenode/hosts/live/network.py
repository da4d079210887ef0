"""A network namespace with nothing but loopback, so that servers are out of everybody's reach.

Where we are not root, a user namespace goes with it; the user stays the same in it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from homenode.hosts.errors import MeasureError
from homenode.hosts.live.processes import Process, told

_START_LIMIT_S = 15.0
_LISTENS = "0A"


class Loopback:
    """A namespace, held open by a process of its own."""

    def __init__(self) -> None:
        for program in ("unshare", "nsenter"):
            if shutil.which(program) is None:
                raise MeasureError(
                    f"{program} is missing: it makes the network namespace",
                    next_step="install util-linux",
                )
        self._root = os.geteuid() == 0
        words = ["unshare", "-n"]
        if not self._root:
            words += ["--map-current-user", "--keep-caps"]
        holder = Path(__file__).with_name("loopback.py")
        self._process = subprocess.Popen(
            [*words, sys.executable, "-I", "-S", str(holder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        answer = self._process.stdout
        if answer is None or answer.readline().strip() != b"up":
            _, errors = self._process.communicate(timeout=_START_LIMIT_S)
            raise MeasureError(
                "no network namespace can be made on this host",
                there=told(errors),
                next_step="run as root, or let users make namespaces "
                "(sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces)",
            )

    @property
    def pid(self) -> int:
        """The process that holds it."""
        return self._process.pid

    def enter(self) -> list[str]:
        """Words in front of a command that runs in it."""
        words = ["nsenter", "-t", str(self.pid), "-n"]
        return words if self._root else [*words, "-U", "--preserve-credentials"]

    def close(self) -> None:
        """Let it go; nothing may run in it."""
        self._process.stdin.close()  # type: ignore[union-attr]
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


def listening(port: int, pid: int | str = "self") -> bool:
    """Whether something listens on a TCP port, in the network namespace of a process."""
    return _LISTENS in _states(port, pid)


def taken(port: int, pid: int | str = "self") -> bool:
    """Whether a TCP port is in anybody's use there, connections that wait for their end among them:
    servers that do not say that they share it are refused.
    """
    return bool(_states(port, pid))


def _states(port: int, pid: int | str) -> set[str]:
    """Of all that has this port on its side."""
    found = set()
    for table in ("tcp", "tcp6"):
        try:
            lines = Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if int(fields[1].rpartition(":")[2], 16) == port:
                found.add(fields[3])
    return found


def wait_for_port(port: int, *, limit_s: float, pid: int | str, of: Process | None) -> None:
    """Wait until something listens.

    Raises `MeasureError` at once when the process that should has ended, else when it is late.
    """
    until = time.monotonic() + limit_s
    while not listening(port, pid):
        if of is not None and not of.alive():
            raise MeasureError(
                f"{Path(of.argv[0]).name} ended before it listened on port {port}",
                there=told(of.output()),
                next_step="see whether the port is taken or its settings are wrong",
            )
        if time.monotonic() > until:
            raise MeasureError(
                f"nothing listens on port {port} after {limit_s:g} s",
                there=None if of is None else told(of.output()),
                next_step="see whether the server needs longer, or listens elsewhere",
            )
        time.sleep(0.02)
    if of is not None and not of.alive():
        raise MeasureError(
            f"{Path(of.argv[0]).name} ended, and something else listens on port {port}",
            there=told(of.output()),
            next_step="see `ss -ltnp` for who does, and measure again",
        )
