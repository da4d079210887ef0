"""The command line. `main` is where every command begins and where every error ends as one message.

Exit codes: 0 done, 2 wrong input (the message says what, where and what next), 70 an error of
homenode's own, 130 stopped with Ctrl-C.
"""

from __future__ import annotations

import os
import shlex
import sys
import traceback
from collections.abc import Sequence

from homenode.errors import HomenodeError

EXIT_WRONG_INPUT = 2
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
DEBUG_VARIABLE = "HOMENODE_DEBUG"


def main(arguments: Sequence[str] | None = None) -> None:
    """The console script: run a command and end the process with its exit code."""
    sys.exit(call(sys.argv[1:] if arguments is None else list(arguments)))


def call(arguments: list[str]) -> int:
    """Run a command; the exit code."""
    import typer

    try:
        from homenode.cli.app import app

        command = typer.main.get_command(app)
        with command.make_context("homenode", list(arguments) or ["--help"]) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as leave:
        return leave.exit_code
    except HomenodeError as error:
        return _fail(str(error), error.exit_code)
    except typer.TyperException as error:
        asked = shlex.join(["homenode", *arguments])
        return _fail(f"{error.format_message()} in `{asked}`; --help says more", EXIT_WRONG_INPUT)
    except (KeyboardInterrupt, typer.Abort) as error:
        return _fail(str(error) or "interrupted: nothing was kept", EXIT_INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has seen enough; keep Python from complaining when it closes
        # stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - a panic of the engine is no Exception
        if os.environ.get(DEBUG_VARIABLE):
            traceback.print_exc()
        told = " ".join(f"{type(error).__name__}: {error}".split())
        return _fail(
            f"internal error: {told}; this is homenode's fault, please report it "
            f"({DEBUG_VARIABLE}=1 shows where it happened)",
            EXIT_INTERNAL,
        )
    return 0


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"homenode: {message}\n")
    return code
