"""A server in this process, and visitors of it."""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from homenode.serve.app import application
from homenode.serve.patience import Patience
from homenode.serve.workspace import Workspace

PATIENCE_S = 60
TOKEN = "abcdefghijklmnopqrst"
SMALL = """\
name = "small"

[machine]
model = "ibm-power-770"

[run]
duration = "0.2 s"
warmup = "0.1 s"

[[partition]]
name = "one"
home = "drawer0"
processors = { mode = "shared", entitlement = 2, virtual = 2 }
memory = "8 GiB"
workload = { kind = "loops", count = 2, endless = true, profile = "oltp" }
"""


class Visitor:
    """A browser of somebody's: sends his cookie, and JSON as the page does."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.headers = {"cookie": f"homenode-visitor={secrets.token_hex(16)}"}

    def get(self, path: str, **more: Any) -> Any:
        """Ask for something."""
        return self.client.get(path, headers={**self.headers, **more})

    def ask(self, path: str, body: object, **more: Any) -> Any:
        """Send JSON."""
        headers = {**self.headers, "content-type": "application/json", **more}
        return self.client.post(path, content=json.dumps(body).encode(), headers=headers)

    def send(self, path: str, content: bytes, **more: str) -> Any:
        """Send a file."""
        headers = {**self.headers, "content-type": "application/octet-stream"}
        headers |= {key.replace("_", "-"): value for key, value in more.items()}
        return self.client.post(path, content=content, headers=headers)

    def ended(self, path: str, body: object) -> tuple[str, dict[str, Any]]:
        """How a job ended: its last event."""
        begun = self.ask(path, body)
        assert begun.status_code == 200, begun.text
        return self.ended_of(begun.json()["job"])

    def ended_of(self, job: str) -> tuple[str, dict[str, Any]]:
        """The same of a job that was begun."""
        told = self.get(f"/api/jobs/{job}/events").text
        last = [line for line in told.splitlines() if line.startswith(("event:", "data:"))][-2:]
        return last[0].removeprefix("event: "), json.loads(last[1].removeprefix("data: "))


@pytest.fixture(scope="package")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server keeps runs."""
    return tmp_path_factory.mktemp("kept")


@contextlib.contextmanager
def listening(out: Path, **more: Any) -> Iterator[httpx.Client]:
    """A server of this process, on loopback, and who asks it."""
    app = application(Workspace(out), **more)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", http=Patience))
    at_work = threading.Thread(target=server.run)
    at_work.start()
    try:
        while not server.started:
            assert at_work.is_alive()
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as found:
            yield found
    finally:
        server.should_exit = True
        at_work.join(PATIENCE_S)


@pytest.fixture(scope="package")
def client(out: Path) -> Iterator[httpx.Client]:
    """A server as it answers to anybody of this machine."""
    with listening(out) as found:
        yield found


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[httpx.Client]:
    """A server that asks for a token."""
    with listening(tmp_path, host="192.0.2.1", token=TOKEN) as found:
        yield found


@pytest.fixture
def visitor(client: httpx.Client) -> Visitor:
    """Somebody who was not here before."""
    return Visitor(client)


@pytest.fixture
def another(client: httpx.Client) -> Callable[[], Visitor]:
    """Makes further visitors."""
    return lambda: Visitor(client)


@pytest.fixture(scope="session")
def small() -> bytes:
    """A scenario that takes no time."""
    return SMALL.encode()
