"""A real browser against a real server, both started here, on loopback, and ended by their ids.

The server is that of the checkout, or of the program that `HOMENODE_PROGRAM` names: `make
test-wheel` has the one of an installed wheel tested. Where no fitting browser can be had the tests
are skipped, with the reason.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import playwright
import pytest
from playwright.sync_api import Browser, Error, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parent))

from desk import ELSEWHERE, TOKEN, Desk

PATIENCE_S = 60
_START_S = 300
"""Until a server answers: on a busy machine its imports wait too."""
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_APART = 6
"""How many major versions a browser may be off what Playwright was made for, where a trial works:
distributions follow some months behind, what is used here is old, and equal versions are rare.
"""
expect.set_options(timeout=1000 * PATIENCE_S)


PROGRAM = os.environ.get("HOMENODE_PROGRAM")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with nothing kept."""
    with _served(tmp_path_factory.mktemp("served")) as address:
        yield address


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """That of one that asks for `TOKEN`."""
    with _served(tmp_path_factory.mktemp("guarded"), "--token", TOKEN) as address:
        yield address


@contextlib.contextmanager
def _served(folder: Path, *more: str) -> Iterator[str]:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    program = [PROGRAM] if PROGRAM else [sys.executable, "-m", "homenode"]
    words = ["serve", "--no-browser", "--port", str(port), "--out", "runs", *more]
    # An installed program is told of nothing but itself.
    world = {"PATH": str(Path(PROGRAM).parent), "HOME": str(folder)} if PROGRAM else None
    log = (folder / "log").open("w+")
    with (
        log,
        subprocess.Popen(
            [*program, *words], cwd=folder, env=world, stdout=log, stderr=subprocess.STDOUT
        ) as running,
    ):
        try:
            _wait(f"http://127.0.0.1:{port}", running, folder / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            running.terminate()
            try:
                running.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                running.kill()


def _wait(address: str, running: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_S
    while time.monotonic() < end:
        assert running.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(f"{address}/api/start", timeout=PATIENCE_S):
                return
        except urllib.error.HTTPError:  # it asks for a token
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"no answer of the server: {log.read_text()}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium, if it is near enough to the one that Playwright was made for."""
    path = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(_NAMES)} is on the path")
    there, wanted = _version(path), _wanted()
    both = f"{path} is version {there or 'unknown'}, Playwright was made for Chromium {wanted}"
    if there is None or abs(there - wanted) > _APART:
        pytest.skip(f"no fitting browser: {both}")
    with sync_playwright() as driver:
        try:
            known = f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1"
            found = driver.chromium.launch(executable_path=path, args=["--no-sandbox", known])
            page = found.new_page()
            page.set_content("<button onclick='this.remove()'>try</button>")
            page.get_by_role("button").click()
            expect(page.get_by_role("button")).to_have_count(0)
            page.close()
        except (Error, AssertionError) as error:
            pytest.skip(f"no fitting browser: {both}; a trial failed: {error}")
        yield found
        found.close()


def _version(path: str) -> int | None:
    """Its major version, if it says one."""
    done = subprocess.run(
        [path, "--version"], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    found = re.search(r"(\d+)\.\d+\.\d+", done.stdout)
    return int(found[1]) if found else None


def _wanted() -> int:
    listed = Path(playwright.__file__).parent / "driver" / "package" / "browsers.json"
    known = json.loads(listed.read_text(encoding="utf-8"))["browsers"]
    version: str = next(one["browserVersion"] for one in known if one["name"] == "chromium")
    return int(version.split(".", maxsplit=1)[0])


@pytest.fixture
def opened(browser: Browser, server: str, request: pytest.FixtureRequest) -> Iterator[Desk]:
    """A fresh page; fails the test where a script fails or something is asked of elsewhere.

    `@pytest.mark.parametrize("opened", [{...}], indirect=True)` gives settings of the browser.
    """
    faults: list[str] = []
    context = browser.new_context(**getattr(request, "param", {}))
    context.set_default_timeout(1000 * PATIENCE_S)
    page = context.new_page()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda told: faults.append(told.text) if _is_fault(told.text) else None)
    page.on("request", lambda one: _own(one.url, server, faults))
    yield Desk(page, server)
    context.close()
    assert not faults


def _is_fault(text: str) -> bool:
    return "Content Security Policy" in text or "Uncaught" in text


def _own(address: str, server: str, faults: list[str]) -> None:
    if not address.startswith((f"{server}/", "data:", "blob:")):
        faults.append(f"asked of elsewhere: {address}")
