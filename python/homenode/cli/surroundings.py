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
    from types import FrameType
    from typing import IO, Any

_asked: list[int] = []
"""The signal that asked for the end, if one did."""
_PROGRAM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
"""What is missing there is no concern of who called."""
_MEANS = (errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ESTALE)
_RUNTIMES = ("_polars_runtime_32", "_polars_runtime_64", "_polars_runtime_compat")
"""Packages of which one holds the compiled part of polars."""
_SIGNS = (
    "failed to map segment",
    "annot allocate memory",
    "memory allocation",
    "bad_alloc",
    "spawn worker thread",
    "start new thread",
    "failed to spawn thread",
    "Out of Memory Error",
)
"""Words of the loader, the allocators and the makers of threads."""
_TOO_MANY_OPEN = ("Too many open files", "TooManyOpenFiles")
_IMPORTING = "<frozen importlib"
_LOOK_AGAIN_S = 0.02
_MAY_BE_EMPTY = ("--know", "--free")
"""Options with lists of names, of which an empty one says something."""


def listen() -> None:
    """Let a request to end do what Ctrl-C does: what had finished is kept, what is half done goes.

    Who started the program may have it ignore a signal, as `nohup` does; that stays.
    """
    _asked.clear()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _end)
    signal.signal(signal.SIGALRM, _look_again)


def _end(number: int, frame: FrameType | None) -> None:
    _asked.append(number)
    _look_again(number, frame)


def _look_again(_number: int, frame: FrameType | None) -> None:
    """End what runs, but for an import: compiled libraries that are half loaded abort at an error
    that is not of their own.
    """
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORTING):
            signal.setitimer(signal.ITIMER_REAL, _LOOK_AGAIN_S)
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def asked_to_end() -> int | None:
    """The exit code that a shell expects of a program that a signal ended; None if none came."""
    return 128 + _asked[0] if _asked else None


def forget_interrupt() -> None:
    """Let the exit code stand, with no look to come. CPython ends `python -m` with SIGINT once a
    KeyboardInterrupt has left code that was given as text, as part of `dataclasses` is, though it
    was caught later; running such code anew clears that mark (Python/pythonrun.c,
    run_eval_code_obj).
    """
    signal.setitimer(signal.ITIMER_REAL, 0)
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


def lacking(error: BaseException) -> str | None:
    """What to say of an error that comes of too little memory, or of a library that is not whole;
    None for any other. Libraries that fail to be loaded, or to start a thread, say it in many ways.
    """
    text = " ".join(f"{type(error).__name__}: {error}".split())
    if any(sign in text for sign in _TOO_MANY_OPEN):
        return f"too few files may be open at once ({text}); lift the limit (ulimit -n)"
    if isinstance(error, NameError) and _raised_in(error, "polars"):
        # Names of its compiled part, whose failure to be loaded polars passes over in silence.
        text = _why_not_polars() or text
        if not any(sign in text for sign in _SIGNS):
            return f"polars is not whole: {text}; install it anew"
    elif not isinstance(error, MemoryError) and not any(sign in text for sign in _SIGNS):
        return None
    text = text.partition(" Possible solutions")[0]
    return (
        f"there is too little memory, or too few threads may be started ({text}); free some, or "
        "lift the limits (ulimit -v, ulimit -u, those of the container)"
    )


def strange_word(error: BaseException, arguments: Sequence[str]) -> str | None:
    """What to say where a word in another encoding got as far as to what takes UTF-8 only: a text
    that is no path has no business with other bytes.
    """
    for word in arguments:
        try:
            word.encode()
        except UnicodeEncodeError:
            if isinstance(error, UnicodeEncodeError | TypeError):
                return f"{word!a} is not UTF-8; only names of files and folders may be so"
    return None


def _raised_in(error: BaseException, package: str) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = trace.tb_frame.f_globals.get("__name__", "") if trace is not None else ""
    return str(name).split(".")[0] == package


def _why_not_polars() -> str:
    """Why the compiled part of polars cannot be loaded; nothing if it can, or is not there."""
    from importlib import import_module
    from importlib.util import find_spec

    for package in _RUNTIMES:
        if find_spec(package) is None:
            continue
        try:
            import_module(f"{package}._polars_runtime")
        except (ImportError, MemoryError) as error:
            return f"{type(error).__name__}: {error}"
    return ""


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
