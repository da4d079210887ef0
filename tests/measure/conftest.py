"""Makes the helpers beside these tests, and those of all tests, importable; holds tests that are
marked `anywhere` to asking the host nothing.

Those are not repeated on a host that was just started and on a busy one (`.ci/run`): who reads no
clock that runs since the start, nothing of /proc and /sys, and starts and meets nobody, answers
there as everywhere.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

OTHERS = {
    "subprocess.Popen", "os.exec", "os.fork", "os.posix_spawn", "os.system", "socket.bind",
    "socket.connect",
}  # fmt: skip
LISTED = {"open", "os.listdir", "os.scandir"}
OF_THE_HOST = ("/proc", "/sys")
CLOCKS = ("monotonic", "monotonic_ns", "clock_gettime", "clock_gettime_ns", "sleep")
"""What begins anew on a fresh host, and what a busy one draws out."""


class Watch:
    """What the test at hand asks of the host, while somebody wants to know, in its own thread."""

    asked: list[str] | None = None
    thread = 0


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if Watch.asked is None or threading.get_ident() != Watch.thread:
        return
    listed = event in LISTED and str(arguments[0]).startswith(OF_THE_HOST)
    if listed or event in OTHERS:
        Watch.asked.append(" ".join([event, *map(str, arguments[:1])]))


sys.addaudithook(_heard)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test that says `anywhere` is one."""
    if item.get_closest_marker("anywhere") is None:
        return (yield)

    own = threading.get_ident()

    def refusing(clock: Callable[..., Any]) -> Callable[..., Any]:
        def answer(*arguments: Any) -> Any:
            if threading.get_ident() != own:
                return clock(*arguments)  # a thread that an earlier test left
            raise AssertionError("a test that is marked `anywhere` reads a clock, or waits")

        return answer

    with pytest.MonkeyPatch.context() as patched:
        for name in CLOCKS:
            patched.setattr(time, name, refusing(getattr(time, name)))
        Watch.thread, Watch.asked = own, (asked := list[str]())
        try:
            answer = yield
        finally:
            Watch.asked = None
    assert asked == [], "it asks the host: it cannot be marked `anywhere`"
    return answer
