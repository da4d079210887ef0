"""What all tests share: where things are, how the command line is called, how chance is tamed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
SHARED_CAPTURES = ROOT.parent / "shared" / "captures"

# The same examples on every machine, and no time limits: a loaded machine is not a failure.
settings.register_profile(
    "house",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")


OF_WHO_RUNS_THEM = (
    *("COLUMNS", "LINES", "TERMINAL_WIDTH"),
    *("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"),
    "HOMENODE_DEBUG",
)
"""Variables that change what rich, typer and homenode print: of a terminal or a service."""


BYTECODE = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Nothing of who runs the tests, and from where, reaches what they look at.

    Tests that `nohup` or a shell's background (`make test &`) started ignore some signals, and
    every program that they start would inherit that. A handler is not inherited: with one that does
    nothing the tests go on as before, and what they start is asked to end as a user would ask.
    """
    for name in OF_WHO_RUNS_THEM:
        os.environ.pop(name, None)
    os.environ["COLUMNS"] = PLAIN["COLUMNS"]  # tables in one piece; who tests widths sets his own
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    if "PYTHONDONTWRITEBYTECODE" in os.environ:
        # The hundred programs that tests start would compile all they import, each anew. Beside
        # the sources nothing is written; workers of pytest-xdist share the folder of their session.
        session.stash[BYTECODE] = kept = tempfile.TemporaryDirectory(prefix="homenode-bytecode-")
        os.environ["PYTHONPYCACHEPREFIX"] = kept.name
        del os.environ["PYTHONDONTWRITEBYTECODE"]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Nothing stays of it."""
    if BYTECODE in session.stash:
        session.stash[BYTECODE].cleanup()


def pytest_itemcollected(item: pytest.Item) -> None:
    """What a daily run leaves out says why."""
    for mark in item.iter_markers("slow"):
        if not mark.args:
            raise pytest.UsageError(f"{item.nodeid}: write @pytest.mark.slow(why)")


@pytest.fixture(scope="session")
def root() -> Path:
    """Root folder of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared_captures() -> Path:
    """Recordings of real machines: not shipped; a test without them is skipped, saying so."""
    if not SHARED_CAPTURES.is_dir():
        pytest.skip("real recordings are not shipped: no ../shared/captures beside the repository")
    return SHARED_CAPTURES


PLAIN = {"COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb"}
"""Surroundings in which output is plain and of one width everywhere."""
os.environ.update(PLAIN)


@pytest.fixture
def homenode(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Call the installed command in a process of its own, in an empty folder:
    `homenode("run", path).stdout`. Its start takes a second: `command` is for what needs none.
    """

    def call(*arguments: str | Path, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "homenode", *map(str, arguments)],
            cwd=cwd,
            env={**os.environ, **PLAIN},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return call


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The same as `homenode`, but called in this process: what it prints and how it ends."""
    from homenode.cli import call

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        words, out, err = [str(one) for one in arguments], io.StringIO(), io.StringIO()
        with (
            monkeypatch.context() as here,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            here.chdir(tmp_path)
            for name, value in PLAIN.items():
                here.setenv(name, value)
            code = call(words)
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    return run


ONE_CORE = """\
name = "one"

[machine]
model = "ibm-power-770"

[[partition]]
name = "one"
processors = { mode = "dedicated", cores = 1 }
memory = "8 GiB"
workload = { kind = "loops", count = 1, endless = true, profile = "oltp" }
"""


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The engine's input for a partition of one core."""
    from homenode.model.scenario import load

    path = tmp_path_factory.mktemp("base") / "one.toml"
    path.write_text(ONE_CORE, encoding="utf-8")
    loaded: dict[str, Any] = json.loads(json.dumps(load(path).spec()))
    return loaded
