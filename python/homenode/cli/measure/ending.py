"""The end that Ctrl-C, a terminal that is gone or a request asks for."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

from homenode.cli.output import tell
from homenode.errors import HomenodeError, Interrupted


@contextlib.contextmanager
def told_when_too_early() -> Iterator[None]:
    """An end that was asked for is no fault of the host's, though nothing can be shown."""
    try:
        yield
    except HomenodeError as error:
        if not _asked:
            raise
        raise interrupted(f"interrupted before there was anything to show: {error}") from error


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """A request to end is like Ctrl-C; a second one does not break the tidying."""
    _asked.clear()

    def stop(number: int, _frame: object) -> None:
        if _asked:
            # The terminal may be gone.
            with contextlib.suppress(OSError):
                tell("ending what runs, a moment")
            return
        _asked.append(number)
        raise KeyboardInterrupt

    before = {
        number: signal.signal(number, stop)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        # Under nohup a lost terminal is to be ignored.
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    except KeyboardInterrupt as error:
        raise interrupted(str(error) or "interrupted: nothing is kept") from error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_asked: list[int] = []
"""The signal that asked for the end, if one did."""


def interrupted(said: str) -> Interrupted:
    """Ends as a shell expects of a program that a signal ended."""
    error = Interrupted(said)
    if _asked:
        error.exit_code = 128 + _asked[0]
    return error
