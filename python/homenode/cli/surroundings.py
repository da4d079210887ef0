"""What the command line makes of where it was started: signals that ask for its end, streams that
cannot take what is written, words that a shell left empty, files that are not there any more.
"""

from __future__ import annotations

import errno
import os
import signal
import sys

TYPE_CHECKING = False
# What is imported here, every command pays for.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO, Any

_asked: list[int] = []
"""The signal that asked for the end, if one did."""
_PROGRAM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
"""What is missing there is no concern of who called."""
_MEANS = (errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ESTALE)
_MAY_BE_EMPTY = ("--know", "--free")
"""Options with lists of names, of which an empty one says something."""


def listen() -> None:
    """Let a request to end do what Ctrl-C does: what had finished is kept, what is half done goes.

    Who started the program may have it ignore a signal, as `nohup` does; that stays.
    """
    _asked.clear()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _frame: object) -> None:
    _asked.append(number)
    raise KeyboardInterrupt


def asked_to_end() -> int | None:
    """The exit code that a shell expects of a program that a signal ended; None if none came."""
    return 128 + _asked[0] if _asked else None


def forget_interrupt() -> None:
    """Let the exit code stand. CPython ends `python -m` with SIGINT once a KeyboardInterrupt has
    left code that was given as text, as part of `dataclasses` is, though it was caught later;
    running such code anew clears that mark (Python/pythonrun.c, run_eval_code_obj).
    """
    exec("")  # noqa: S102 - nothing


def open_streams() -> None:
    """Streams that whoever called has closed lead nowhere."""
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:
            setattr(sys, stream, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def prepare_streams() -> None:
    """Characters that stdout cannot show are written as escapes; what stderr cannot take is lost,
    and the result stands.
    """
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    sys.stderr = Remarks(sys.stderr)


class Remarks:
    """A stream whose failures are nobody's concern: the disk behind it is full, the terminal is
    gone.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write what can be written."""
        try:
            return self._stream.write(text)
        except (OSError, ValueError):
            return len(text)

    def flush(self) -> None:
        """Write what waits, if it can be written."""
        try:
            self._stream.flush()
        except (OSError, ValueError):
            return

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def empty_word(arguments: Sequence[str]) -> str | None:
    """What is wrong with a word that holds nothing, most often of a variable that is not set."""
    before = ""
    for number, word in enumerate(arguments, start=1):
        option, equals, value = word.partition("=")
        if word and not (word.startswith("--") and equals and not value):
            before = word
            continue
        named = option or before
        if named not in _MAY_BE_EMPTY:
            place = f"the word after {named}" if named.startswith("-") else f"word {number}"
            return f"{place} is empty; is a variable of the shell not set?"
        before = ""
    return None


def refused(error: OSError) -> str | None:
    """What the system refuses of a file or of its means; None where the program is at fault."""
    reason = error.strerror or str(error)
    if error.filename is not None:
        if isinstance(error.filename, int):
            return None
        file = os.path.abspath(os.fsdecode(error.filename))  # noqa: PTH100
        if file.startswith(_PROGRAM + os.sep):
            return None
        gone = isinstance(error, FileNotFoundError)
        question = "; was something deleted while it was read?" if gone else ""
        return f"{os.fsdecode(error.filename)}: {reason}{question}"
    if isinstance(error, FileNotFoundError):  # in the words of a library
        return f"{reason}; was something deleted while it was read?"
    return f"the system refuses: {reason}" if error.errno in _MEANS else None
