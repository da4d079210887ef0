"""Who works a sweep off: this process alone, or others beside it. A worker that dies is replaced,
and what it had is given to another.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import Protocol, cast

from homenode.simulate.sweep.order import AnyOrder, Batch, Reply
from homenode.simulate.sweep.worker import refusal, reply_to, worker_of


class Crew(Protocol):
    """Workers, however they are reached."""

    size: int
    """How many batches may be out at once."""

    def send(self, batch: Batch) -> None:
        """Give a batch out; at most `size` are out."""
        ...

    def replies(self) -> Iterator[tuple[Batch, Reply | None]]:
        """What came back within a moment; None for a batch that was lost with its worker."""
        ...

    def stop(self) -> None:
        """Ask those at work to end soon; what they have done still comes back."""
        ...

    def close(self) -> None:
        """End all of them."""
        ...


class Alone:
    """Nobody but this process."""

    size = 1

    def __init__(self, order: AnyOrder, stop: threading.Event | None = None) -> None:
        self._worker = worker_of(order)
        self._stop = stop or threading.Event()
        self._batch: Batch | None = None

    def send(self, batch: Batch) -> None:
        """See `Crew`."""
        self._batch = batch

    def replies(self) -> Iterator[tuple[Batch, Reply | None]]:
        """See `Crew`."""
        if self._batch is not None:
            batch, self._batch = self._batch, None
            yield batch, reply_to(self._worker, batch, self._stop)
            if self._stop.is_set():
                raise KeyboardInterrupt

    def stop(self) -> None:
        """See `Crew`."""
        self._stop.set()

    def close(self) -> None:
        """See `Crew`."""


class Processes:
    """Processes of this machine, each at the other end of a socket.

    They are started as programs of their own and not by `multiprocessing`, whose children run the
    caller's script once more unless it is written for that.
    """

    _LOOK_S = 0.2

    def __init__(self, order: AnyOrder, count: int) -> None:
        self.size = count
        self._order = order
        self._crew: dict[Connection, tuple[subprocess.Popen[bytes], Batch | None]] = {}

    def send(self, batch: Batch) -> None:
        """See `Crew`."""
        idle = next((pipe for pipe, (_, out) in self._crew.items() if out is None), None)
        pipe = idle or self._start()
        process, _ = self._crew[pipe]
        self._crew[pipe] = (process, batch)
        with contextlib.suppress(OSError):  # it is dead: that is seen when it is waited for
            pipe.send(batch)

    def replies(self) -> Iterator[tuple[Batch, Reply | None]]:
        """See `Crew`."""
        for pipe in cast("list[Connection]", wait(list(self._crew), self._LOOK_S)):
            process, batch = self._crew[pipe]
            reply: Reply | None = None
            try:
                reply = pipe.recv()
                self._crew[pipe] = (process, None)
            except (EOFError, OSError):
                del self._crew[pipe]
                pipe.close()
                process.kill()
                process.wait()
            if batch is not None:
                yield batch, reply

    def stop(self) -> None:
        """See `Crew`."""
        for process, _ in self._crew.values():
            process.terminate()

    def close(self) -> None:
        """See `Crew`."""
        for pipe, (process, _) in self._crew.items():
            pipe.close()
            process.kill()
        for process, _ in self._crew.values():
            process.wait()
        self._crew.clear()

    def _start(self) -> Connection:
        ours, theirs = socket.socketpair()
        with theirs:
            program = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; "
            # It ignores Ctrl-C once it serves; until then that waits: what is blocked is inherited.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            try:
                process = subprocess.Popen(
                    [sys.executable, "-c", f"{program}serve({theirs.fileno()})"],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                )
                pipe = Connection(ours.detach())
                self._crew[pipe] = (process, None)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        # Only the worker has its end now: when it dies, ours is at its end.
        with contextlib.suppress(OSError):
            pipe.send(self._order)
        return pipe


def serve(number: int) -> None:
    """A worker, at the file descriptor of its socket: the order, then batches come until the socket
    ends, with who drives the sweep or after him.
    """
    stop = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever presses Ctrl-C is answered by the driver
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    pipe = Connection(number)
    with contextlib.suppress(EOFError, OSError):
        order = pipe.recv()
        refused = refusal(order.build)
        worker = None if refused else worker_of(order)
        while True:
            batch = pipe.recv()
            pipe.send(refused if worker is None else reply_to(worker, batch, stop))
