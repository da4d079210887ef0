"""One kernel in a process of its own: `python -m homenode.hosts.kernels NAME PARAMETERS [START]`.

The parameters are a JSON object, the figures are printed as one. With START, nanoseconds of the
monotonic clock, it is loaded by then and waits, so that what is counted from then on is the kernel.
Little is imported, and no thread is started, so that what the kernel reads of its process
(switches, run delay, processor time) is the kernel's. Ends with 2 for wrong parameters, with 1
where the host refuses.
"""

from __future__ import annotations

import signal
import sys
import time

from homenode import _engine


def main(arguments: list[str]) -> int:
    """Run the kernel named, print what it found; what is wrong goes to the error stream."""
    wanted = 1 <= len(arguments) <= 3 and all(word.isdecimal() for word in arguments[2:])
    if not wanted:
        names = ", ".join(_engine.KERNELS)
        print(f"give a kernel ({names}) and its parameters as JSON", file=sys.stderr)
        return 2
    # A kernel does not come back to the interpreter before its end: signals end it at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for start in arguments[2:]:
        time.sleep(max(0.0, (int(start) - time.monotonic_ns()) / 1e9))
    try:
        found = _engine.kernel(arguments[0], arguments[1] if len(arguments) > 1 else "{}")
    except _engine.KernelError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    print(found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
