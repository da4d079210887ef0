"""The command in a real terminal: what it draws, and how it ends."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from homenode.simulate.kept.kept_run import KeptRun

LIMIT_S = 60.0
"""For all of a test, whatever else the machine does."""
GREYS = {0, 7, 8, 15, 16, 231, *range(232, 256)}
"""Of the 256 colours of a terminal."""
_ESCAPES = re.compile(rb"\x1b(\[[0-9;:?<>=]*[ -/]*[@-~]|\][^\x07]*\x07|[()].|[=>])")


class Terminal:
    """A process on a pseudo-terminal, 80 columns by 24 lines."""

    def __init__(self, words: list[str], folder: Path) -> None:
        self._until = time.monotonic() + LIMIT_S
        self._fd, inner = pty.openpty()
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "homenode", *words],
            cwd=folder,
            env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1"},
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
        )
        os.close(inner)
        self.drawn = b""

    def read(self) -> bool:
        """Take what was drawn; whether there may be more."""
        if not select.select([self._fd], [], [], 0.1)[0]:
            return self.process.poll() is None
        try:
            more = os.read(self._fd, 65_536)
        except OSError:  # the other end is closed
            return False
        self.drawn += more
        return bool(more)

    @property
    def text(self) -> str:
        """What was drawn, without what moves the cursor."""
        return _ESCAPES.sub(b"", self.drawn).decode(errors="replace")

    def wait_for(self, told: str) -> None:
        while told not in self.text:
            assert time.monotonic() < self._until, self.text[-2_000:]
            assert self.read(), self.text[-2_000:]

    def press(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def ended(self) -> int:
        while self.read():
            assert time.monotonic() < self._until, self.text[-2_000:]
        return self.process.wait(max(1.0, self._until - time.monotonic()))

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._fd)


@contextmanager
def on_terminal(folder: Path, *words: str) -> Iterator[Terminal]:
    terminal = Terminal(["top", *words], folder)
    try:
        yield terminal
    finally:
        terminal.close()


def test_a_run_is_drawn_and_left(run: KeptRun) -> None:
    with on_terminal(run.path.parent.parent, run.id, "--paused") as terminal:
        terminal.wait_for("capacity 64")
        terminal.press("p")
        terminal.wait_for("web: 4 virtual processors")
        tints = {int(tint) for tint in re.findall(rb"[34]8;5;(\d+)", terminal.drawn)}
        assert tints <= GREYS, "no colours where NO_COLOR is set"
        terminal.press("q")
        assert terminal.ended() == 0
        assert b"\x1b[?1049l" in terminal.drawn, "the terminal is as it was"


def test_a_signal_ends_it_as_a_shell_expects(run: KeptRun) -> None:
    with on_terminal(run.path.parent.parent, run.id) as terminal:
        terminal.wait_for("capacity 64")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ended() == 128 + signal.SIGTERM
        assert "Traceback" not in terminal.text


def test_a_simulation_is_watched_and_kept(scenario: Path, run: KeptRun, tmp_path: Path) -> None:
    with on_terminal(tmp_path, str(scenario)) as terminal:
        terminal.wait_for(f"kept as {run.id}")
        terminal.press("\x03")
        assert terminal.ended() == 0
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [run.id]


def test_a_simulation_that_fails_says_why(scenario: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "runs"
    blocked.write_text("no folder", encoding="utf-8")
    with on_terminal(tmp_path, str(scenario)) as terminal:
        assert terminal.ended() == 2
        assert "runs" in terminal.text.splitlines()[-1]
        assert "Traceback" not in terminal.text


def test_where_there_is_no_screen_words_are_named(
    homenode: Callable[..., subprocess.CompletedProcess[str]], run: KeptRun
) -> None:
    answer = homenode("top", run.path)
    assert answer.returncode == 2
    assert "this is none" in answer.stderr
    assert f"`homenode show {run.path} --over-time`" in answer.stderr


def test_a_dumb_terminal_is_refused(run: KeptRun, monkeypatch: pytest.MonkeyPatch) -> None:
    from homenode.cli import top
    from homenode.errors import InputError

    monkeypatch.setenv("TERM", "dumb")
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    with pytest.raises(InputError, match=r"TERM=dumb.*show .*--over-time"):
        top.top([run.id], out=str(run.path.parent))
