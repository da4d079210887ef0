"""The guard of a measurement: a process beside it that ends all that was started, should this
process be killed in a way that leaves it no time to do so (`kill -9`, no memory left).

The kernel ends our direct children with us (PR_SET_PDEATHSIG), but neither their children nor
daemons that left their family. The guard sleeps in a session of its own and costs no processor
time while something is measured.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from homenode.hosts.errors import MeasureError
from homenode.hosts.live.guard_process import ENDING, row_of

MARK = "HOMENODE_MEASUREMENT"
"""Variable by which programs are known that left their family and are in no control group. Always
of one length: the size of the environment shifts a program's stack.
"""
_MARK_BYTES = 16
_END_LIMIT_S = 5.0


class Guard:
    """Started before anything else is, closed when nothing runs any more."""

    def __init__(self, folders: Iterable[Path], enabled: Iterable[tuple[Path, str]] = ()) -> None:
        script = Path(__file__).with_name("guard_process.py")
        # What it ignores as soon as it runs waits until then: it inherits what this thread blocks.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(script), str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd="/",
                # Some interpreters are not found by the loader without it.
                env={k: v for k, v in os.environ.items() if k == "LD_LIBRARY_PATH"},
                start_new_session=True,
            )
        except OSError as error:
            raise MeasureError(
                f"the process that tidies up after this one cannot be started: {error.strerror}",
                next_step="see whether there is memory and room for more processes",
            ) from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.pid = self._process.pid
        self.env = {MARK: secrets.token_hex(_MARK_BYTES)}
        """What programs get into their environment."""
        self._tell(f"mark {MARK}={self.env[MARK]}")
        for folder in folders:
            self._tell(f"folder {folder}")
        for path, controller in enabled:
            self._tell(f"enabled {path} {controller}")

    def started(self, pid: int) -> None:
        """A process that leads a session of its own."""
        row = row_of(pid)
        if row is not None:
            self._tell(f"started {pid} {row.start}")

    def forget(self, pids: Iterable[int]) -> None:
        """Processes of which nothing runs any more."""
        for pid in pids:
            self._tell(f"forget {pid}")

    def close(self) -> None:
        """Nothing runs any more: let it go."""
        self._tell("done")
        with suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]
        try:
            self._process.wait(timeout=_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _tell(self, line: str) -> None:
        # One that somebody ended is missed only if we are killed too.
        with suppress(OSError, ValueError):
            self._process.stdin.write(os.fsencode(line) + b"\n")  # type: ignore[union-attr]
