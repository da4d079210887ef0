"""Processes of a measurement: started into their groups before their first instruction, ended by
their ids, with what the kernel says of them at the end.

A shell joins the groups and then becomes the program: nothing of Python runs between fork and
exec, and the program's children are in the groups from the start. Should this process die, the
kernel ends its children (PR_SET_PDEATHSIG).
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from homenode.hosts.errors import MeasureError
from homenode.hosts.live.cgroups import cpu_list, gone
from homenode.hosts.live.tasks import TaskTotals, account_of, accounts

_NS = 1e-9
_JOIN = (
    'n=$1; shift; while [ "$n" -gt 0 ]; do echo 0 > "$1" || exit 125; shift; n=$((n - 1)); done; '
    'exec "$@"'
)
_LOOK_EVERY_S = 0.25
TAIL_BYTES = 600


@dataclass(frozen=True)
class Ended:
    """How a process ended, and its account."""

    code: int
    """Exit code; minus the signal's number if one ended it."""
    seconds: float
    """From start to end [s]."""
    user_s: float
    system_s: float
    """Processor time of it and of its children that it waited for [s]."""
    voluntary: int
    involuntary: int
    """Context switches of the same."""
    run_s: float
    """Time on a processor of its first thread [s], exact."""
    run_delay_s: float
    """Time its first thread was runnable and waited [s], throttling included."""


@dataclass
class Launch:
    """Everything about a start but the words of the command."""

    joins: Sequence[Path] = ()
    enter: Sequence[str] = ()
    """Words in front that enter a namespace."""
    cpus: Sequence[int] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    user: str | None = None
    stdin: Path | None = None
    stdout: Path | None = None
    stderr: Path | None = None


class Process:
    """A started process; `wait` or `end` it."""

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        argv: Sequence[str],
        launch: Launch,
        started: float,
    ) -> None:
        self.argv = tuple(argv)
        self.pid = popen.pid
        self.launch = launch
        self.started = started
        """By the monotonic clock, before it was made: all that it does comes after."""
        self.ended: Ended | None = None
        self.look: Callable[[], None] = lambda: None
        self.reaped: Callable[[Ended], None] = lambda _: None
        self._popen = popen
        self._descriptor: int | None = None
        with suppress(OSError, AttributeError):
            self._descriptor = os.pidfd_open(popen.pid)

    def alive(self) -> bool:
        """Whether it still runs."""
        return self.ended is None and not gone(self.pid)

    def tasks(self) -> TaskTotals:
        """What its living threads have done so far."""
        every = [account for _, account in accounts([self.pid])]
        return TaskTotals(
            sum(a.run for a in every) * _NS,
            sum(a.delay for a in every) * _NS,
            sum(a.slices for a in every),
            sum(a.voluntary for a in every),
            sum(a.involuntary for a in every),
            len(every),
        )

    def output(self) -> bytes:
        """What it has printed so far, both streams, as far as they went to files."""
        return b"".join(read(path) for path in (self.launch.stdout, self.launch.stderr))

    def wait(self, *, limit_s: float) -> Ended:
        """Wait for its end.

        Raises `MeasureError` when it is late; it still runs then.
        """
        until = time.monotonic() + limit_s
        while not self._over(min(_LOOK_EVERY_S, max(0.0, until - time.monotonic()))):
            self.look()
            if time.monotonic() >= until:
                raise MeasureError(
                    f"{Path(self.argv[0]).name} did not end within {limit_s:g} s",
                    there=told(self.output()),
                    next_step="see whether it waits for something, or ask for less work",
                )
        return self.reap()

    def _over(self, seconds: float) -> bool:
        """Whether it has ended; waits up to so long."""
        if self.ended is not None:
            return True
        if self._descriptor is not None:
            # Not select: hundreds of clients are more descriptors than it takes.
            waiting = select.poll()
            waiting.register(self._descriptor, select.POLLIN)
            return bool(waiting.poll(seconds * 1000))
        until = time.monotonic() + seconds
        while not (over := gone(self.pid)) and time.monotonic() < until:
            time.sleep(0.002)
        return over

    def reap(self) -> Ended:
        """Take the account of a process that has ended, and let its remains go."""
        if self.ended is not None:
            return self.ended
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        seconds = time.monotonic() - self.started
        # Remains still have their account in /proc; reaped ones have not.
        last = account_of(Path(f"/proc/{self.pid}/task/{self.pid}"))
        _, status, used = os.wait4(self.pid, 0)
        self._popen.returncode = os.waitstatus_to_exitcode(status)
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        self.ended = Ended(
            code=self._popen.returncode,
            seconds=seconds,
            user_s=used.ru_utime,
            system_s=used.ru_stime,
            voluntary=used.ru_nvcsw,
            involuntary=used.ru_nivcsw,
            run_s=0.0 if last is None else last.run * _NS,
            run_delay_s=0.0 if last is None else last.delay * _NS,
        )
        self.reaped(self.ended)
        return self.ended

    def end(self, *, patience_s: float = 5.0) -> Ended:
        """Ask it to end, then force it."""
        for number, seconds in ((signal.SIGTERM, patience_s), (signal.SIGKILL, 5.0)):
            if self.ended is not None or self._over(0.0):
                break
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)
            self._over(seconds)
        if self.ended is None and not self._over(0.0):
            raise MeasureError(
                f"process {self.pid} ({self.argv[0]}) does not end",
                next_step=f"see `ps -o pid,stat,wchan,cmd -p {self.pid}`",
            )
        return self.reap()


def start(argv: Sequence[str], launch: Launch) -> Process:
    """Start a program as told.

    Raises `MeasureError` for a program or user that is not there.
    """
    words = [*launch.enter, *_as_user(launch.user)]
    if launch.cpus is not None:
        words += ["taskset", "-c", cpu_list(launch.cpus)]
    words += argv
    joins = [str(path) for path in launch.joins]
    # Before, not after: a runner that gets no processor then would give it less than it took.
    started = time.monotonic()
    with _Streams(launch) as (stdin, stdout, stderr):
        try:
            popen = subprocess.Popen(
                ["/bin/sh", "-c", _JOIN, "sh", str(len(joins)), *joins, *words],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=dict(launch.env),
                cwd=launch.cwd,
                start_new_session=True,
                close_fds=True,
            )
        except OSError as error:
            raise MeasureError(
                f"{argv[0]} cannot be started: {error.strerror}",
                there=f"in {launch.cwd}" if launch.cwd else None,
                next_step="see whether there is memory and room for more processes",
            ) from error
    return Process(popen, argv, launch, started)


def _as_user(user: str | None) -> list[str]:
    """The words that end a process with us and, for root, run it as someone else."""
    if shutil.which("setpriv") is None:
        if user is None:
            return []
        raise MeasureError(
            f"nothing here can start a program as {user}",
            asked="setpriv",
            next_step="install util-linux",
        )
    words = ["setpriv", "--pdeathsig", "KILL"]
    if user is None or os.geteuid() != 0:
        return words
    import pwd

    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        raise MeasureError(
            f"there is no user {user} on this host",
            next_step="install the package that brings it, or run not as root",
        ) from None
    return [*words, f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--init-groups"]


class _Streams:
    """The files of a start, closed in this process once the child has them."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> tuple[IO[bytes] | int, IO[bytes] | int, IO[bytes] | int]:
        launch = self._launch
        return (
            self._open(launch.stdin, "rb"),
            self._open(launch.stdout, "ab"),
            self._open(launch.stderr, "ab"),
        )

    def _open(self, path: Path | None, mode: str) -> IO[bytes] | int:
        if path is None:
            return subprocess.DEVNULL
        file: IO[bytes] = path.open(mode)
        self._files.append(file)
        return file

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()


def read(path: Path | None, most: int = 64 * 1024 * 1024) -> bytes:
    """What a file holds by now, up to a bound."""
    if path is None:
        return b""
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError:
        return b""


def told(output: bytes) -> str:
    """The end of what a program printed, for a message."""
    text = " ".join(output[-4 * TAIL_BYTES :].decode("utf-8", "replace").split())
    if not text:
        return "it printed nothing"
    cut = text[-TAIL_BYTES:]
    return f"it printed: {'...' if len(cut) < len(text) else ''}{cut}"
