"""The command line: words to calls of the other rooms. Entry point: `main`, where every command
begins and where every error ends as one message. Knows all.

Exit codes: 0 done, 2 wrong input (the message says what, where and what next), 70 an error of
homenode's own, 130 stopped with Ctrl-C, 143 and 129 with SIGTERM and SIGHUP.
"""

import errno
import gc
import os
import sys

from homenode.cli.surroundings import (
    asked_to_end,
    empty_word,
    forget_interrupt,
    lacking,
    listen,
    open_streams,
    prepare_streams,
    refused,
    strange_word,
)

TYPE_CHECKING = False
# What is imported here, `homenode --version` pays for.
if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_WRONG_INPUT = 2
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
DEBUG_VARIABLE = "HOMENODE_DEBUG"
COMPLETE_VARIABLE = "_HOMENODE_COMPLETE"
"""Set by the shell's own script when it asks how a word goes on."""
INTERRUPTED = "interrupted"
_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""More than Python's 700: what is loaded stays; looking for what may go took an eighth of it."""
_OUTPUT_FAILS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Reasons for which what a command prints cannot be written."""


def main(arguments: "Sequence[str] | None" = None) -> None:
    """The console script: run a command and end the process with its exit code."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    try:
        listen()
        open_streams()
        prepare_streams()
        code = call(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:  # before a command could see it
        code = _fail(INTERRUPTED, EXIT_INTERRUPTED)
    if code in (EXIT_INTERRUPTED, EXIT_WRONG_INPUT):
        code = asked_to_end() or code
    forget_interrupt()
    sys.exit(code)


def call(arguments: list[str]) -> int:
    """Run a command; the exit code."""
    open_streams()
    told = empty_word(arguments)
    if told is not None:
        return _fail(told, EXIT_WRONG_INPUT)
    try:
        return _version() if arguments == ["--version"] else _command(arguments)
    except OSError as error:
        return _of_the_system(error, arguments)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a panic of the engine is no Exception
        if asked_to_end() is not None:
            # Libraries make errors of their own of what a signal raises inside them.
            return _fail(INTERRUPTED, EXIT_INTERRUPTED)
        return _internal(error, arguments)


def _version() -> int:
    """The one answer that needs nothing of the command line's machinery."""
    from homenode.version import program_version

    sys.stdout.write(f"homenode {program_version()}\n")
    sys.stdout.flush()
    return 0


def _command(arguments: list[str]) -> int:
    """Any other command: what it is told of its words, its ends and its errors."""
    import typer

    from homenode.cli.app import app
    from homenode.errors import HomenodeError

    try:
        command = typer.main.get_command(app)
        if COMPLETE_VARIABLE in os.environ:
            command.main(arguments, prog_name="homenode")
        with command.make_context("homenode", arguments or ["--help"]) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as leave:
        # What typer itself could not do, such as to tell which shell is running.
        return EXIT_WRONG_INPUT if leave.exit_code == 1 else leave.exit_code
    except HomenodeError as error:
        return _fail(str(error), error.exit_code)
    except typer.TyperException as error:
        import shlex

        asked = shlex.join(["homenode", *arguments])
        return _fail(
            f"{error.format_message().rstrip('.')} in `{asked}`; --help says more", EXIT_WRONG_INPUT
        )
    except (KeyboardInterrupt, typer.Abort) as error:
        return _fail(str(error) or INTERRUPTED, EXIT_INTERRUPTED)
    return 0


def _of_the_system(error: OSError, arguments: "Sequence[str]") -> int:
    """What the system refuses: a file, a word as its name, what we print; else a fault of ours."""
    if isinstance(error, BrokenPipeError):
        # Whoever read our output has seen enough.
        _drop_output()
        return 0
    if error.errno == errno.ENAMETOOLONG and error.filename:
        shown = str(error.filename)[:60]
        return _fail(f"{shown}... is too long for the name of a file", EXIT_WRONG_INPUT)
    told = refused(error)
    if told is not None:
        return _fail(told, EXIT_WRONG_INPUT)
    if error.errno not in _OUTPUT_FAILS:
        return _internal(error, arguments)
    _drop_output()
    return _fail(
        f"the output cannot be written: {error.strerror}; free some space or send it elsewhere",
        EXIT_WRONG_INPUT,
    )


def _drop_output() -> None:
    """Keep Python from complaining when it closes stdout."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _internal(error: BaseException, arguments: "Sequence[str]") -> int:
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        traceback.print_exception(error)
    told = lacking(error) or strange_word(error, arguments)
    if told is not None:
        return _fail(told, EXIT_WRONG_INPUT)
    told = " ".join(f"{type(error).__name__}: {error}".split())
    return _fail(
        f"internal error: {told}; this is homenode's fault, please report it "
        f"({DEBUG_VARIABLE}=1 shows where it happened)",
        EXIT_INTERNAL,
    )


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"homenode: {message}\n")
    return code
